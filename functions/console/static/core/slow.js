/** Reads that take many units: once, then only after something has happened, and seldom. */
import { useLayoutEffect, useState } from "../lib.js";
import { get, pause, Problem } from "./api.js";
import { looked } from "./bell.js";
import { looksSoFar, nextLook } from "./live.js";

/** What was refused is asked for again by itself: after twice as long each time, up to `everyMs`. */
const FIRST_MS = 1000;

/** @template T @typedef {{path: string | null, data: T | null, problem: Problem | null}} Found */

/** As `useLive`, of what is dear to read: a ring, or without a bell the time, makes it look again after `everyMs` at
 * the earliest. @template [T=any] @param {string} path @param {number} everyMs */
export function useSlow(path, everyMs) {
  const [found, setFound] = useState(/** @type {Found<T>} */ ({ path: null, data: null, problem: null }));
  useLayoutEffect(() => {
    const stop = new AbortController();
    void follow(path, everyMs, stop.signal, (data, problem) => setFound((before) => {
      return { path, data: data ?? (before.path === path ? before.data : null), problem };
    }));
    return () => stop.abort();
  }, [path]);
  const isOurs = found.path === path;
  const [data, problem] = isOurs ? [found.data, found.problem] : [null, null];
  return { data, problem, isLoading: data === null && problem === null };
}

/** @param {string} path @param {number} everyMs @param {AbortSignal} stop
 * @param {(data: any, problem: Problem | null) => void} tell */
async function follow(path, everyMs, stop, tell) {
  let wait = FIRST_MS;
  while (!stop.aborted) {
    const before = looksSoFar();
    try {
      tell(await get(path, stop), null);
      wait = FIRST_MS;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell(null, error);
      wait = Math.min(everyMs, 2 * wait);
      await pause(Math.max(wait, 1000 * (error.retryAfter ?? 0)));
      await looked(stop);
      continue;
    }
    await pause(everyMs);
    await nextLook(before, 0, stop);
  }
}
