/** The list of what waits for approval: its filters, flat and by urgency or by direction, and what belongs together. */
import { html, memo, useMemo, useRef } from "../../lib.js";
import { useGrowing } from "../../core/deferred.js";
import { dueOf, FILTERS } from "../../core/filters.js";
import { setQuery } from "../../core/router.js";
import { heldFrom, isHeld } from "./held.js";
import { enter } from "./reading.js";
import { gistOfTask, useGists } from "./marks.js";
import { oddOf } from "./sum.js";
import { atTask } from "../questions/list.js";
import { isMine, Tally } from "../questions/mine.js";
import { Gist } from "../questions/rows.js";
import { Choose, MoreFilters } from "../../ui/filters.js";
import { Ago, Empty, Flags, Key, Left, Said, Way } from "../../ui/parts.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("../../core/selection.js").Selection} Selection */
/** @typedef {ReturnType<typeof grouped>[number]} Grouped */

export const VIEWS = [
  { name: "By urgency", query: {} },
  { name: "By direction", query: { group: "direction" } },
  { name: "Waiting longest", query: { sort: "age" } },
];
/** @type {[string, string][]} */
const ORDERS = [
  ["deadline", "deadline"], ["age", "oldest first"], ["-age", "newest first"], ["agent", "agent"], ["by", "who asked"],
  ["label", "label"], ["title", "title"],
];

/** @param {{query: Record<string, string>, tasks: ListedTask[]}} props */
export function Controls({ query, tasks }) {
  return html`<div class="row filter" role="search">
      <input type="search" aria-label="Filter by words" placeholder="Filter" value=${query.q ?? ""}
        onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value })} />
      <span class="filters">
        <${Choose} name="sort" title="Order" value=${query.sort} of=${ORDERS} any="priority, deadline, age" />
      </span>
    </div>
    <${MoreFilters} query=${query} tasks=${tasks} kinds=${["question", "action"]} />`;
}

/** A question has no priority and no label.
 * @param {import("../questions/list.js").Question} of @param {Record<string, string>} query */
export function answers(of, { priority, label, agent, kind, age, by }) {
  if (priority || label || (agent && of.agent !== agent) || (by && of.asked_by !== by)) return false;
  if (kind && kind !== (of.kind === "action" ? "action" : "question")) return false;
  return !age || Date.now() - Date.parse(of.asked_at) >= 1000 * Number(age);
}

/** A key draws two rows anew, however many there are.
 * @param {{order: ListedTask[], groups: Grouped[] | null, at: ListedTask | null, selection: Selection}} props */
export function Queue({ order, groups, at, selection }) {
  const latest = useRef(selection);
  latest.current = selection;
  useGists(order);
  const drawn = new Set(order.slice(0, useGrowing(order.length, at ? order.indexOf(at) + 1 : 0)));
  const rows = (/** @type {ListedTask[]} */ tasks, /** @type {boolean} */ isFlat) =>
    tasks.filter((task) => drawn.has(task)).map((task) => html`<${Item} key=${task.id} of=${task}
      isAt=${task.id === at?.id} isMarked=${selection.has(task.id)} isFlat=${isFlat} isOdd=${oddOf(task).length > 0}
      gist=${gistOfTask(task)} latest=${latest} />`);
  const all = useMemo(() => order.map((task) => task.id), [order]);
  if (groups) {
    return html`${groups.filter((group) => group.tasks.some((task) => drawn.has(task))).map((group) =>
      html`<${Group} key=${group.key} group=${group} selection=${selection} rows=${rows(group.tasks, false)} />`)}`;
  }
  return order.length > 0 && html`<section class="group" aria-label="Handoffs to approve">
    <label class="all">
      <${MarkAll} ids=${all} selection=${selection} />${" "}
      <span class="faint">Mark all ${all.length.toLocaleString()}</span>
    </label>
    <ul>${rows(order, true)}</ul>
  </section>`;
}

/** @param {{ids: string[], selection: Selection, name?: string}} props */
function MarkAll({ ids, selection, name }) {
  return html`<input type="checkbox" checked=${ids.every((id) => selection.has(id))} aria-label=${name}
    onChange=${(/** @type {any} */ event) => selection.set(ids, event.target.checked)} />`;
}

/** @param {{group: Grouped, selection: Selection, rows: unknown[]}} props */
function Group({ group, selection, rows }) {
  const ids = group.tasks.map((task) => task.id);
  return html`<fieldset class="group">
    <legend>
      <label>
        <${MarkAll} ids=${ids} selection=${selection} name=${`Mark all of this group: ${group.reason}`} />
        <${Way} from=${group.from} to=${group.to} />
      </label>${" "}
      <span class="faint">${group.reason} · ${ids.length}</span>
    </legend>
    <ul>${rows}</ul>
  </fieldset>`;
}

const Item = memo((/** @type {{of: ListedTask, isAt: boolean, isMarked: boolean, isFlat: boolean, isOdd: boolean,
 *   gist: ReturnType<typeof gistOfTask>, latest: {current: Selection}}} */
  { of, isAt, isMarked, isFlat, isOdd, gist, latest }) => {
  const mark = (/** @type {MouseEvent} */ event) => {
    if (event.shiftKey) latest.current.range(of.id);
    else latest.current.toggle(of.id);
  };
  const due = dueOf(of);
  return html`<li class=${`item ${isAt ? "at" : ""}`}>
    <input type="checkbox" checked=${isMarked} aria-label=${`Mark ${of.title}`} onClick=${mark} />
    <button type="button" class="open" aria-current=${isAt ? "true" : undefined}
      onClick=${() => (isAt ? enter() : setQuery(atTask(of.id)))}>
      <span class="line">
        <span class=${`priority ${of.priority}`}>${of.priority}</span>${" "}
        <span class="title theirs-line"><${Said} of=${of.title} /></span>${" "}
        <span class="faint"><${Ago} at=${of.created_at} /></span>
      </span>${" "}
      ${gist && gist.length > 0 && html`<span class="line theirs-line"><${Gist} of=${gist} /></span>`}
      <span class="line faint">
        ${isFlat && html`<${Way} from=${of.source_agent} to=${of.target_agent} />
          <span> · ${reasonOf(of)}</span>`}
        ${due && html`<span> · due in <${Left} at=${due} over="0: overdue" /></span>`}
        ${of.approval && html` <${Tally} needed=${of.approval.needed} given=${of.approval.given.length}
          mine=${isMine(of)} />`}
        ${of.labels.map((label) => html` <span key=${label} class="label"><${Said} of=${label} /></span>`)}${" "}
        <${Flags} of=${of.flags} />${isOdd && html` <span class="flag">look twice</span>`}
      </span>
    </button>
  </li>`;
});

export const UNFILTERED = Object.fromEntries(FILTERS.map((name) => [name, null]));

/** @param {{isFiltered: boolean}} props */
export function Nothing({ isFiltered }) {
  if (isFiltered) {
    return html`<${Empty} title="Nothing fits the filter">
      <p><button type="button" onClick=${() => setQuery(UNFILTERED)}>Show all <${Key}>Esc<//></button></p>
    <//>`;
  }
  return html`<${Empty} title="Nothing waits for you">
    <p>What an agent hands to another, and what it asks people, waits here until a person decides. This page shows it
      within seconds.</p>
    <p>To let work through by itself, set an agent's approval to <code>auto</code>; a handoff tool approves one
      route.</p>
  <//>`;
}

/** @type {Record<string, string>} */
const KINDS = {
  escalation: "asks for help", transfer: "passes work on", delegation: "asks for a part", rollback: "gives work back",
  continuation: "suggests what comes next", retry: "tries again",
};

/** Why a task waits for a person. @param {ListedTask} task */
function reasonOf(task) {
  if (isHeld(task)) return `held back from ${heldFrom(task)}`;
  if (task.flags.includes("attempts_exhausted")) return "came back: every attempt was lost";
  if (task.flags.includes("released_too_often")) return "came back: given up too often";
  if (task.deferred_until) return "was deferred until now";
  if (task.attempt > 0) return "came back from a lost worker";
  return KINDS[task.kind] ?? task.kind;
}

/** Groups in the order of their first task: the queue's own order is by urgency.
 * @param {ListedTask[]} tasks */
export function grouped(tasks) {
  /** @type {Map<string, {key: string, from: string, to: string | null, reason: string, tasks: ListedTask[]}>} */
  const groups = new Map();
  for (const task of tasks) {
    const reason = reasonOf(task);
    const key = JSON.stringify([task.source_agent, task.target_agent, reason]);
    const group = groups.get(key) ?? { key, from: task.source_agent, to: task.target_agent, reason, tasks: [] };
    group.tasks.push(task);
    groups.set(key, group);
  }
  return [...groups.values()];
}
