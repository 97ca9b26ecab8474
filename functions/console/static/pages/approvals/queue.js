/** The list of what waits for approval: flat and by urgency, or by direction. */
import { html, useMemo, useRef, useState } from "../../lib.js";
import { dueOf, FILTERS } from "../../core/filters.js";
import { setQuery } from "../../core/router.js";
import { Choose, FilterFields } from "../../ui/filters.js";
import { Ago, Flags, Left, Said, Way } from "../../ui/parts.js";
import { atTask } from "../questions/desk.js";
import { reasonOf } from "./groups.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("../../core/selection.js").Selection} Selection */
/** @typedef {ReturnType<typeof import("./groups.js").grouped>[number]} Grouped */

export const VIEWS = [
  { name: "By urgency", query: {} },
  { name: "By direction", query: { group: "direction" } },
  { name: "Waiting longest", query: { sort: "age" } },
];
/** @type {[string, string][]} */
const ORDERS = [["deadline", "deadline"], ["age", "oldest first"], ["-age", "newest first"], ["agent", "agent"], ["by", "who asked"],
  ["label", "label"], ["title", "title"]];

/** @param {{query: Record<string, string>, tasks: ListedTask[]}} props */
export function Controls({ query, tasks }) {
  const count = FILTERS.filter((name) => name !== "q" && query[name]).length;
  const [isOpen, setOpen] = useState(count > 0);
  return html`<div class="row filter" role="search">
      <input type="search" aria-label="Filter by words" placeholder="Filter" value=${query.q ?? ""}
        onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value })} />
      <span class="filters"><${Choose} name="sort" title="Order" value=${query.sort} of=${ORDERS} any="priority, deadline, age" /></span></div>
    <details class="more-filters" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}><summary>Filters${count > 0 ? ` (${count})` : ""}</summary>
      <div class="filters"><${FilterFields} query=${query} tasks=${tasks} kinds=${["question", "action"]} /></div></details>`;
}

/** One element for each task, the same as long as nothing of it changes: a key redraws two rows, however many there are.
 * @param {{order: ListedTask[], groups: Grouped[] | null, at: ListedTask | null, selection: Selection}} props */
export function Queue({ order, groups, at, selection }) {
  const latest = useRef(selection);
  latest.current = selection;
  const drawn = useRef(/** @type {Map<string, {task: ListedTask, how: string, element: unknown}>} */ (new Map()));
  const rows = (/** @type {ListedTask[]} */ tasks, /** @type {boolean} */ isFlat) => tasks.map((task) => {
    const [isAt, isMarked] = [task.id === at?.id, selection.has(task.id)];
    const [known, how] = [drawn.current.get(task.id), `${isAt} ${isMarked} ${isFlat}`];
    if (known?.task === task && known.how === how) return known.element;
    const element = html`<${Item} key=${task.id} task=${task} isAt=${isAt} isMarked=${isMarked} isFlat=${isFlat} latest=${latest} />`;
    drawn.current.set(task.id, { task, how, element });
    return element;
  });
  const all = useMemo(() => order.map((task) => task.id), [order]);
  if (groups) return html`${groups.map((group) => html`<${Group} key=${group.key} group=${group} selection=${selection} rows=${rows(group.tasks, false)} />`)}`;
  return order.length > 0 && html`<section class="group" aria-label="Handoffs to approve">
    <label class="all"><input type="checkbox" checked=${all.every((id) => selection.has(id))}
      onChange=${(/** @type {any} */ event) => selection.set(all, event.target.checked)} /> <span class="faint">Mark all ${all.length}</span></label>
    <ul>${rows(order, true)}</ul></section>`;
}

/** @param {{group: Grouped, selection: Selection, rows: unknown[]}} props */
function Group({ group, selection, rows }) {
  const ids = group.tasks.map((task) => task.id);
  return html`<fieldset class="group">
    <legend><label><input type="checkbox" checked=${ids.every((id) => selection.has(id))}
        onChange=${(/** @type {any} */ event) => selection.set(ids, event.target.checked)} aria-label=${`Mark all of this group: ${group.reason}`} />
      <${Way} from=${group.from} to=${group.to} /></label> <span class="faint">${group.reason} · ${ids.length}</span></legend>
    <ul>${rows}</ul>
  </fieldset>`;
}

/** @param {{task: ListedTask, isAt: boolean, isMarked: boolean, isFlat: boolean, latest: {current: Selection}}} props */
function Item({ task, isAt, isMarked, isFlat, latest }) {
  const mark = (/** @type {MouseEvent} */ event) => {
    if (event.shiftKey) latest.current.range(task.id);
    else latest.current.toggle(task.id);
  };
  const due = dueOf(task);
  return html`<li class=${`item ${isAt ? "at" : ""}`}>
    <input type="checkbox" checked=${isMarked} aria-label=${`Mark ${task.title}`} onClick=${mark} />
    <button type="button" class="open" aria-current=${isAt ? "true" : undefined} onClick=${() => setQuery(atTask(task.id))}>
      <span class="line"><span class=${`priority ${task.priority}`}>${task.priority}</span>${" "}
        <span class="title"><${Said} of=${task.title} /></span>${" "}<span class="faint"><${Ago} at=${task.created_at} /></span></span>${" "}
      <span class="line faint">${isFlat && html`<${Way} from=${task.source_agent} to=${task.target_agent} /><span> · ${reasonOf(task)}</span>`}
        ${due && html`<span> · due in <${Left} at=${due} over="0: it is over" /></span>`}
        ${task.labels.map((label) => html` <span key=${label} class="label"><${Said} of=${label} /></span>`)}${" "}<${Flags} of=${task.flags} /></span></button></li>`;
}
