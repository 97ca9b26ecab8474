/** Who decided what: by day, person and verb; and as a file. */
import { html, useState } from "../lib.js";
import { useList } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { now } from "../core/time.js";
import { failed, toast } from "../core/toasts.js";
import { Ago, Empty, Loading, Said, Trouble, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { exportDecisions, MOST } from "./decisions/export.js";
import { dayOf } from "./stats/counts.js";

/** @typedef {import("api").DecisionItem} Decision */

const WORDS = /** @type {Record<string, string>} */ ({
  approve: "approved", approve_next: "approved by id", undo: "took an approval back", defer: "deferred", dismiss: "dismissed",
  split: "split", answer: "answered", revoke: "revoked", release: "took back from its worker", resolve: "resolved",
  cancel: "cancelled",
});
const DETAILS = /** @type {Record<string, string>} */ ({ counted: "others have to, too", own: "by handing it over" });

const keyOf = (/** @type {Decision} */ of) => `${of.task_id} ${of.seq}`;
/** @type {import("../ui/table.js").Column<Decision>[]} */
const COLUMNS = [
  { name: "task", title: "Task", class: "fill", cell: (of) => html`<${Said} of=${of.title || of.task_id} />`,
    after: (of) => html`<span class="faint">${of.priority}, entry ${of.seq}</span>` },
  { name: "verb", title: "Decided", class: "waits", cell: ({ verb, detail }) => html`${WORDS[verb] ?? verb}
    ${detail !== null && html` <span class="faint">${DETAILS[detail] ?? detail}</span>`}` },
  { name: "by", title: "Who", class: "slim", cell: (of) =>
    html`<a href=${address("/decisions", { day: of.at.slice(0, 10), by: of.by })}><${Said} of=${of.by} /></a>` },
  { name: "at", title: "When", class: "time", cell: (of) => html`<${Ago} at=${of.at} />` },
  { name: "way", title: "From → to", class: "way-cell wide",
    cell: (of) => html`<${Way} from=${of.source_agent} to=${of.target_agent} />` },
  { name: "reason", title: "Reason", class: "way-cell wider", cell: (of) => of.reason && html`<${Said} of=${of.reason} />` },
];

/** @param {{query: Record<string, string>}} props */
export default function Decisions({ query }) {
  const day = /^\d{4}-\d\d-\d\d$/.test(query.day ?? "") ? query.day ?? "" : dayOf(now.value);
  const filter = new URLSearchParams({ day, ...(query.by && { by: query.by }), ...(query.verb && { verb: query.verb }) });
  const { data, problem, isLoading } = useList(`/decisions?${filter}`, { everyMs: 10_000 });
  const items = /** @type {Decision[]} */ (data?.items ?? []);
  return html`<div class="head"><h1>Decisions</h1><span class="faint">${data
    ? `${items.length.toLocaleString()}${data.more ? "+" : ""} on ${day} (UTC)` : ""}</span></div>
    <${Filters} query=${query} day=${day} people=${[...new Set(items.map((each) => each.by))].sort()} />
    <${Exports} path=${`/decisions?${filter}`} name=${["decisions", day, query.by, query.verb].filter(Boolean).join("-")} />
    <${Trouble} of=${problem} what="The decisions can't be read." />
    ${isLoading && html`<${Loading} />`}
    ${items.length > 0 && html`<${Table} label="Decisions" columns=${COLUMNS} rows=${items} keyOf=${keyOf}
      hrefOf=${(/** @type {Decision} */ of) => address(`/tasks/${of.task_id}`)} />`}
    ${data?.more && html`<p class="faint">There are more: narrow the filter, or export them.</p>`}
    ${data && items.length === 0 && html`<${Empty} title="Nobody decided that on this day"><p>What people approve, put off,
      refuse, answer and end stands here within seconds, by the day of UTC. What was decided before Baton kept this record
      is in the tasks' trails alone; manual reviews are on their own page.</p><//>`}`;
}

/** @param {{query: Record<string, string>, day: string, people: string[]}} props */
function Filters({ query, day, people }) {
  const set = (/** @type {string} */ name) => (/** @type {Event} */ event) => {
    setQuery({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value });
  };
  const known = query.by && !people.includes(query.by) ? [query.by, ...people] : people;
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>Day (UTC) <input type="date" value=${day} max=${dayOf(now.value)} onChange=${set("day")} /></label>
    <label>Person <select onChange=${set("by")}><option value="" selected=${!query.by}>anybody</option>
      ${known.map((each) => html`<option key=${each} value=${each} selected=${each === query.by}>${each}</option>`)}</select></label>
    <label>Decided <select onChange=${set("verb")}><option value="" selected=${!query.verb}>anything</option>
      ${Object.entries(WORDS).map(([verb, word]) => html`<option key=${verb} value=${verb} selected=${verb === query.verb}>
        ${word}</option>`)}</select></label></form>`;
}

/** @param {{path: string, name: string}} props */
function Exports({ path, name }) {
  const [count, setCount] = useState(/** @type {number | null} */ (null));
  const run = async (/** @type {"csv" | "json"} */ form) => {
    setCount(0);
    try {
      const { count: got, isWhole } = await exportDecisions(path, name, form, setCount);
      const most = isWhole ? "" : `, the newest: a file has up to ${MOST.toLocaleString()}`;
      toast(`Exported ${got.toLocaleString()} decisions${most}`);
    } catch (error) {
      failed("Nothing was exported", error);
    }
    setCount(null);
  };
  return html`<p class="row"><button type="button" disabled=${count !== null} onClick=${() => run("csv")}>Export as CSV</button>
    <button type="button" disabled=${count !== null} onClick=${() => run("json")}>Export as JSON</button>
    <span class="faint" role="status">${count === null ? "" : `${count.toLocaleString()} read …`}</span></p>`;
}
