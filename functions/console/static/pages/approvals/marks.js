/** What to look at twice before one approves: in sight, above the content. */
import { html, signal, useEffect, useMemo, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { onSignOut } from "../../core/session.js";
import { unusual } from "../../core/unusual.js";
import { Said } from "../../ui/parts.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {import("../../core/unusual.js").Change} Change */
/** `looked`: of how many tasks of the target.
 * @typedef {{handoffs: HandoffView[], tasks: ListedTask[], looked: number}} Earlier */

/** So many approved ones of a direction are compared, out of so many pages of its target's tasks. */
const COMPARED = 5;
const PAGES = 4;
const KEPT_MS = 60_000;
const MOST_SHOWN = 6;
/** States that a task has only after an approval. */
const APPROVED = ["delegated", "next", "claimed", "waiting", "done", "failed"];

/** Of each direction, for a minute: a person decides on many of one.
 * @type {Map<string, {at: number, found: Promise<Earlier>}>} */
const known = new Map();
/** What of tasks was compared, and is on the screen. */
const compared = signal(/** @type {ReadonlySet<string>} */ (new Set()));
onSignOut(() => {
  known.clear();
  compared.value = new Set();
});

/** @param {Pick<ListedTask, "id" | "digest">} task */
const keyOf = ({ id, digest }) => `${id} ${digest}`;
/** Nobody decides before what is unusual of it is on the screen. @param {ListedTask} task */
export const isCompared = (task) => compared.value.has(keyOf(task));

/** @param {ListedTask} task @returns {Promise<Earlier>} */
function earlierOf(task) {
  const key = JSON.stringify([task.source_agent, task.target_agent]);
  const before = known.get(key);
  if (before && Date.now() - before.at < KEPT_MS) return before.found;
  const found = read(task.source_agent, task.target_agent);
  known.set(key, { at: Date.now(), found });
  found.catch(() => known.delete(key));
  return found;
}

/** @param {string} source @param {string | null} target @returns {Promise<Earlier>} */
async function read(source, target) {
  const asked = new URLSearchParams([["limit", "100"], ...APPROVED.map((state) => ["state", state])]);
  if (target) asked.set("agent", target);
  const isOfIt = (/** @type {ListedTask} */ task) => task.source_agent === source && task.target_agent === target;
  /** @type {ListedTask[]} */
  const tasks = [];
  let looked = 0;
  let cursor = "";
  for (let number = 0; number < PAGES && tasks.length < COMPARED; number += 1) {
    const page = await get(`/tasks?${asked}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    looked += page.items.length;
    tasks.push(...page.items.filter(isOfIt));
    cursor = page.next_cursor;
    if (!cursor) break;
  }
  const some = tasks.slice(0, COMPARED);
  return { tasks: some, looked, handoffs: await Promise.all(some.map((each) => get(`/handoffs/${each.handoff_id}`))) };
}

/** @param {{task: ListedTask, handoff: HandoffView, ids?: string[]}} props */
export function Marks({ task, handoff, ids = [task.id] }) {
  const [earlier, setEarlier] = useState(/** @type {Earlier | {error: unknown} | null} */ (null));
  useEffect(() => {
    let isOver = false;
    earlierOf(task).catch((error) => ({ error })).then((found) => { if (!isOver) setEarlier(found); });
    return () => { isOver = true; };
  }, [`${task.source_agent} ${task.target_agent} ${task.id}`]);
  const before = earlier && ("handoffs" in earlier ? earlier.handoffs : []);
  const found = useMemo(() => before && unusual(handoff, before), [handoff, earlier]);
  useEffect(() => {
    if (!found) return undefined;
    const keys = ids.map((id) => keyOf({ id, digest: task.digest }));
    compared.value = new Set([...compared.value, ...keys]);
    return () => { compared.value = new Set([...compared.value].filter((each) => !keys.includes(each))); };
  }, [found, ids.join(" "), task.digest]);
  if (!found || !earlier) return html`<p class="faint marks" role="status">Comparing it with earlier ones …</p>`;
  const odd = found.changes.filter((change) => change.isOdd);
  const lines = [
    ...linesOf(task, found, earlier),
    ...odd.slice(0, MOST_SHOWN).map((change) => html`<${Changed} of=${change} />`),
    odd.length > MOST_SHOWN && html`and ${odd.length - MOST_SHOWN} more places differ`,
  ].filter(Boolean);
  return html`<aside class="marks" aria-label="Look twice">
    ${lines.length > 0 && html`<ul class="notice">${lines.map((line, at) => html`<li key=${at}>${line}</li>`)}</ul>`}
    ${"error" in earlier ? html`<p class="notice">It can't be compared with earlier ones: they can't be read now.</p>`
    : earlier.tasks.length > 0 && html`<${Usual} count=${earlier.tasks.length}
      of=${found.changes.filter((each) => !each.isOdd)} />`}
  </aside>`;
}

/** What differs from the last one, as it mostly does. @param {{of: Change[], count: number}} props */
function Usual({ of, count }) {
  const some = of.slice(0, MOST_SHOWN);
  const differs = html`From the last one: ${some.map((each, at) => html`${at > 0 && "; "}<${Changed} of=${each} />`)}
    ${of.length > some.length && ` and ${of.length - some.length} more`}. Compared with`;
  const them = count === 1 ? "the one of this direction that was" : `the last ${count} of this direction that were`;
  return html`<p class="faint">${of.length === 0 ? "Else like" : differs} ${them} approved.</p>`;
}

/** @param {{of: Change}} props */
const Changed = ({ of }) => html`<${Said} of=${of.what} />${" "}
  <del><${Said} of=${of.before} /></del> → <ins><${Said} of=${of.now} /></ins>`;

/** @param {ListedTask} task @param {import("../../core/unusual.js").Unusual} found
 * @param {Earlier | {error: unknown}} earlier */
function linesOf(task, { hidden, mixed, blank, first }, earlier) {
  const some = "tasks" in earlier ? earlier.tasks : [];
  const askers = new Set(some.map((each) => each.created_by));
  const target = task.target_agent ? html`<${Said} of=${task.target_agent} />` : "anyone";
  return [
    "tasks" in earlier && some.length === 0 && html`<strong>First of its direction:</strong> nothing from${" "}
      <${Said} of=${task.source_agent} /> to ${target} is among its newest ${earlier.looked} approved tasks`,
    task.revision > 1 && html`<strong>Changed since it came:</strong> this is revision ${task.revision}`,
    some.length > 1 && !askers.has(task.created_by) && html`<strong>Asked by another one:</strong>${" "}
      <${Said} of=${task.created_by} />, before <${Said} of=${[...askers].slice(0, 3).join(", ")} />`,
    hidden.count > 0 && html`<strong>${hidden.count} hidden character${hidden.count > 1 && "s"}:</strong>${" "}
      ${hidden.names.slice(0, 4).join(", ")}`,
    mixed.length > 0 && html`<strong>Letters of two scripts in one word:</strong> <${Said} of=${mixed.join(", ")} />`,
    blank > 0 && html`<strong>It goes on behind blank space</strong> in ${blank} ${blank === 1 ? "place" : "places"}`,
    first.length > 0 && html`<strong>An address that no earlier one has:</strong> <${Said} of=${first.join(", ")} />`,
  ].filter(Boolean);
}
