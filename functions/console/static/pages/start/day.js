/** What the last day brought, by the counters of the stream. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { useSlow } from "../../core/slow.js";
import { Chart } from "../../ui/chart.js";
import { Loading, Trouble } from "../../ui/parts.js";
import { dayOf, ENDS, ended, hour, hoursOf, PHASES, today, took } from "../stats/counts.js";

/** @typedef {import("api").StatsView} Stats */

const HOURS = 24;
const SELDOM_MS = 30_000;

export function Day() {
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
