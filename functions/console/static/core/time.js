/** Times, as one reads them: relative, with the exact one at hand, in the zone of `zone.js`. */
import { signal } from "../lib.js";
import { isZone, zone } from "./zone.js";

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

const FULL = /** @type {const} */ ({ dateStyle: "full", timeStyle: "long" });
const CLOCK = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DAY = /** @type {const} */ ({ day: "numeric", month: "short" });
const PARTS = /** @type {const} */ ({ ...CLOCK, year: "numeric", month: "2-digit", day: "2-digit", second: "2-digit" });

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {Intl.DateTimeFormatOptions} how @param {string} [of] a zone @param {string} [locale] the reader's, else */
function format(how, of = zone.value, locale = undefined) {
  const key = JSON.stringify([how, of, locale]);
  const found = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...how, timeZone: of });
  formats.set(key, found);
  return found;
}

/** The whole of it, in a zone. @param {string} at @param {string} [of] */
export function exactIn(at, of = zone.value) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  if (of === "UTC") return time.toISOString();
  return isZone(of) ? format(FULL, of).format(time) : "this browser doesn't know it";
}

/** In the reader's zone, and by UTC. @param {string} at */
export const exact = (at) => [...new Set([exactIn(at), exactIn(at, "UTC")])].join("\n");

/** The time of today, else the day with it. @param {string} at */
export function brief(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const [day, today] = [asField(time), asField(new Date())].map((text) => text.slice(0, 10));
  if (day === today) return format({ ...CLOCK, second: "2-digit" }).format(time);
  return format({ ...DAY, ...CLOCK, ...(day?.slice(0, 4) !== today?.slice(0, 4) && { year: "2-digit" }) }).format(time);
}

/** @param {number | string} at */
export const clock = (at) => format(CLOCK).format(new Date(at));
/** @param {number | string} at @param {string} [of] */
export const dayName = (at, of) => format(DAY, of).format(new Date(at));
/** @param {string} at */
export const dayAndClock = (at) => format({ dateStyle: "long", timeStyle: "short" }).format(new Date(at));

/** How far the zone's clocks are ahead of UTC. @param {number} at milliseconds */
function ahead(at) {
  const { year, month, day, hour, minute, second } = /** @type {Record<string, string>} */ (
    Object.fromEntries(format(PARTS, zone.value, "en-US").formatToParts(at).map((part) => [part.type, part.value])));
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - 1000 * Math.floor(at / 1000);
}

/** What a field of type `datetime-local` holds, in the reader's zone. @param {Date} time */
export function asField(time) {
  return new Date(time.getTime() + ahead(time.getTime())).toISOString().slice(0, 16);
}

/** What such a field says, for the API. @param {string} text */
export function fromField(text) {
  const as = Date.parse(`${text}Z`);
  return new Date(as - ahead(as - ahead(as))).toISOString();
}

/** Nine in the morning, so many days from now. @param {number} days */
export const morning = (days) => fromField(`${asField(new Date(Date.now() + days * 86_400_000)).slice(0, 10)}T09:00`);
