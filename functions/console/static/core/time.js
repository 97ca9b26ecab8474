/** Times, as one reads them: relative, with the exact one at hand. */
import { signal } from "../lib.js";

/** Now, once a second while the page is looked at. */
export const now = signal(Date.now());
setInterval(() => { if (document.visibilityState === "visible") now.value = Date.now(); }, 1000);

const UNITS = /** @type {const} */ ([["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]]);

/** The two largest units of a length, such as `4 min` or `1 h 5 min`. @param {number} seconds */
export function length(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const at = UNITS.findIndex(([, size]) => whole >= size);
  const [unit, size] = UNITS[at] ?? UNITS[3];
  const next = UNITS[at + 1];
  const count = Math.floor(whole / size);
  const rest = next && next[1] >= 60 && count < 10 ? Math.floor((whole % size) / next[1]) : 0;
  return `${count} ${unit}${rest && next ? ` ${rest} ${next[0]}` : ""}`;
}

/** @param {string} at @param {number} [from] milliseconds */
export function relative(at, from = now.value) {
  const seconds = (from - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 3) return "now";
  return seconds > 0 ? `${length(seconds)} ago` : `in ${length(-seconds)}`;
}

/** In the reader's time zone, and by UTC. @param {string} at */
export function exact(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const here = time.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
  return `${here}\n${time.toISOString()}`;
}

/** What a field of type `datetime-local` holds. @param {Date} time */
export function asField(time) {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
