/** Tasks of all days, by words, label, agent or person: backwards in time, as far as one goes on. */
import { html, useEffect, useRef } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { useLive } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { frontier, searchPath, useSearch } from "../core/search.js";
import { STATES, stateWord } from "../core/states.js";
import { Ago, Empty, Key, Said, State, Trouble, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";

const KINDS = ["escalation", "transfer", "delegation", "rollback", "continuation", "retry"];

/** @param {{query: Record<string, string>}} props */
export default function Search({ query }) {
  const { data } = useLive("/agents?limit=100", { everyMs: 30_000 });
  const agents = /** @type {import("api").AgentList | null} */ (data)?.items.map((agent) => agent.slug) ?? [];
  const words = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => { if (Object.keys(query).length === 0) words.current?.focus(); }, []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setQuery(/** @type {Record<string, string>} */ (Object.fromEntries(form)));
  };
  return html`<div class="head"><h1>Search</h1></div>
    <form class="filters" role="search" onSubmit=${submit} key=${query.q ?? ""}>
      <label>Words <input type="search" name="q" ref=${words} defaultValue=${query.q ?? ""} maxlength="200" /></label>
      <label>Label <input name="label" defaultValue=${query.label ?? ""} placeholder="team=blue" /></label>
      <${Choice} name="agent" label="Agent" of=${agents} chosen=${query.agent} />
      <label>Asked by <input name="by" defaultValue=${query.by ?? ""} placeholder="human:alice" /></label>
      <${Choice} name="state" label="State" of=${STATES} chosen=${query.state} say=${stateWord} />
      <${Choice} name="priority" label="Priority" of=${["P0", "P1", "P2"]} chosen=${query.priority} />
      <${Choice} name="kind" label="Kind" of=${KINDS} chosen=${query.kind} />
      <label>Since <input type="date" name="since" defaultValue=${(query.since ?? "").slice(0, 10)} /></label>
      <button type="submit">Search</button>
    </form>
    <${Results} query=${query} />`;
}

/** @param {{name: string, label: string, of: string[], chosen: string | undefined,
 *   say?: (each: string) => string}} props */
function Choice({ name, label, of, chosen, say = (each) => each }) {
  const known = chosen && !of.includes(chosen) ? [...of, chosen] : of;
  return html`<label>${label} <select name=${name}>
    <option value="">any</option>
    ${known.map((each) => html`<option value=${each} selected=${each === chosen}>${say(each)}</option>`)}
  </select></label>`;
}

/** @typedef {import("api").ListedTask} ListedTask */
/** @type {import("../ui/table.js").Column<ListedTask>[]} */
const COLUMNS = [
  { name: "title", title: "Task", class: "fill", cell: (task) => html`<${Said} of=${task.title || task.id} />` },
  { name: "state", title: "State", class: "state-cell", cell: (task) => html`<${State} of=${task.state} />` },
  { name: "way", title: "From → to", class: "way-cell wide",
    cell: (task) => html`<${Way} from=${task.source_agent} to=${task.target_agent} />` },
  { name: "labels", title: "Labels", class: "way-cell wider",
    cell: (task) => html`<${Said} of=${task.labels.join(" · ")} />` },
  { name: "age", title: "Age", class: "time", cell: (task) => html`<${Ago} at=${task.created_at} />` },
];
const ASKED = ["q", "label", "agent", "by", "state", "priority", "kind"];

/** @param {{query: Record<string, string>}} props */
function Results({ query }) {
  const since = /^\d{4}-\d\d-\d\d$/.test(query.since ?? "") ? `${query.since}T00:00:00Z` : query.since;
  const search = useSearch(searchPath({ ...Object.fromEntries(ASKED.map((name) => [name, query[name]])), since }));
  const canGoOn = !search.isSearching && Boolean(search.next);
  useKeys("Search", canGoOn ? { o: { does: "search older ones", run: search.goOn } } : {});
  const { items, next, isSearching, problem, searchedTo } = search;
  const isAny = items.length > 0;
  const count = searchedTo === null ? "" : `${items.length.toLocaleString()}${next === null ? "" : "+"} found. `;
  const on = canGoOn && html`<button type="button" onClick=${search.goOn}>Search older ones <${Key}>o<//></button>`;
  return html`<p class="row far"><span role="status">${count}${frontier(search)}</span>${isAny && on}</p>
    <${Trouble} of=${problem} what="It can't be searched." />
    ${problem && html`<button type="button" onClick=${search.goOn}>Try again</button>`}
    ${isAny ? html`<${Table} label="Tasks found" columns=${COLUMNS} rows=${items}
        keyOf=${(/** @type {ListedTask} */ task) => task.id}
        hrefOf=${(/** @type {ListedTask} */ task) => address(`/tasks/${task.id}`)} />`
    : !problem && !isSearching && html`<${Empty} title=${next === null ? "No task fits" : "None so far"}>
        <p>
          ${next === null ? "All tasks were looked at." : "Older tasks weren't looked at yet."} Words are looked for in
          titles, agents, labels, ids and short results; a label is written as lists show it: <code>team=blue</code>.
          ${query.label && html`${" "}Labels of tasks of an earlier release are in their handoffs alone.`}
        </p>
        ${on}
      <//>`}`;
}
