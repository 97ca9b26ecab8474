/** Tasks of a day or of an agent, with views that are one click away. */
import { html, useMemo, useState } from "../lib.js";
import { useList, useLive } from "../core/live.js";
import { useOlder } from "../core/older.js";
import { address, setQuery } from "../core/router.js";
import { STATES, stateWord } from "../core/states.js";
import { ask } from "../ui/ask.js";
import { Ago, Empty, Flags, Loading, Said, State, Trouble, Views, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { drop, keep, saved, VIEWS } from "./tasks/views.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("../ui/table.js").Column<ListedTask>} Column */

/** @type {Column[]} */
const COLUMNS = [
  { name: "title", title: "Task", class: "fill", cell: (task) => html`<${Said} of=${task.title || task.id} />`, after: (task) => html`<${Flags} of=${task.flags} />` },
  { name: "state", title: "State", class: "state-cell", cell: (task) => html`<${State} of=${task.state} />` },
  { name: "way", title: "From → to", class: "way-cell wide", cell: (task) => html`<${Way} from=${task.source_agent} to=${task.target_agent} />` },
  { name: "priority", title: "Priority", class: "narrow wide", cell: (task) => html`<span class=${`priority ${task.priority}`}>${task.priority}</span>` },
  { name: "age", title: "Age", class: "time", cell: (task) => html`<${Ago} at=${task.created_at} />` },
  { name: "attempt", title: "Attempts", class: "slim wider", cell: (task) => html`<span class=${task.attempt > 1 ? "" : "faint"}>${task.attempt} / ${task.max_attempts}</span>` },
];

/** @param {{query: Record<string, string>}} props */
export default function Tasks({ query }) {
  const { data, problem, isLoading } = useList(pathOf(query));
  const isSearch = Boolean(query.q || query.flagged || query.priority);
  const { items, isWhole, isReading } = /** @type {import("../core/older.js").Older<ListedTask>} */ (useOlder(pathOf(query), data, isSearch));
  const rows = useMemo(() => shown(items, query), [items, query]);
  const looked = isSearch && !isLoading && (isReading || !isWhole) ? `, ${isReading ? "searching: " : "of the newest "}${items.length.toLocaleString()} looked at` : "";
  return html`<div class="head"><h1>Tasks</h1><span class="faint" role="status">${isLoading ? "" : `${rows.length.toLocaleString()}${isWhole ? "" : "+"} shown${looked}`}</span></div>
    <${Named} query=${query} />
    <${Filters} query=${query} />
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />` : rows.length > 0
    ? html`<${Table} label="Tasks" columns=${COLUMNS} rows=${rows} more=${!isWhole && !isSearch} keyOf=${(/** @type {ListedTask} */ task) => task.id}
        hrefOf=${(/** @type {ListedTask} */ task) => address(`/tasks/${task.id}`)} />`
    : isReading ? html`<${Empty} title="None of the newest fits"><p>Older ones are looked at: ${items.length.toLocaleString()} so far.</p><//>`
    : !problem && html`<${Empty} title=${isWhole ? "No task fits" : `None of the newest ${items.length.toLocaleString()} fits`}>
        ${!isWhole && html`<p>Older ones weren't looked at: choose an agent or a state.</p>`}
        ${query.q && html`<p><a href=${address("/search", { q: query.q, agent: query.agent, state: query.state })}>Search all days</a></p>`}
        <p>${query.agent ? "This agent has none of them." : "Without an agent, the list is of one day: of today, or of the day that you choose (UTC)."}</p>
        <p>A task comes into being when an agent, a person or a service hands work over: <code>POST /handoffs</code>.</p><//>`}`;
}

/** The read behind a view. `state=needs` alone is the approval queue, of any day.
 * @param {Record<string, string>} query */
function pathOf(query) {
  const asked = new URLSearchParams();
  if (query.agent) asked.set("agent", query.agent);
  else if (query.day) asked.set("day", query.day);
  for (const state of (query.state ?? "").split(",").filter(Boolean)) asked.append("state", state);
  return asked.size ? `/tasks?${asked}` : "/tasks";
}

/** @param {ListedTask[]} tasks @param {Record<string, string>} query */
function shown(tasks, query) {
  const words = (query.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter((task) => {
    if (query.flagged && task.flags.length === 0) return false;
    if (query.priority && task.priority !== query.priority) return false;
    if (words.length === 0) return true;
    const text = `${task.title} ${task.source_agent} ${task.target_agent ?? ""} ${task.id} ${task.kind} ${task.flags.join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** @param {{query: Record<string, string>}} props */
function Named({ query }) {
  const [own, setOwn] = useState(saved());
  const here = address("/tasks", query);
  const save = () => ask({
    title: "Save this view",
    fields: [{ name: "name", label: "Name", required: true }],
    confirm: "Save",
    run: ({ name = "" }) => setOwn(keep(name, query)),
  });
  const views = [...VIEWS, ...own].map((view) => ({
    name: view.name,
    href: address("/tasks", view.query),
    isChosen: address("/tasks", view.query) === here,
    also: own.includes(view) && html`<button type="button" class="quiet" aria-label=${`Forget the view ${view.name}`} onClick=${() => setOwn(drop(view.name))}>✕</button>`,
  }));
  return html`<${Views} label="Views" of=${views}>${!views.some((view) => view.isChosen) && html`<button type="button" class="quiet" onClick=${save}>+ Save this view</button>`}<//>`;
}

/** @param {{query: Record<string, string>}} props */
function Filters({ query }) {
  const { data } = useLive("/agents?limit=100", { everyMs: 30_000 });
  const slugs = /** @type {import("api").AgentList | null} */ (data)?.items.map((agent) => agent.slug) ?? [];
  if (query.agent && !slugs.includes(query.agent)) slugs.push(query.agent);
  const set = (/** @type {string} */ name, /** @type {Record<string, null>} */ also = {}) => (/** @type {any} */ event) => setQuery({ [name]: event.target.value, ...also });
  return html`<div class="filters" role="search">
    <label>Words <input type="search" value=${query.q ?? ""} onInput=${set("q")} /></label>
    <label>Agent <select value=${query.agent ?? ""} onChange=${set("agent", { day: null })}><option value="">all</option>
      ${slugs.map((slug) => html`<option value=${slug} selected=${slug === query.agent}>${slug}</option>`)}</select></label>
    <label>State <select onChange=${set("state")}><option value="">any</option>
      ${query.state?.includes(",") && html`<option value=${query.state} selected>${query.state.split(",").map(stateWord).join(", ")}</option>`}
      ${STATES.map((state) => html`<option value=${state} selected=${state === query.state}>${stateWord(state)}</option>`)}</select></label>
    <label>Day <input type="date" value=${query.day ?? ""} onChange=${set("day", { agent: null })} /></label>
  </div>`;
}
