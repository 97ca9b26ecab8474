/** What to look at twice before one approves: in sight, above the content. */
import { html, signal, useEffect, useMemo, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { onSignOut } from "../../core/session.js";
import { amountOf, unusual } from "../../core/unusual.js";
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
/** What was found of each that was compared since one signed in, by its content: kinds of `sum.js`. */
export const found = signal(/** @type {ReadonlyMap<string, string[]>} */ (new Map()));
onSignOut(() => {
  known.clear();
  compared.value = new Set();
  found.value = new Map();
});

/** @param {Pick<ListedTask, "id" | "digest">} task */
export const keyOf = ({ id, digest }) => `${id} ${digest}`;
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

/** So many are compared by one press, so many of them at once. */
export const COMPARED_AT_ONCE = 100;
const SIDE_BY_SIDE = 4;

/** Compares tasks that nobody has opened, so that it is known which to look at twice.
 * @param {ListedTask[]} tasks @param {() => boolean} isOver */
export async function compareAll(tasks, isOver) {
  const left = tasks.filter((task) => !found.value.has(keyOf(task))).slice(0, COMPARED_AT_ONCE);
  const compareSome = async () => {
    for (let task = left.shift(); task && !isOver(); task = left.shift()) {
      const [handoff, earlier] = await Promise.all([get(`/handoffs/${task.handoff_id}`), earlierOf(task)]);
      if (handoff.digest === task.digest) remember([keyOf(task)], kindsOf(task, handoff, earlier));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, compareSome));
}

/** @param {string[]} keys @param {string[]} kinds */
function remember(keys, kinds) {
  found.value = new Map([...found.value, ...keys.map((key) => /** @type {const} */ ([key, kinds]))]);
}

/** @param {ListedTask} task @param {HandoffView} handoff @param {Earlier} earlier */
const kindsOf = (task, handoff, earlier) => kindsIn(task, unusual(handoff, earlier.handoffs), earlier);

/** @param {ListedTask} task @param {import("../../core/unusual.js").Unusual} marks @param {Earlier} earlier */
function kindsIn(task, marks, earlier) {
  const isAmount = (/** @type {Change} */ { before, now }) => amountOf(before) !== null && amountOf(now) !== null;
  const odd = marks.changes.filter((change) => change.isOdd).map((change) => (isAmount(change) ? "amount" : "value"));
  return [...new Set([...odd, ...linesOf(task, marks, earlier).map(([kind]) => kind)])];
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
  const marks = useMemo(() => before && unusual(handoff, before), [handoff, earlier]);
  useEffect(() => {
    if (!marks || !earlier) return undefined;
    const keys = ids.map((id) => keyOf({ id, digest: task.digest }));
    compared.value = new Set([...compared.value, ...keys]);
    if ("tasks" in earlier) remember(keys, kindsIn(task, marks, earlier));
    return () => { compared.value = new Set([...compared.value].filter((each) => !keys.includes(each))); };
  }, [marks, ids.join(" "), task.digest]);
  if (!marks || !earlier) return html`<p class="faint marks" role="status">Comparing it with earlier ones …</p>`;
  const odd = marks.changes.filter((change) => change.isOdd);
  const lines = [
    ...linesOf(task, marks, earlier).map(([, line]) => line),
    ...odd.slice(0, MOST_SHOWN).map((change) => html`<${Changed} of=${change} />`),
    odd.length > MOST_SHOWN && html`and ${odd.length - MOST_SHOWN} more places differ`,
  ].filter(Boolean);
  return html`<aside class="marks" aria-label="Look twice">
    ${lines.length > 0 && html`<ul class="notice">${lines.map((line, at) => html`<li key=${at}>${line}</li>`)}</ul>`}
    ${"error" in earlier
      ? html`<p class="notice">It can't be compared with earlier ones: they can't be read now.</p>`
      : earlier.tasks.length > 0
        && html`<${Usual} count=${earlier.tasks.length} of=${marks.changes.filter((each) => !each.isOdd)} />`}
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

/** Each with its kind. @param {ListedTask} task @param {import("../../core/unusual.js").Unusual} marks
 * @param {Earlier | {error: unknown}} earlier */
function linesOf(task, { hidden, mixed, blank, first }, earlier) {
  const some = "tasks" in earlier ? earlier.tasks : [];
  const askers = new Set(some.map((each) => each.created_by));
  const target = task.target_agent ? html`<${Said} of=${task.target_agent} />` : "anyone";
  return /** @type {[string, any][]} */ ([
    ["first", "tasks" in earlier && some.length === 0
      && html`<strong>First of its direction:</strong> nothing from${" "}
        <${Said} of=${task.source_agent} /> to ${target} is among its newest ${earlier.looked} approved tasks`],
    ["revised", task.revision > 1 && html`<strong>Changed since it came:</strong> this is revision ${task.revision}`],
    ["asker", some.length > 1 && !askers.has(task.created_by) && html`<strong>Asked by another one:</strong>${" "}
      <${Said} of=${task.created_by} />, before <${Said} of=${[...askers].slice(0, 3).join(", ")} />`],
    ["hidden", hidden.count > 0
      && html`<strong>${hidden.count} hidden character${hidden.count > 1 && "s"}:</strong>${" "}
      ${hidden.names.slice(0, 4).join(", ")}`],
    ["scripts", mixed.length > 0
      && html`<strong>Letters of two scripts in one word:</strong> <${Said} of=${mixed.join(", ")} />`],
    ["hidden", blank > 0
      && html`<strong>It goes on behind blank space</strong> in ${blank} ${blank === 1 ? "place" : "places"}`],
    ["address", first.length > 0
      && html`<strong>An address that no earlier one has:</strong> <${Said} of=${first.join(", ")} />`],
  ]).filter(([, line]) => line);
}
