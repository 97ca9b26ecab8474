/** Reads that stay true: again when the bell rings, or every two seconds while it isn't heard; while the page is looked
 * at, and more seldom while nothing answers. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState, signal } from "../lib.js";
import { get, pause, read, readAnew } from "./api.js";
import { isHeard, looked } from "./bell.js";
import { loop, stir } from "./loop.js";

export const EVERY_MS = 2000;

/** @typedef {import("./api.js").Problem} Problem */
/** `next`: where the list goes on after its items; null for its end. `isPart`: the rest is being read.
 * @template T @typedef {{items: T[], more: boolean, next: string | null, isPart?: boolean}} Items */
/** @template T @typedef {{data: T | null, problem: Problem | null, isLoading: boolean, refresh: () => void}} Live */

/** Raised by each look: all that is shown is read as it is now. */
const looks = signal(0);
/** Looks that follow, and what waits for the next one. After the last of them nothing has rung for a while. */
let due = 0;
let timer = 0;

/** @param {number} following */
function look(following) {
  due = following;
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = 0;
    if (due > 0 && isHeard.value) look(due - 1);
  }, EVERY_MS);
  readAnew();
  looks.value += 1;
}

/** This page has changed something: it looks again at once, and with a bell once more a little later, as indexes
 * lag. */
export const lookAgain = () => look(1);

/** Something may have changed: it looks again, but no more often than without a bell, however often it rings.
 * @param {number} [following] looks: for what an index is late with, and what a ring says is due within the second */
export function rung(following = 1) {
  if (timer !== 0 && isHeard.value) due = Math.max(due, following + 1);
  else look(following);
}

/** `when`: a change of it is a reason to look again at once, at what is there now. `isUntold`: whether
 * what was read changes without a ring, so that it is asked for again with a bell as well. `isFirst`: always or never;
 * what the page begins with is asked for before anything is painted, and so before what its parts ask.
 * @typedef {{everyMs?: number, when?: unknown, isUntold?: (data: any) => boolean, isFirst?: boolean}} How */

/** The answer of a read, kept up to date. `path` null: nothing is asked.
 * @template [T=any] @param {string | null} path @param {How} [how] @returns {Live<T>} */
export function useLive(path, how = {}) {
  return useLoop(path, path === null ? null : (stop) => read(path, stop).then((answer) => answer.body), how);
}

/** All pages of a list as one, up to `most` items. The first page is asked for each time, and is there before the
 * others when nothing was; they are asked for when it has changed, each tenth time, and once it rings no longer.
 * @template [T=any] @param {string | null} path without `limit` and `cursor` @param {How & {most?: number}} [how]
 * @returns {Live<Items<T>>} */
export function useList(path, how = {}) {
  const most = how.most ?? 1000;
  const load = useMemo(() => (path === null ? null : readerOf(path, most)), [path, most]);
  return useLoop(path, load, how);
}

/** Reads a list, and each time only the part that may have changed. @param {string} path @param {number} most items
 * @returns {(stop: AbortSignal, show?: (list: Items<any>) => void) => Promise<Items<any>>} `show`: of a part */
export function readerOf(path, most) {
  /** @type {{number: number, first: unknown, list: Items<any> | null}} */
  const before = { number: 0, first: null, list: null };
  return async (stop, show = () => {}) => {
    const isLast = isHeard.value && due === 0;
    const first = await read(withPage(path, null), stop);
    const number = before.number++;
    // Not whether the answer is fresh: another part of the page may have asked for the same, and got the change first.
    if (before.list && before.first === first.body
      && ((number % 10 !== 0 && !isLast) || !first.body.next_cursor)) return before.list;
    const { items, next_cursor: after } = first.body;
    if (!before.list && after && items.length > 0) show({ items, more: true, next: after, isPart: true });
    const { rest, next } = await theRest(path, after, most - items.length, stop);
    before.first = first.body;
    before.list = { items: [...items, ...rest], more: next !== null, next };
    return before.list;
  };
}

/** @param {string} path @param {string | null} cursor @param {number} most @param {AbortSignal} stop */
async function theRest(path, cursor, most, stop) {
  const rest = [];
  let next = cursor;
  while (next && rest.length < most) {
    const page = await get(withPage(path, next), stop);
    rest.push(...page.items);
    next = page.next_cursor;
  }
  return { rest, next };
}

/** @param {string} path @param {string | null} cursor */
export function withPage(path, cursor) {
  const mark = path.includes("?") ? "&" : "?";
  return `${path}${mark}limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`;
}

/** @template T @param {string | null} name what is read: another one starts anew
 * @param {((stop: AbortSignal, show: (data: T) => void) => Promise<T>) | null} load `show`: of a part
 * @param {How} how @returns {Live<T>} */
function useLoop(name, load, how) {
  const [state, setState] = useState(
    /** @type {{name: string | null, data: T | null, problem: Problem | null}} */
    ({ name, data: null, problem: null }));
  const wake = useRef({ count: 0, tell: () => {} });
  const round = looks.value;
  const when = useRef(how.when);
  const isUntold = useRef(how.isUntold);
  isUntold.current = how.isUntold;
  const useStart = how.isFirst ? useLayoutEffect : useEffect;
  useStart(() => {
    if (when.current !== how.when) readAnew();
    when.current = how.when;
    stir(wake.current);
  }, [round, how.when]);
  useStart(() => {
    if (load === null) return undefined;
    const stop = new AbortController();
    void loop(load, stop.signal, how.everyMs ?? EVERY_MS, wake.current, (data) => isUntold.current?.(data) === true,
      (data, problem) => {
        setState((before) => {
          const kept = before.name === name ? before.data : null;
          // No network with something to show is told by the frame, once for all.
          if (problem) return {
            name,
            data: problem.status === 404 ? null : kept,
            problem: problem.status === 0 && kept !== null ? null : problem,
          };
          return before.name === name && before.data === data && !before.problem ? before
            : { name, data, problem: null };
        });
      });
    return () => stop.abort();
  }, [name]);
  const isOurs = state.name === name;
  const data = isOurs ? state.data : null;
  const problem = isOurs ? state.problem : null;
  return {
    data, problem, isLoading: load !== null && data === null && problem === null, refresh: () => stir(wake.current),
  };
}

/** How often the page has looked so far: for `nextLook`, known before what it waits with is read. */
export const looksSoFar = () => looks.peek();

/** Until what grows is read on: at the page's next look, or without a bell after a while; and until the page is looked
 * at. @param {number} before looks @param {number} milliseconds @param {AbortSignal} stop
 * @param {boolean} [isForAll] also of a page that nobody sees, while it hears the bell */
export async function nextLook(before, milliseconds, stop, isForAll = false) {
  let end = () => {};
  await (isHeard.value ? new Promise((/** @type {(_: void) => void} */ done) => {
    const over = () => done();
    const leave = looks.subscribe((count) => { if (count !== before) done(); });
    stop.addEventListener("abort", over, { once: true });
    end = () => { leave(); stop.removeEventListener("abort", over); };
  }) : pause(milliseconds));
  end();
  if (!isForAll || !isHeard.value) await looked(stop);
}
