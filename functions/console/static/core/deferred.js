/** What is dear to draw comes a frame late: the key that changed it is answered first. */
import { useEffect, useState } from "../lib.js";

/** Returns the value as it was until the page has been painted once with what is cheap.
 * @template {string | number} T @param {T} value @returns {T} */
export function useDeferred(value) {
  const [drawn, setDrawn] = useState(value);
  useEffect(() => setDrawn(value), [value]); // after the next paint
  return drawn;
}

const STEP = 30; // more than a screen shows

/** How many of a long list are drawn: a screenful with the page, then as many more each time that it was painted.
 * @param {number} count @param {number} least what is drawn at once all the same */
export function useGrowing(count, least) {
  const [drawn, setDrawn] = useState(STEP);
  const now = Math.max(drawn, least);
  useEffect(() => setDrawn(now < count ? now + STEP : Math.min(now, count + STEP)), [now, count]);
  return now;
}

const SIDE_BY_SIDE = 3;
const DELAY_MS = 400;

/** Reads things in the background once the page stands still.
 * @template T @param {string} keys the things' names @param {() => T[]} left the unread things
 * @param {(one: T) => Promise<unknown>} read */
export function useAhead(keys, left, read) {
  useEffect(() => {
    let isOver = false;
    const queue = left();
    const readSome = async () => {
      for (let next = queue.shift(); next && !isOver; next = queue.shift()) await read(next).catch(() => null);
    };
    const timer = setTimeout(() => { for (let at = 0; at < SIDE_BY_SIDE; at += 1) void readSome(); }, DELAY_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [keys]);
}
