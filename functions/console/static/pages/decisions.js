/** Who decided what: by day, person and verb; and as a file. */
import { html, useState } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { useList } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Empty, Key, Loading, Said, Trouble, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { exportDecisions, MOST } from "./decisions/export.js";
import { dayOf, today } from "./stats/counts.js";
import { verdictOf } from "./task/trail.js";

/** @typedef {import("api").DecisionItem} Decision */

const WORDS = /** @type {Record<string, string>} */ ({
  approve: "approved", approve_next: "approved by id", undo: "took an approval back", defer: "deferred",
  dismiss: "dismissed", split: "split", answer: "answered", revoke: "revoked", release: "took back from its worker",
  resolve: "resolved", cancel: "cancelled", release_review: "released a review", close_review: "closed a review",
});
const DETAILS = /** @type {Record<string, string>} */ ({ counted: "others have to, too", own: "by handing it over" });

const keyOf = (/** @type {Decision} */ of) => `${of.review_id ?? of.task_id} ${of.seq}`;
const hrefOf = (/** @type {Decision} */ of) =>
  address(of.review_id ? `/reviews/${of.review_id}` : `/tasks/${of.task_id}`);
/** @type {import("../ui/table.js").Column<Decision>[]} */
const COLUMNS = [
  { name: "task", title: "Task", class: "fill",
    cell: (of) => html`<${Said} of=${of.title || of.review_id || of.task_id} />`,
    after: (of) => html`<span class="faint">
      ${[of.priority, of.task_id && `entry ${of.seq}`].filter(Boolean).join(", ")}</span>` },
  { name: "verb", title: "Decided", class: "waits",
    cell: ({ verb, detail, by, at }) => html`${WORDS[verb] ?? verb}
      ${detail !== null && html` <span class="faint">${DETAILS[detail] ?? detail}</span>`}
      <span class="faint if-narrow"> by <${Said} of=${by} />, <${Ago} at=${at} /></span>` },
  { name: "by", title: "Who", class: "slim wide",
    cell: (of) => html`<a href=${address("/decisions", { day: of.at.slice(0, 10), by: of.by })}>
      <${Said} of=${of.by} /></a>` },
  { name: "at", title: "When", class: "time wide", cell: (of) => html`<${Ago} at=${of.at} />` },
  { name: "way", title: "From → to", class: "way-cell wide",
    cell: (of) => html`<${Way} from=${of.source_agent} to=${of.target_agent} />` },
  { name: "reason", title: "Reason", class: "way-cell wider",
    cell: (of) => of.reason && html`<${Said} of=${of.reason} />` },
];

/** @param {{query: Record<string, string>}} props */
export default function Decisions({ query }) {
  const day = /^\d{4}-\d\d-\d\d$/.test(query.day ?? "") ? query.day ?? "" : dayOf(today.value);
  const filter = { ...(query.by && { by: query.by }), ...(query.verb && { verb: query.verb }) };
  const pathOf = (/** @type {string} */ of) => `/decisions?${new URLSearchParams({ day: of, ...filter })}`;
  const { data, problem, isLoading } = useList(pathOf(day), { everyMs: 10_000, isFirst: true });
  const move = (/** @type {number} */ by) =>
    setQuery({ day: [dayOf(Date.parse(day), -by), dayOf(today.value)].sort()[0] });
  useKeys("Decisions", {
    J: { does: "the day before", repeats: true, run: () => move(-1) },
    K: { does: "the day after", repeats: true, run: () => move(1) },
  });
  const items = /** @type {Decision[]} */ (data?.items ?? []);
  return html`<div class="head">
      <h1>Decisions</h1>
      <span class="faint">${data
        ? `${items.length.toLocaleString()}${data.more ? "+" : ""} on ${day} (UTC)` : ""}</span>
    </div>
    <${Filters} query=${query} day=${day} people=${[...new Set(items.map((each) => each.by))].sort()} />
    <${Exports} day=${day} pathOf=${pathOf} who=${[query.by, query.verb].filter(Boolean)} move=${move} />
    <${Trouble} of=${problem} what="The decisions can't be read." />
    ${isLoading && html`<${Loading} />`}
    ${items.length > 0
      && html`<${Table} label="Decisions" columns=${COLUMNS} rows=${items} keyOf=${keyOf} hrefOf=${hrefOf} />`}
    ${data?.more && html`<p class="faint">There are more: narrow the filter, or export them.</p>`}
    ${data && items.length === 0 && html`<${Empty} title="Nobody decided that on this day">
      <p>What people approve, put off, refuse, answer and end stands here within seconds, by the day of UTC. What was
        decided before Baton kept this record is in the tasks' trails alone.</p>
    <//>`}`;
}

/** @param {{query: Record<string, string>, day: string, people: string[]}} props */
function Filters({ query, day, people }) {
  const set = (/** @type {string} */ name) => (/** @type {Event} */ event) => {
    setQuery({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value });
  };
  const known = query.by && !people.includes(query.by) ? [query.by, ...people] : people;
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>Day (UTC) <input type="date" value=${day} max=${dayOf(today.value)} onChange=${set("day")} /></label>
    <label>Person <select onChange=${set("by")}>
      <option value="" selected=${!query.by}>anybody</option>
      ${known.map((each) => html`<option key=${each} value=${each} selected=${each === query.by}>${each}</option>`)}
    </select></label>
    <label>Decided <select onChange=${set("verb")}>
      <option value="" selected=${!query.verb}>anything</option>
      ${Object.entries(WORDS).map(([verb, word]) =>
        html`<option key=${verb} value=${verb} selected=${verb === query.verb}>${word}</option>`)}
    </select></label>
  </form>`;
}

const DAYS = 7;
/** @type {import("../ui/ask.js").FieldOf[]} */
const CHOICES = [
  { name: "days", label: "Of", type: "radio", required: true, value: "1",
    options: [["1", "this day"], [String(DAYS), `the ${DAYS} days to it`]] },
  { name: "form", label: "As", type: "radio", required: true, value: "csv",
    options: [["csv", "CSV"], ["json", "JSON"]] },
  { name: "verify", label: "The trails of its tasks", type: "radio", required: true, value: "no",
    options: [["no", "as they are"], ["yes", "verified, each with the result beside its decisions"]] },
];

/** @param {{day: string, pathOf: (day: string) => string, who: string[], move: (by: number) => void}} props */
function Exports({ day, pathOf, who, move }) {
  const [said, say] = useState("");
  const run = async (/** @type {Record<string, string>} */ { days = "1", form, verify }) => {
    const all = Array.from({ length: Number(days) }, (_, back) => dayOf(Date.parse(day), back));
    const span = all.length > 1 ? `${all.at(-1)}-to-${day}` : day;
    const of = { paths: all.map(pathOf), name: ["decisions", span, ...who].join("-"),
      form: /** @type {"csv" | "json"} */ (form), verify: verify === "yes" ? verdictOf : null };
    try {
      const { count, isWhole, wrong } = await exportDecisions(of, say);
      const most = isWhole ? "" : `, the newest: a file has up to ${MOST.toLocaleString()}`;
      const verdict = wrong === 0 ? "every trail is verified" : `${wrong} trails aren't verified`;
      toast(`Exported ${count.toLocaleString()} decisions${most}${of.verify ? `; ${verdict}` : ""}`);
    } finally {
      say("");
    }
  };
  const open = () => said === ""
    && ask({ title: "Export decisions", fields: CHOICES, confirm: "Export", keep: "Not now", run });
  useKeys("Export", { e: { does: "export", run: open } });
  return html`<p class="row">
    <button type="button" onClick=${() => move(-1)}>← Day before <${Key}>J<//></button>
    <button type="button" aria-disabled=${day >= dayOf(today.value)} onClick=${() => move(1)}>
      Day after → <${Key}>K<//></button>
    <button type="button" aria-disabled=${said !== ""} onClick=${open}>Export <${Key}>e<//></button>
    <span class="faint" role="status">${said}</span>
  </p>`;
}
