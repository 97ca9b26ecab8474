/** Who decided what: by day, person and verb; and as a file. */
import { html, useState } from "../lib.js";
import { useList } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { now } from "../core/time.js";
import { failed, toast } from "../core/toasts.js";
import { Ago, Empty, Loading, Said, Trouble, Way } from "../ui/parts.js";
import { exportDecisions, MOST } from "./decisions/export.js";
import { dayOf } from "./stats/counts.js";

/** @typedef {import("api").DecisionItem} Decision */

const WORDS = /** @type {Record<string, string>} */ ({
  approve: "approved", approve_next: "approved by id", undo: "took an approval back", defer: "deferred", dismiss: "dismissed",
  split: "split", answer: "answered", revoke: "revoked", release: "took back from its worker", resolve: "resolved",
  cancel: "cancelled", release_review: "released a review", close_review: "closed a review",
});
const DETAILS = /** @type {Record<string, string>} */ ({ counted: "others have to, too", own: "by handing it over" });

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
    ${items.length > 0 && html`<div class="numbers card" role="region" aria-label="Decisions" tabindex="0"><table>
      <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Decided</th><th scope="col">Task</th>
        <th scope="col">From → to</th><th scope="col">Reason</th></tr></thead>
      <tbody>${items.map((each) => html`<${One} key=${`${each.review_id ?? each.task_id} ${each.seq}`} of=${each} />`)}</tbody></table></div>`}
    ${data?.more && html`<p class="faint">There are more: narrow the filter, or export them.</p>`}
    ${data && items.length === 0 && html`<${Empty} title="Nobody decided that on this day"><p>What people approve, put off,
      refuse, answer and end stands here within seconds, by the day of UTC. What was decided before Baton kept this record
      is in the tasks' trails alone.</p><//>`}`;
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

/** @param {{of: Decision}} props */
function One({ of }) {
  const about = of.review_id ?? of.task_id;
  const more = of.detail === null ? "" : DETAILS[of.detail] ?? of.detail;
  return html`<tr><td><${Ago} at=${of.at} /></td>
    <td><a href=${address("/decisions", { day: of.at.slice(0, 10), by: of.by })}><${Said} of=${of.by} /></a></td>
    <td>${WORDS[of.verb] ?? of.verb}${more && html` <span class="faint">${more}</span>`}</td>
    <th scope="row" class="long"><a href=${address(of.review_id ? `/reviews/${of.review_id}` : `/tasks/${of.task_id}`)}>
      <${Said} of=${of.title || about} /></a>
      ${" "}<span class="faint">${[of.priority, of.task_id && `entry ${of.seq}`].filter(Boolean).join(", ")}</span></th>
    <td><${Way} from=${of.source_agent} to=${of.target_agent} /></td>
    <td class="long">${of.reason && html`<${Said} of=${of.reason} />`}</td></tr>`;
}
