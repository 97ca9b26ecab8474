/** Where one begins: what waits for a person, what is stuck, what the last day brought. */
import { html } from "../lib.js";
import { useSlow } from "../core/dear.js";
import { useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { many } from "../core/waiting.js";
import { urgentFirst } from "./alerts.js";
import { dayOf, ended, ENDS, hour, hoursOf, PHASES, today, took } from "./stats/counts.js";
import { Chart } from "../ui/chart.js";
import { Ago, Empty, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {{data: {items: any[], next_cursor: string | null} | null, problem: unknown, isLoading: boolean}} Page */

const OFTEN = { everyMs: 5000, isFirst: true };
const SELDOM = { everyMs: 10_000, isFirst: true };

export default function Start() {
  const needs = /** @type {Page} */ (useLive("/tasks?state=needs&limit=100", OFTEN));
  const questions = /** @type {Page} */ (useLive("/questions?limit=100", OFTEN));
  const reviews = /** @type {Page} */ (useLive("/manual-reviews?state=open&limit=100", SELDOM));
  const alerts = /** @type {Page} */ (useLive("/alerts?state=open&snoozed=false&limit=100", SELDOM));
  const critical = alerts.data?.items.filter((alert) => alert.severity === "critical").length ?? 0;
  return html`<h1>Start</h1>
    <section aria-label="What waits for a person">
      <ul class="tiles">
        <${Tile} to="/approvals" title="to approve" list="needs" of=${needs}
          oldest=${needs.data?.items.map((task) => task.created_at).sort()[0]} />
        ${questions.data && html`<${Tile} to="/approvals" title="questions" list="questions" of=${questions}
          oldest=${questions.data.items[0]?.asked_at} />`}
        <${Tile} to="/reviews" title="manual reviews" list="reviews" of=${reviews}
          oldest=${reviews.data?.items.map((review) => review.opened_at).sort()[0]} />
        <${Tile} to="/alerts" title="open alerts" list="alerts" of=${alerts}
          says=${critical > 0 ? `${critical} critical` : ""} />
      </ul>
    </section>
    <${Day} />
    <${Stuck} of=${alerts} />`;
}

/** Shows the navigation's number, once more than a page was counted.
 * @param {{to: string, title: string, list: Parameters<typeof many>[0], of: Page, oldest?: string | undefined,
 *   says?: string}} props */
function Tile({ to, title, list, of, oldest, says = "" }) {
  const count = of.data?.items.length ?? 0;
  return html`<li class=${`tile ${count > 0 ? "some" : ""}`}>
    <a href=${address(to)}>
      <strong>${!of.data ? (of.isLoading ? "…" : "?")
      : of.data.next_cursor ? many(list) || `${count}+` : count}</strong>${" "}
      ${count === 1 ? title.replace(/s$/, "") : title}
    </a>
    <span class="faint">${says || (oldest ? html`the oldest <${Ago} at=${oldest} />`
      : of.data ? "nothing waits"
      : of.problem ? "can't be read now" : "")}</span>
  </li>`;
}

/** Open alerts about tasks, the gravest first, then the oldest: what waits too long, was lost too often, or needs a
 * person's word. @param {{of: Page}} props */
function Stuck({ of }) {
  const stuck = urgentFirst((of.data?.items ?? []).filter((alert) => alert.task_id)
    .sort((one, other) => Date.parse(one.raised_at) - Date.parse(other.raised_at)));
  return html`<section class="card" aria-labelledby="stuck">
    <h2 id="stuck">What is stuck</h2>
    <${Trouble} of=${of.problem} what="The alerts can't be read." />
    ${stuck.length > 0
      ? html`<ul class="log">${stuck.slice(0, 20).map((alert) => html`<li key=${alert.id}>
          <span class=${`severity ${alert.severity}`}>${alert.severity}</span>${" "}
          <a href=${address(`/tasks/${alert.task_id}`)}>${alert.kind.replaceAll("_", " ")}</a>${" "}
          <${Said} of=${alert.message} /> <span class="faint"><${Ago} at=${alert.raised_at} /></span>
        </li>`)}</ul>`
      : of.data && html`<${Empty} title="Nothing is stuck">
          <p>A task that nobody takes, that waits too long for others or was lost too often raises an alert, and stands
            here until the alert is resolved.</p>
        <//>`}
  </section>`;
}

/** @typedef {import("api").StatsView} Stats */

const HOURS = 24;
const SELDOM_MS = 30_000;

function Day() {
  const days = `from=${dayOf(today.value, 1)}&to=${dayOf(today.value)}`;
  const { data, problem, isLoading } = useSlow(`/stats?${days}&by=hour`, SELDOM_MS);
  const stats = /** @type {Stats | null} */ (data);
  const first = hour.value - (HOURS - 1) * 3_600_000;
  const slots = hoursOf(stats?.items ?? [], first, HOURS);
  const [done, failed, other] = [0, 1, 2].map((at) => slots.reduce((sum, slot) => sum + (slot.of[at] ?? 0), 0));
  const says = `${told(done)} done, ${told(failed)} failed, ${told(other)} rejected or cancelled`;
  return html`<section class="card" aria-labelledby="day">
    <h2 id="day">The last day</h2>
    <${Trouble} of=${problem} what="The counters can't be read." />
    ${isLoading && html`<${Loading} />`}
    ${stats && html`<div class="charts">
        <${Chart} title="Ended" says=${says} slots=${slots} parts=${ENDS} />
        <dl class="facts">${PHASES.map((phase) => html`<div key=${phase.name}>
          <dt>${phase.title}</dt>
          <dd>${times(stats.total[phase.name])}</dd>
        </div>`)}</dl>
      </div>
      <p class="faint">Each task counts once, in the hour of its end; how long it took is of${" "}
        ${ended(stats.total).toLocaleString()} that ended yesterday or today (UTC).${" "}
        <a href=${address("/stats")}>How it goes</a>,${" "}
        <a href=${address("/tasks")}>the tasks of today</a>${(failed ?? 0) > 0 && html`,${" "}
        <a href=${address("/tasks", { state: "failed" })}>those that failed</a>`}.</p>`}
  </section>`;
}

/** @param {number | undefined} count */
const told = (count) => (count ?? 0).toLocaleString();

/** @param {import("api").WaitsView} of */
const times = (of) => (of.tasks === 0 ? "none did" : `p50 ${took(of.p50)}, p95 ${took(of.p95)}`);
