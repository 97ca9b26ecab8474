/** The last approved handoffs of a pair of agents, to compare a waiting one with. */
import { get } from "../../core/api.js";
import { onSignOut } from "../../core/session.js";
import { MOST_EARLIER } from "../../core/warnings.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** `looked`: how many tasks of the target were read. `agents`: the slugs of the workspace's agents.
 * @typedef {{handoffs: HandoffView[], tasks: ListedTask[], looked: number, agents: string[]}} Earlier */

const PAGES = 4;
const KEPT_MS = 60_000;
const SIDE_BY_SIDE = 6;
const MOST_KEPT = 400;
/** States that a task has only after an approval. */
const APPROVED = ["delegated", "next", "claimed", "waiting", "done", "failed"];

/** Of each pair, for a minute: a person decides on many of one. @type {Map<string, {at: number,
 * found: Promise<Earlier>}>} */
const known = new Map();
/** Approved handoffs by their digest, which stay as they are. @type {Map<string, HandoffView>} */
const read = new Map();
onSignOut(() => {
  known.clear();
  read.clear();
});

/** @param {ListedTask} task @returns {Promise<Earlier>} */
export function earlierOf(task) {
  const key = JSON.stringify([task.source_agent, task.target_agent]);
  const before = known.get(key);
  if (before && Date.now() - before.at < KEPT_MS) return before.found;
  const found = earlierOfPair(task.source_agent, task.target_agent);
  known.set(key, { at: Date.now(), found });
  found.catch(() => known.delete(key));
  return found;
}

/** @param {string} source @param {string | null} target @returns {Promise<Earlier>} */
async function earlierOfPair(source, target) {
  const asked = new URLSearchParams([["limit", "100"], ...APPROVED.map((state) => ["state", state])]);
  if (target) asked.set("agent", target);
  const isOfPair = (/** @type {ListedTask} */ task) => task.source_agent === source && task.target_agent === target;
  /** @type {ListedTask[]} */
  const tasks = [];
  let looked = 0;
  let cursor = "";
  for (let number = 0; number < PAGES && tasks.length < MOST_EARLIER; number += 1) {
    const page = await get(`/tasks?${asked}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    looked += page.items.length;
    tasks.push(...page.items.filter(isOfPair));
    cursor = page.next_cursor;
    if (!cursor) break;
  }
  const some = tasks.slice(0, MOST_EARLIER);
  const [handoffs, { items: agents }] = await Promise.all([handoffsOf(some), get("/agents?limit=100")]);
  return { tasks: some, looked, handoffs, agents: agents.map((/** @type {{slug: string}} */ each) => each.slug) };
}

/** @param {ListedTask[]} tasks @returns {Promise<HandoffView[]>} */
async function handoffsOf(tasks) {
  const left = [...tasks];
  /** @type {Map<string, HandoffView>} */
  const found = new Map();
  const readSome = async () => {
    for (let task = left.shift(); task; task = left.shift()) {
      const key = keyOf(task);
      found.set(key, read.get(key) ?? await get(`/handoffs/${task.handoff_id}`));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, readSome));
  for (const [key, handoff] of found) read.set(key, handoff);
  for (const oldest of [...read.keys()].slice(0, Math.max(0, read.size - MOST_KEPT))) read.delete(oldest);
  return tasks.flatMap((task) => found.get(keyOf(task)) ?? []);
}

/** @param {Pick<ListedTask, "id" | "digest">} task */
export const keyOf = ({ id, digest }) => `${id} ${digest}`;
