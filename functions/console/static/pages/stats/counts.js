/** The counters of the stream, as a page shows them. */
import { computed } from "../../lib.js";
import { clock, dayName, now } from "../../core/time.js";

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
