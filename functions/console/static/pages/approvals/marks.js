/** The warnings about a handoff, above its content, and the kinds of warnings of each that was compared. */
import { html, signal, useEffect, useMemo, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { useAhead } from "../../core/deferred.js";
import { onSignOut } from "../../core/session.js";
import { report } from "../../core/warnings.js";
import { finding } from "../../core/warnings/places.js";
import { gistOf } from "../../core/warnings.js";
import { confusableAgents } from "../../core/warnings/inspection.js";
import { Warnings } from "../../ui/warnings.js";
import { earlierOf, keyOf } from "./earlier.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {import("./earlier.js").Earlier} Earlier */
/** @typedef {import("../../core/warnings.js").Report} Report */

/** What of tasks was compared, and is on the screen. */
const compared = signal(/** @type {ReadonlySet<string>} */ (new Set()));
/** Kinds of warnings of each task that was compared since the person signed in, by its content. */
export const found = signal(/** @type {ReadonlyMap<string, string[]>} */ (new Map()));
/** Amount and target of each task with a handoff that was read, by its content.
 * @type {import("../../vendor/signals.js").Signal<ReadonlyMap<string, ReturnType<typeof gistOf>>>} */
const gists = signal(new Map());
/** The number of handoffs that are read without a click: a list has no variables. */
const MOST_READ = 20;
onSignOut(() => {
  gists.value = new Map();
  compared.value = new Set();
  found.value = new Map();
});

export { keyOf } from "./earlier.js";
/** No decision is possible before the warnings are on the screen. @param {ListedTask} task */
export const isCompared = (task) => compared.value.has(keyOf(task));

/** So many are compared by one press, so many of them at once. */
export const COMPARED_AT_ONCE = 100;
const SIDE_BY_SIDE = 4;

/** Compares unopened tasks. @param {ListedTask[]} tasks @param {() => boolean} isOver */
export async function compareAll(tasks, isOver) {
  const left = tasks.filter((task) => !found.value.has(keyOf(task))).slice(0, COMPARED_AT_ONCE);
  const compareSome = async () => {
    for (let task = left.shift(); task && !isOver(); task = left.shift()) {
      const [handoff, earlier] = await Promise.all([get(`/handoffs/${task.handoff_id}`), earlierOf(task)]);
      if (handoff.digest === task.digest) remember([keyOf(task)], handoff, reportOf(task, handoff, earlier));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, compareSome));
}

/** @param {ListedTask} task */
export const gistOfTask = (task) => gists.value.get(keyOf(task));

/** Reads the first handoffs, once each. @param {ListedTask[]} tasks */
export function useGists(tasks) {
  const first = tasks.slice(0, MOST_READ);
  useAhead(first.map(keyOf).join(" "), () => first.filter((task) => !gistOfTask(task)), async (task) => {
    const handoff = await get(`/handoffs/${task.handoff_id}`);
    if (handoff.digest === task.digest) rememberGist([keyOf(task)], handoff);
  });
}

/** @param {string[]} keys @param {HandoffView} handoff */
function rememberGist(keys, handoff) {
  const gist = gistOf(handoff.context?.variables, false);
  gists.value = new Map([...gists.value, ...keys.map((key) => /** @type {const} */ ([key, gist]))]);
}

/** @param {string[]} keys @param {HandoffView} handoff @param {Report} of */
function remember(keys, handoff, of) {
  rememberGist(keys, handoff);
  const kinds = [...new Set(of.warnings.map(({ kind }) => kind))];
  found.value = new Map([...found.value, ...keys.map((key) => /** @type {const} */ ([key, kinds]))]);
}

/** @param {ListedTask} task @param {HandoffView} handoff @param {Earlier | null} earlier null: it can't be read
 * @returns {Report} */
function reportOf(task, handoff, earlier) {
  const of = report(handoff, earlier?.handoffs ?? []);
  const askers = [...new Set(earlier?.tasks.map((each) => each.created_by))];
  const isNew = (earlier?.tasks.length ?? 0) > 1 && !askers.includes(task.created_by);
  const ofTask = [
    ...(task.revision > 1 ? [finding("revised", "", String(task.revision))] : []),
    ...(isNew ? [finding("asker", "", task.created_by, askers.slice(0, 3).join(", "))] : []),
  ];
  const warnings = of.warnings.filter(({ kind }) => earlier || kind !== "first");
  return { ...of, warnings: [...confusableAgents(task, earlier?.agents ?? []), ...warnings, ...ofTask] };
}

/** @param {{task: ListedTask, handoff: HandoffView, ids?: string[]}} props */
export function Marks({ task, handoff, ids = [task.id] }) {
  const [earlier, setEarlier] = useState(/** @type {Earlier | {error: unknown} | null} */ (null));
  useEffect(() => {
    let isOver = false;
    earlierOf(task).catch((error) => ({ error })).then((read) => { if (!isOver) setEarlier(read); });
    return () => { isOver = true; };
  }, [`${task.source_agent} ${task.target_agent} ${task.id}`]);
  const known = earlier && "tasks" in earlier ? earlier : null;
  const of = useMemo(() => earlier && reportOf(task, handoff, known), [handoff, earlier]);
  useEffect(() => {
    if (!of) return undefined;
    const keys = ids.map((id) => keyOf({ id, digest: task.digest }));
    compared.value = new Set([...compared.value, ...keys]);
    if (known) remember(keys, handoff, of);
    return () => { compared.value = new Set([...compared.value].filter((each) => !keys.includes(each))); };
  }, [of, ids.join(" "), task.digest]);
  if (!of) return html`<p class="faint marks" role="status">Comparing with earlier handoffs …</p>`;
  const first = `First handoff from ${task.source_agent} to ${task.target_agent ?? "anyone"}: nothing to compare with`;
  return html`<aside class="marks" aria-label="Look twice">
    <${Warnings} of=${of} first=${first} />
    ${!known && html`<p class="notice">It isn't compared: the earlier handoffs can't be read now.</p>`}
  </aside>`;
}
