/** What a search over all days has found, and how far it got. */
import { html } from "../../lib.js";
import { useKeys } from "../../core/keys.js";
import { address } from "../../core/router.js";
import { frontier, searchPath, useSearch } from "../../core/search.js";
import { Ago, Empty, Key, Said, State, Trouble, Way } from "../../ui/parts.js";
import { Table } from "../../ui/table.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @type {import("../../ui/table.js").Column<ListedTask>[]} */
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
export function Results({ query }) {
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
