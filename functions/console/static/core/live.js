/** Reads that stay true: again every two seconds while the page is looked at, more seldom while nothing answers. */
import { useEffect, useMemo, useRef, useState, signal } from "../lib.js";
import { get, pause, Problem, read, readAnew } from "./api.js";

export const EVERY_MS = 2000;
const SLOWEST_MS = 30_000;

/** `next`: where the list goes on after its items; null for its end. @template T @typedef {{items: T[], more: boolean, next: string | null}} Items */
/** @template T @typedef {{data: T | null, problem: Problem | null, isLoading: boolean, refresh: () => void}} Live */

/** Raised by every change that this page made or heard of: lists look again at once, at what is there now. */
const changes = signal(0);
export const lookAgain = () => {
  readAnew();
  changes.value += 1;
};

/** `when`: a change of it is a reason to look again at once, at what is there now. @typedef {{everyMs?: number, when?: unknown}} How */

/** The answer of a read, kept up to date. `path` null: nothing is asked.
 * @template [T=any] @param {string | null} path @param {How} [how] @returns {Live<T>} */
export function useLive(path, how = {}) {
  return useLoop(path, path === null ? null : (stop) => read(path, stop).then((answer) => answer.body), how);
}

/** All pages of a list as one, up to `most` items. The first page is asked for each time; the others when it has
 * changed, and each tenth time.
 * @template [T=any] @param {string | null} path without `limit` and `cursor` @param {How & {most?: number}} [how]
 * @returns {Live<Items<T>>} */
export function useList(path, how = {}) {
  const most = how.most ?? 1000;
  const turn = useRef(newTurn(path));
  if (turn.current.path !== path) turn.current = newTurn(path);
  const load = useMemo(() => (path === null ? null : async (/** @type {AbortSignal} */ stop) => {
    const before = turn.current;
    const first = await read(withPage(path, null), stop);
    const number = before.number++;
    if (before.list && !first.fresh && (number % 10 !== 0 || !first.body.next_cursor)) return before.list;
    const { rest, next } = await theRest(path, first.body.next_cursor, most - first.body.items.length, stop);
    before.list = { items: [...first.body.items, ...rest], more: next !== null, next };
    return before.list;
  }), [path, most]);
  return useLoop(path, load, how);
}

/** @param {string | null} path @returns {{path: string | null, number: number, list: Items<any> | null}} */
const newTurn = (path) => ({ path, number: 0, list: null });

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
 * @param {((stop: AbortSignal) => Promise<T>) | null} load @param {How} how @returns {Live<T>} */
function useLoop(name, load, how) {
  const [state, setState] = useState(/** @type {{name: string | null, data: T | null, problem: Problem | null}} */ ({ name, data: null, problem: null }));
  const wake = useRef({ count: 0, tell: () => {} });
  const round = changes.value;
  const when = useRef(how.when);
  useEffect(() => {
    if (when.current !== how.when) readAnew();
    when.current = how.when;
    stir(wake.current);
  }, [round, how.when]);
  useEffect(() => {
    if (load === null) return undefined;
    const stop = new AbortController();
    void loop(load, stop.signal, how.everyMs ?? EVERY_MS, wake.current, (data, problem) => {
      setState((before) => {
        const kept = before.name === name ? before.data : null;
        // No network with something to show is told by the frame, once for all.
        if (problem) return { name, data: problem.status === 404 ? null : kept, problem: problem.status === 0 && kept !== null ? null : problem };
        return before.name === name && before.data === data && !before.problem ? before : { name, data, problem: null };
      });
    });
    return () => stop.abort();
  }, [name]);
  const isOurs = state.name === name;
  const data = isOurs ? state.data : null;
  const problem = isOurs ? state.problem : null;
  return { data, problem, isLoading: load !== null && data === null && problem === null, refresh: () => stir(wake.current) };
}

/** Counts the reasons to look again, as one may come while the answer is under way. @typedef {{count: number, tell: () => void}} Wake */

/** @param {Wake} wake */
function stir(wake) {
  wake.count += 1;
  wake.tell();
}

/** @template T @param {(stop: AbortSignal) => Promise<T>} load @param {AbortSignal} stop @param {number} everyMs
 * @param {Wake} wake @param {(data: T | null, problem: Problem | null) => void} tell */
async function loop(load, stop, everyMs, wake, tell) {
  let wait = everyMs;
  while (!stop.aborted) {
    const count = wake.count;
    try {
      tell(await load(stop), null);
      wait = everyMs;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell(null, error);
      wait = Math.min(SLOWEST_MS, Math.max(2 * wait, 1000 * (error.retryAfter ?? 0)));
    }
    if (count !== wake.count && wait === everyMs) continue;
    await Promise.race([pause(wait), new Promise((/** @type {(_: void) => void} */ done) => { wake.tell = done; }), mended(wait > everyMs)]);
    await looked(stop);
  }
}

/** Until the network is back, where that is what a read waits for. @param {boolean} isAway @returns {Promise<void>} */
function mended(isAway) {
  if (!isAway) return new Promise(() => {});
  return new Promise((done) => {
    addEventListener("online", () => done(), { once: true });
  });
}

/** Until the page is looked at. @param {AbortSignal} stop @returns {Promise<void>} */
function looked(stop) {
  if (document.visibilityState === "visible" || stop.aborted) return Promise.resolve();
  return new Promise((done) => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    stop.addEventListener("abort", () => done(), { once: true });
  });
}
