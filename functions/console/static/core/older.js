/** The rest of a long list: read on once, page by page, where what is asked can't be answered by its newest items
 * alone. */
import { useEffect, useMemo, useState } from "../lib.js";
import { get, pause, Problem } from "./api.js";
import { withPage } from "./live.js";

/** More than this isn't read to count or to search. */
export const MOST = 10_000;
const AGAIN_MS = 5000;

/** `items`: those of the list, and older ones as they were when they were read. `isWhole`: there are no others.
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
