/** Reads that take many units: once, then only after something has happened, and seldom. */
import { useEffect, useState } from "../lib.js";
import { get, pause, Problem } from "./api.js";
import { looksSoFar, nextLook } from "./live.js";

/** @template T @typedef {{path: string | null, data: T | null, problem: Problem | null}} Found */

/** As `useLive`, of what is dear to read: a ring, or without a bell the time, makes it look again after `everyMs` at the
 * earliest. @template [T=any] @param {string} path @param {number} everyMs */
export function useSlow(path, everyMs) {
  const [found, setFound] = useState(/** @type {Found<T>} */ ({ path: null, data: null, problem: null }));
  useEffect(() => {
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
  while (!stop.aborted) {
    const before = looksSoFar();
    try {
      tell(await get(path, stop), null);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell(null, error);
    }
    await pause(everyMs);
    await nextLook(before, 0, stop);
  }
}
