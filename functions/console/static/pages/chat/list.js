/** Conversations of a person: of their handoffs of the last week, those that a message began or went on with. */
import { useEffect, useState } from "../../lib.js";
import { get, Problem } from "../../core/api.js";
import { useList } from "../../core/live.js";

/** @typedef {import("api").ListedHandoff} ListedHandoff */
const AT_ONCE = 6;
const MOST = 100;

/** Whether a task came of a message: that never changes. @type {Map<string, boolean>} */
const fromMessage = new Map();

/** The last message of each conversation, newest first. @param {string} person such as `human:alice` */
export function useTalks(person) {
  const { data, problem, isLoading } = useList(`/handoffs?source=${encodeURIComponent(person)}`, { everyMs: 10_000, most: MOST });
  const [looked, setLooked] = useState(0);
  const handoffs = /** @type {ListedHandoff[]} */ (data?.items ?? []).filter((each) => each.kind === "transfer");
  const unknown = handoffs.filter((each) => !fromMessage.has(each.task_id)).map((each) => each.task_id);
  useEffect(() => {
    const stop = new AbortController();
    if (unknown.length > 0) void look(unknown, stop.signal).then(() => { if (!stop.signal.aborted) setLooked(looked + 1); });
    return () => stop.abort();
  }, [unknown.join()]);
  const talks = newest(handoffs.filter((each) => fromMessage.get(each.task_id)));
  return { talks, problem, isLoading: isLoading || (talks.length === 0 && unknown.length > 0) };
}

/** @param {ListedHandoff[]} messages @returns {ListedHandoff[]} */
function newest(messages) {
  /** @type {Map<string, ListedHandoff>} */
  const found = new Map();
  for (const each of messages) {
    const other = found.get(each.workflow_id);
    if (!other || other.created_at < each.created_at) found.set(each.workflow_id, each);
  }
  return [...found.values()].sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
}

/** @param {string[]} ids @param {AbortSignal} stop */
async function look(ids, stop) {
  for (let from = 0; from < ids.length && !stop.aborted; from += AT_ONCE) {
    await Promise.all(ids.slice(from, from + AT_ONCE).map(async (id) => {
      try {
        const task = /** @type {import("api").WholeTask} */ (await get(`/tasks/${id}`, stop));
        fromMessage.set(id, task.input !== null);
      } catch (error) {
        if (!stop.aborted && !(error instanceof Problem)) throw error;
      }
    }));
  }
}
