/** The counters of the stream, as a page shows them; what ended, by agent or by direction, as a table. */
import { computed, html } from "../../lib.js";
import { address } from "../../core/router.js";
import { clock, dayName, now } from "../../core/time.js";
import { Said, Way } from "../../ui/parts.js";

/** @typedef {import("api").StatsRowView} Row */
/** @typedef {import("../../ui/chart.js").Slot} Slot */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
export const ENDS = [
  { class: "done", title: "done" }, { class: "failed", title: "failed" },
  { class: "other", title: "rejected or cancelled" },
];
/** @type {{name: "person" | "worker" | "work", title: string}[]} */
export const PHASES = [
  { name: "person", title: "Waited for a person" }, { name: "worker", title: "Waited for a worker" },
  { name: "work", title: "At work" },
];

/** A day of UTC, so many before today. @param {number} now milliseconds @param {number} [before] */
export const dayOf = (now, before = 0) => new Date(now - before * DAY_MS).toISOString().slice(0, 10);

/** The beginnings of the hour and of the day (UTC), in milliseconds: who shows counts is drawn anew by these, not each
 * second. */
export const hour = computed(() => Math.floor(now.value / HOUR_MS) * HOUR_MS);
export const today = computed(() => Math.floor(now.value / DAY_MS) * DAY_MS);

const UNITS = /** @type {[number, string][]} */ ([[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]]);

/** As exactly as it is known. @param {number | null} seconds */
export function took(seconds) {
  if (seconds === null) return "–";
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [0, ""];
  if (size === 0) return "under 1 s";
  const count = seconds / size;
  return `${count < 10 && size > 60 ? count.toFixed(1) : Math.round(count)} ${unit}`;
}

const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
/** @param {number} count */
export const tokens = (count) => (count > 0 ? SHORT.format(count) : "–");

/** @param {number} count @param {number} cents what a million costs; 0: unknown */
export const money = (count, cents) => (count > 0 && cents > 0
  ? (count * cents / 1e8).toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : "");

/** @param {Row} row */
export const ended = (row) => row.done + row.failed + row.rejected + row.cancelled;

/** Of those that were worked on to an end. @param {Row} row */
export function failures(row) {
  const whole = row.done + row.failed;
  return whole === 0 ? "–" : `${Math.round((100 * row.failed) / whole)} %`;
}

/** @param {Row | undefined} row */
const ends = (row) => (row ? [row.done, row.failed, row.rejected + row.cancelled] : [0, 0, 0]);

/** @param {Row | undefined} row */
export const begun = (row) => [row?.begun ?? 0];
/** @param {Row} row */
export const begunSaid = (row) => `${row.begun.toLocaleString()}, and ended within two days`;

/** The hours from this one on, those in which nothing ended too. @param {Row[]} rows @param {number} first
 * @param {number} count @param {(row: Row | undefined) => number[]} [of] @returns {Slot[]} */
export function hoursOf(rows, first, count, of = ends) {
  const known = new Map(rows.map((row) => [Date.parse(row.at ?? ""), row]));
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * HOUR_MS;
    return { name: clock(at), title: `${dayName(at)}, ${clock(at)}`, of: of(known.get(at)) };
  });
}

/** So many days up to today, with what `of` tells of each. @param {Row[]} rows @param {number} count
 * @param {(row: Row | undefined) => number[]} [of] @returns {Slot[]} */
export function daysOf(rows, count, of = ends) {
  const known = new Map(rows.map((row) => [(row.at ?? "").slice(0, 10), row]));
  return Array.from({ length: count }, (_, index) => {
    const day = dayOf(today.value, count - 1 - index);
    const name = dayName(day, "UTC");
    return { name, title: name, of: of(known.get(day)) };
  });
}

/** @param {Row} row */
export const said = (row) => `${row.done.toLocaleString()} done, ${row.failed.toLocaleString()} failed, `
  + `${(row.rejected + row.cancelled).toLocaleString()} rejected or cancelled`;

/** `cents`: what a million tokens cost, 0 if that isn't known.
 * @param {{of: Row[], isByAgent: boolean, cents: number}} props */
export function Rows({ of, isByAgent, cents }) {
  return html`<div class="numbers card" role="region" aria-label=${isByAgent ? "By agent" : "By direction"}
    tabindex="0"><table>
    <thead><tr>
      <th scope="col">${isByAgent ? "Agent" : "From → to"}</th>
      <th scope="col">Begun</th><th scope="col">Ended</th><th scope="col">Failed</th>
      <th scope="col">Rejected</th><th scope="col">Cancelled</th>
      ${PHASES.map((phase) => html`<th key=${phase.name} scope="col">${phase.title}<br />p50 / p95</th>`)}
      <th scope="col">Leases lost</th><th scope="col">Tried again</th><th scope="col">Tokens</th>
      ${cents > 0 && html`<th scope="col">Cost, about</th>`}
    </tr></thead>
    <tbody>${of.map((row) => html`<tr key=${`${row.source} ${row.target}`}>
      <th scope="row"><${Who} of=${row} isByAgent=${isByAgent} /></th>
      <td>${row.begun.toLocaleString()}</td><td>${ended(row).toLocaleString()}</td>
      <td class=${row.failed > 0 ? "bad" : ""}>
        ${row.failed.toLocaleString()} <span class="faint">${failures(row)}</span></td>
      <td>${row.rejected.toLocaleString()}</td><td>${row.cancelled.toLocaleString()}</td>
      ${PHASES.map((phase) => html`<td key=${phase.name}>
        ${took(row[phase.name].p50)} / ${took(row[phase.name].p95)}</td>`)}
      <td>${row.recoveries.toLocaleString()}</td><td>${row.retries.toLocaleString()}</td>
      <td>${tokens(row.tokens)}</td>
      ${cents > 0 && html`<td>${money(row.tokens, cents)}</td>`}
    </tr>`)}</tbody>
  </table></div>`;
}

/** @param {{of: Row, isByAgent: boolean}} props */
function Who({ of, isByAgent }) {
  if (!isByAgent) return html`<${Way} from=${of.source ?? ""} to=${of.target} />`;
  if (of.target === null) return html`<em>nobody took it</em>`;
  return html`<a href=${address(`/agents/${of.target}`)}><${Said} of=${of.target} /></a>`;
}
