/** Tasks of a day or of an agent, with views that are one click away, and what is done to many of them at once. */
import { html, useMemo } from "../lib.js";
import { useOlder } from "../core/dear.js";
import { useDeferred } from "../core/deferred.js";
import { dueOf, FILTERS, fits, isFiltered, ordered } from "../core/filters.js";
import { useList, useLive } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { useSelection } from "../core/selection.js";
import { STATES, stateWord } from "../core/states.js";
import { Bulk } from "./tasks/bulk.js";
import { MoreFilters } from "../ui/filters.js";
import { Ago, Empty, Flags, Left, Loading, Said, State, Trouble, Way } from "../ui/parts.js";
import { SavedViews } from "../ui/saved.js";
import { Table } from "../ui/table.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("../ui/table.js").Column<ListedTask>} Column */

/** @type {Column[]} */
const COLUMNS = [
  { name: "title", title: "Task", class: "fill", sort: "title",
    cell: (task) => html`<${Said} of=${task.title || task.id} />`,
    after: (task) => html`<${Flags} of=${task.flags} /><span class="narrower"><${Labels} of=${task} /></span>` },
  { name: "state", title: "State", class: "state-cell", sort: "state",
    cell: (task) => html`<${State} of=${task.state} />` },
  { name: "way", title: "From → to", class: "way-cell wide", sort: "agent",
    cell: (task) => html`<${Way} from=${task.source_agent} to=${task.target_agent} />` },
  { name: "priority", title: "Priority", class: "narrow wide", sort: "priority",
    cell: (task) => html`<span class=${`priority ${task.priority}`}>${task.priority}</span>` },
  { name: "age", title: "Age", class: "time age", sort: "age", cell: (task) => html`<${Ago} at=${task.created_at} />` },
  { name: "due", title: "Due in", class: "slim wider", sort: "deadline",
    cell: (task) => (dueOf(task) ? html`<${Left} at=${dueOf(task)} />` : html`<span class="faint">–</span>`) },
  { name: "attempt", title: "Attempts", class: "slim widest", sort: "attempts",
    cell: ({ attempt, max_attempts: most }) =>
      html`<span class=${attempt > 1 ? "" : "faint"}>${attempt} / ${most}</span>` },
  { name: "labels", title: "Labels", class: "way-cell widest", cell: (task) => html`<${Labels} of=${task} />` },
  { name: "by", title: "Asked by", class: "way-cell widest", cell: (task) => html`<${Said} of=${task.created_by} />` },
];

/** @param {{of: ListedTask}} props */
function Labels({ of }) {
  return of.labels.map((label) => html` <span key=${label} class="label"><${Said} of=${label} /></span>`);
}

/** @param {{query: Record<string, string>}} props */
export default function Tasks({ query }) {
  const { data, problem, isLoading } = useList(pathOf(query), { isFirst: true });
  const isSearch = isNarrowed(query) || Boolean(query.sort);
  const { items, isWhole, isReading } =
    /** @type {import("../core/dear.js").Older<ListedTask>} */ (useOlder(pathOf(query), data, isSearch));
  const asked = useDeferred(JSON.stringify(query));
  const rows = useMemo(() => {
    const narrowed = JSON.parse(asked);
    return ordered(items.filter((task) => shown(task, narrowed)), narrowed.sort ?? "");
  }, [items, asked]);
  const selection = useSelection(useMemo(() => rows.map((task) => task.id), [rows]));
  const looked = isSearch && !isLoading && (isReading || !isWhole)
    ? `, ${isReading ? "searching: " : "of the newest "}${items.length.toLocaleString()} looked at` : "";
  const of = isNarrowed(query) ? ` of ${items.length.toLocaleString()}` : "";
  const said = `${rows.length.toLocaleString()}${of}${isWhole ? "" : "+"} shown${looked}`;
  const marked = rows.filter((task) => selection.has(task.id));
  return html`<div class="head">
      <h1>Tasks</h1>
      <span class="faint" role="status">${isLoading || (problem && !data) ? "" : said}</span>
      <a href=${address("/new-handoff")}>New handoff</a>
    </div>
    <${SavedViews} page="/tasks" query=${query} of=${VIEWS} />
    <${Filters} query=${query} tasks=${items} />
    <${Bulk} tasks=${marked} clear=${selection.clear} />
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
      : rows.length > 0 ? html`<${Table} label="Tasks" columns=${COLUMNS} rows=${rows} more=${!isWhole && !isSearch}
          keyOf=${(/** @type {ListedTask} */ task) => task.id} sort=${query.sort} selection=${selection}
          nameOf=${(/** @type {ListedTask} */ task) => task.title || task.id}
          hrefOf=${(/** @type {ListedTask} */ task) => address(`/tasks/${task.id}`)} />`
      : isReading ? html`<${Empty} title="None of the newest fits">
          <p>Older ones are looked at: ${items.length.toLocaleString()} so far.</p>
        <//>`
      : !problem && html`<${Empty}
          title=${isWhole ? "No task fits" : `None of the newest ${items.length.toLocaleString()} fits`}>
          ${!isWhole && html`<p>Older ones weren't looked at: choose an agent or a state.</p>`}
          ${query.q && html`<p>
            <a href=${address("/search", { q: query.q, agent: query.agent, state: query.state })}>Search all days</a>
          </p>`}
          <p>${query.agent ? "This agent has none of them."
            : "Without an agent, the list is of one day: of today, or of the day that you choose (UTC)."}</p>
          ${isSearch && html`<p><button type="button" onClick=${() => setQuery(EMPTY)}>Clear the filters</button></p>`}
          <p>A task comes into being when an agent, a person or a service hands work over:${" "}
            <a href=${address("/new-handoff")}>hand over something yourself</a>, or <code>POST /handoffs</code>.</p>
        <//>`}`;
}

const EMPTY = Object.fromEntries([...FILTERS, "flagged", "sort"].map((name) => [name, null]));

/** An agent alone is asked for, not searched. @param {Record<string, string>} query */
const isNarrowed = ({ agent: _, ...query }) => isFiltered(query) || Boolean(query.flagged);

/** @param {ListedTask} task @param {Record<string, string>} query */
const shown = (task, query) => fits(task, query) && (!query.flagged || task.flags.length > 0);

/** The read behind a view. `state=needs` alone is the approval queue, of any day.
 * @param {Record<string, string>} query */
function pathOf(query) {
  const asked = new URLSearchParams();
  if (query.agent) asked.set("agent", query.agent);
  else if (query.day) asked.set("day", query.day);
  for (const state of (query.state ?? "").split(",").filter(Boolean)) asked.append("state", state);
  return asked.size ? `/tasks?${asked}` : "/tasks";
}

/** @param {{query: Record<string, string>, tasks: ListedTask[]}} props */
function Filters({ query, tasks }) {
  const { data } = useLive("/agents?limit=100", { everyMs: 30_000 });
  const slugs = /** @type {import("api").AgentList | null} */ (data)?.items.map((agent) => agent.slug) ?? [];
  if (query.agent && !slugs.includes(query.agent)) slugs.push(query.agent);
  const set = (/** @type {string} */ name, /** @type {Record<string, null>} */ also = {}) =>
    (/** @type {any} */ event) => setQuery({ [name]: event.target.value, ...also });
  return html`<div class="filters" role="search">
    <label>Words <input type="search" value=${query.q ?? ""} onInput=${set("q")} /></label>
    <label>State <select onChange=${set("state")}>
      <option value="">any</option>
      ${query.state?.includes(",") && html`<option value=${query.state} selected>
        ${query.state.split(",").map(stateWord).join(", ")}</option>`}
      ${STATES.map((state) =>
        html`<option value=${state} selected=${state === query.state}>${stateWord(state)}</option>`)}
    </select></label>
    <label>Agent <select value=${query.agent ?? ""} onChange=${set("agent", { day: null })}>
      <option value="">all</option>
      ${slugs.map((slug) => html`<option value=${slug} selected=${slug === query.agent}>${slug}</option>`)}
    </select></label>
    <label>Day <input type="date" value=${query.day ?? ""} onChange=${set("day", { agent: null })} /></label>
    <${MoreFilters} query=${query} tasks=${tasks} isAgentAsked />
  </div>`;
}

/** @type {{name: string, query: Record<string, string>}[]} */
const VIEWS = [
  { name: "Today", query: {} },
  { name: "To approve", query: { state: "needs" } },
  { name: "Under way", query: { state: "delegated,next,claimed,waiting" } },
  { name: "Flagged", query: { flagged: "1" } },
  { name: "Went wrong", query: { state: "failed,rejected" } },
  { name: "Done", query: { state: "done" } },
];
