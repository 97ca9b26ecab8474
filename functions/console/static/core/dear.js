/** Reads that take many units: what is asked seldom, and the rest of a long list. */
import { useEffect, useLayoutEffect, useMemo, useState } from "../lib.js";
import { get, pause, Problem } from "./api.js";
import { looked } from "./bell.js";
import { looksSoFar, nextLook, withPage } from "./live.js";

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

/** More than this isn't read to count or to search. */
const MOST = 10_000;
const AGAIN_MS = 5000;

/** The rest of a long list, read on once, page by page, where what is asked can't be answered by its newest items.
 * `items`: those of the list, and older ones as they were when they were read. `isWhole`: there are no others.
 * @template T @typedef {{items: T[], isWhole: boolean, isReading: boolean}} Older */

/** @template {{id: string}} T @param {string} path of the list @param {import("./live.js").Items<T> | null} list
 * @param {boolean} isWanted @param {unknown} [when] a change of it is a reason to read the older ones again
 * @returns {Older<T>} */
export function useOlder(path, list, isWanted, when) {
  const [read, setRead] = useState(/** @type {(Older<T> & {path: string}) | null} */ (null));
  const isPart = isWanted && list?.isPart === true;
  const isLong = isWanted && !isPart && Boolean(list?.next);
  useEffect(() => {
    if (!isLong || !list) return undefined;
    const stop = new AbortController();
    void readOn(path, list, stop.signal, (found) => setRead({ path, ...found }));
    return () => stop.abort();
  }, [path, isLong, when]);
  const older = isLong && read?.path === path ? read : null;
  const items = useMemo(() => once([...list?.items ?? [], ...older?.items ?? []]), [list, older]);
  return {
    items,
    isWhole: !list?.next || older?.isWhole === true,
    isReading: isPart || (isLong && (older === null || older.isReading)),
  };
}

/** Begins with what the list has now: what is new meanwhile pushes nothing out.
 * @template T @param {string} path @param {import("./live.js").Items<T>} list @param {AbortSignal} stop
 * @param {(found: Older<T>) => void} tell */
async function readOn(path, list, stop, tell) {
  const items = [...list.items];
  let { next } = list;
  while (next && items.length < MOST && !stop.aborted) {
    try {
      const page = await get(withPage(path, next), stop);
      items.push(...page.items);
      next = page.next_cursor;
      if (!stop.aborted) tell({
        items: [...items], isWhole: next === null, isReading: next !== null && items.length < MOST,
      });
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem) || error.status === 400) throw error;
      await pause(Math.max(AGAIN_MS, 1000 * (error.retryAfter ?? 0)));
    }
  }
}

/** @template {{id: string}} T @param {T[]} items the newest first @returns {T[]} */
function once(items) {
  const seen = new Set();
  return items.filter((item) => !seen.has(item.id) && seen.add(item.id));
}
