/** Decisions and trails as files. */
import { get } from "../../core/api.js";
import { withPage } from "../../core/live.js";
import { saveCsv, saveJson } from "../../core/files.js";

/** @typedef {"csv" | "json"} Form */
/** @typedef {import("api").TrailVerdict} Verdict */

/** A file has up to so many entries. It says so where there are more. */
export const MOST = 10_000;
const DECISION = ["at", "by", "verb", "detail", "reason", "task_id", "review_id", "seq", "title", "source_agent", "target_agent",
  "priority"];
const ENTRY = ["seq", "at", "type", "principal_kind", "principal", "fence", "data", "prev_hash", "hash", "verified"];

/** @param {string} path @param {(count: number) => void} [told] @returns {Promise<{items: any[], isWhole: boolean}>} */
async function whole(path, told = () => {}) {
  const items = [];
  let cursor = /** @type {string | null} */ (null);
  do {
    const page = await get(withPage(path, cursor));
    items.push(...page.items);
    cursor = page.next_cursor;
    told(items.length);
  } while (cursor && items.length < MOST);
  return { items, isWhole: cursor === null };
}

/** @param {string} taskId */
async function trailOf(taskId) {
  const items = /** @type {import("api").EventView[]} */ ([]);
  for (;;) {
    const page = /** @type {import("api").Trail} */ (await get(`/tasks/${taskId}/events?after=${items.length}&limit=100`));
    items.push(...page.events);
    if (page.events.length < 100) return { items, isWhole: true };
    if (items.length >= MOST) return { items, isWhole: false };
  }
}

/** @param {string} path @param {string} name @param {Form} form @param {(count: number) => void} told */
export async function exportDecisions(path, name, form, told) {
  const { items, isWhole } = await whole(path, told);
  const file = `${name}${isWhole ? "" : `-first-${items.length}`}.${form}`;
  if (form === "csv") saveCsv(file, DECISION, items);
  else saveJson(file, { exported_at: new Date().toISOString(), is_whole: isWhole, decisions: items });
  return { count: items.length, isWhole };
}

/** The verification is the API's, of the whole trail; the file's name says it as well.
 * @param {string} taskId @param {Form} form @param {(id: string) => Promise<Verdict>} verify */
export async function exportTrail(taskId, form, verify) {
  const [{ items, isWhole }, verdict] = [await trailOf(taskId), await verify(taskId)];
  const isGood = verdict.intact && verdict.matches_task;
  const state = isGood ? "verified" : verdict.broken_at === null ? "differs" : `broken-at-${verdict.broken_at}`;
  const file = `trail-${taskId}-${state}${isWhole ? "" : `-first-${items.length}`}.${form}`;
  if (form === "json") {
    const told = { exported_at: new Date().toISOString(), task_id: taskId, is_whole: isWhole, verification: verdict };
    saveJson(file, { ...told, events: items });
    return file;
  }
  const isFine = (/** @type {number} */ seq) => verdict.broken_at === null || seq < verdict.broken_at;
  saveCsv(file, ENTRY, items.map((event) => ({
    ...event, principal_kind: event.principal.kind, principal: event.principal.id, verified: isFine(event.seq),
  })));
  return file;
}
