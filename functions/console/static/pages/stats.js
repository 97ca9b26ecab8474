/** How it goes: what ended, how long it waited and was worked on, from the counters that the stream keeps. */
import { html } from "../lib.js";
import { address, setQuery } from "../core/router.js";
import { useSlow } from "../core/dear.js";
import { Chart } from "../ui/chart.js";
import { Empty, Loading, Trouble, Views } from "../ui/parts.js";
import {
  begun, begunSaid, dayOf, daysOf, ended, ENDS, hoursOf, PHASES, Rows, said, today, took,
} from "./stats/counts.js";

/** @typedef {import("api").StatsView} Stats */

const SPANS = /** @type {Record<string, number>} */ ({ day: 1, week: 7, month: 30 });
const NAMES = /** @type {Record<string, string>} */ ({
  day: "today (UTC)", week: "the last week", month: "the last month",
});
/** A month is read for up to some hundred units: not too often. */
const SELDOM_MS = 120_000;
const BEGUN = [{ class: "done", title: "begun" }];
const SHARES = [{ class: "p95", title: "p95" }, { class: "p50", title: "p50" }];

/** @param {{query: Record<string, string>}} props */
export default function HowItGoes({ query }) {
  const span = query.since && query.since in SPANS ? query.since : "week";
  const count = SPANS[span] ?? 7;
  const isByAgent = query.by !== "direction";
  const days = `from=${dayOf(today.value, count - 1)}&to=${dayOf(today.value)}${query.agent
    ? `&agent=${query.agent}` : ""}`;
  const breakdowns = `by=${span === "day" ? "hour" : "day"}&also=${isByAgent ? "agent" : "direction"}`;
  const { data, problem, isLoading } = useSlow(`/stats?${days}&${breakdowns}`, SELDOM_MS);
  const stats = /** @type {Stats | null} */ (data);
  const by = (/** @type {string} */ each) => ({
    name: `by ${each}`, href: address("/stats", { ...query, by: each }), isChosen: isByAgent === (each === "agent"),
  });
  return html`<div class="head">
      <h1>How it goes</h1>
      <span class="faint">${stats ? `${ended(stats.total).toLocaleString()} ended` : ""}</span>
    </div>
    <${Views} label="Span" of=${Object.keys(SPANS).map((each) => ({
      name: NAMES[each] ?? each, href: address("/stats", { ...query, since: each }), isChosen: each === span,
    }))}>
      ${query.agent && html`<span class="view"><button type="button" onClick=${() => setQuery({ agent: null })}>
        only ${query.agent}: show all</button></span>`}
    <//>
    <${Trouble} of=${problem} what="The counters can't be read." />
    ${isLoading && html`<${Loading} />`}
    ${stats && !stats.is_whole && html`<p class="notice">There were more directions than are counted here.</p>`}
    ${stats && ended(stats.total) === 0 && html`<${Empty} title="Nothing has ended in this time">
      <p>A task counts when it ends, on that day, once. Tasks that ended before Baton kept counters aren't in any number
        here.</p><//>`}
    ${stats && ended(stats.total) > 0 && html`<section class="card" aria-label="Over time">
        <div class="charts">
          <${Ended} of=${stats} span=${span} count=${count} />
          ${PHASES.map((phase) => html`<${Times} key=${phase.name} of=${stats} phase=${phase} count=${count} />`)}
        </div>
        <p class="faint">Each task counts once, when it ends; its beginning too, if that
          was at most two days before. Of p50 half of the tasks took less, of p95 all but 5 %; both are
          within 23 %. Time that a task was put off isn't in any of them.</p>
      </section>
      <${Views} label="Grouped" hasKeys=${false} of=${[by("agent"), by("direction")]} />
      <${Rows} of=${stats.also} isByAgent=${isByAgent} cents=${stats.cents_per_million_tokens} />`}`;
}

/** @param {{of: Stats, span: string, count: number}} props */
function Ended({ of, span, count }) {
  const slots = span === "day" ? hoursOf(of.items, today.value, 24) : daysOf(of.items, count);
  const began = span === "day" ? hoursOf(of.items, today.value, 24, begun) : daysOf(of.items, count, begun);
  return html`<${Chart} title="Ended" says=${said(of.total)} slots=${slots} parts=${ENDS} />
    <${Chart} title="Begun" says=${begunSaid(of.total)} slots=${began} parts=${BEGUN} />`;
}

/** @param {{of: Stats, phase: typeof PHASES[number], count: number}} props */
function Times({ of, phase, count }) {
  const { p50, p95, tasks } = of.total[phase.name];
  const says = tasks === 0 ? "no task did"
    : `p50 ${took(p50)}, p95 ${took(p95)} of ${tasks.toLocaleString()} ${tasks === 1 ? "task" : "tasks"}`;
  if (count === 1) return html`<div><p><strong>${phase.title}</strong></p><p>${says}</p></div>`;
  const slots = daysOf(of.items, count, (row) => [row?.[phase.name].p95 ?? 0, row?.[phase.name].p50 ?? 0]);
  return html`<${Chart} title=${phase.title} says=${`${says}, logarithmic`} slots=${slots} parts=${SHARES} isNested
    told=${told} />`;
}

/** @param {number} seconds */
const told = (seconds) => (seconds === 0 ? "–" : took(seconds));
