/** Places of a JSON document: each value with its full path, each text to inspect, and each warning. */

/** @typedef {string | number | boolean} Scalar */
/** A value and its place. `at`: the full path (`arguments.paths[41]`); `field`: the path without the numbers of list
 * elements (`arguments.paths[]`). @typedef {{at: string, field: string, value: Scalar}} Leaf */
/** A text to inspect: a value, or the name of a field of the object at `parent`.
 * @typedef {{at: string, text: string, parent: string | null}} Text */

const PLAIN_NAME = /^[A-Za-z_][0-9A-Za-z_-]*$/;

/** Each value that isn't null. `leftOut`: full paths to leave out, with everything below them.
 * @param {unknown} value @param {ReadonlySet<string>} leftOut @param {string} [at] @param {Leaf[]} [found]
 * @returns {Leaf[]} */
export function leaves(value, leftOut, at = "", found = []) {
  if (leftOut.has(at) || value === null || value === undefined) return found;
  const plain = unwrapped(value);
  if (typeof plain === "object" && plain !== null) {
    for (const [place, each] of children(plain, at)) leaves(each, leftOut, place, found);
  } else found.push({ at, field: at.replace(/\[[0-9]+\]/g, "[]"), value: /** @type {Scalar} */ (plain) });
  return found;
}

/** Each text and each field name of the document. `leftOut`: as of `leaves`.
 * @param {unknown} value @param {ReadonlySet<string>} [leftOut] @param {string} [at] @param {Text[]} [found]
 * @returns {Text[]} */
export function texts(value, leftOut = new Set(), at = "", found = []) {
  if (leftOut.has(at)) return found;
  const plain = unwrapped(value);
  if (typeof plain === "string") found.push({ at, text: plain, parent: null });
  else if (typeof plain === "object" && plain !== null) {
    for (const [place, each, name] of children(plain, at)) {
      if (name !== null) found.push({ at: place, text: name, parent: at });
      texts(each, leftOut, place, found);
    }
  }
  return found;
}

/** @param {object} value @param {string} at @returns {[string, unknown, string | null][]} */
const children = (value, at) => (Array.isArray(value)
  ? value.map((each, number) => [`${at}[${number}]`, each, null])
  : Object.entries(value).map(([name, each]) => [joined(at, name), each, name]));

/** The path of a field. A name that could be taken for more than a name is written as JSON.
 * @param {string} at @param {string} name */
function joined(at, name) {
  if (!PLAIN_NAME.test(name)) return `${at}[${JSON.stringify(name)}]`;
  return at ? `${at}.${name}` : name;
}

/** A long number, which keeps its spelling as an object (core/json.js), as text. @param {unknown} value */
function unwrapped(value) {
  const isRaw = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null
    && "rawJSON" in value;
  return isRaw ? String(value.rawJSON) : value;
}

/** A warning. `at`: the full path of the place. `now` and `before`: the new and the earlier value, shortened.
 * @typedef {{kind: string, at: string, now: string, before: string}} Finding */

/** Kinds in the order of display. Hidden and misleading texts come first. */
export const KINDS = ["hidden", "alphabets", "lookalike", "gap", "uninspected", "uncompared", "first", "unlike",
  "address", "account", "path", "command", "amount", "mismatch", "value", "added", "removed"];

const LONGEST = 60;

/** @param {string} kind @param {string} at @param {string} [now] @param {string} [before] @returns {Finding} */
export const finding = (kind, at, now = "", before = "") => ({ kind, at, now, before });

/** Each finding once, by its kind. @param {Finding[]} found */
export function inOrder(found) {
  const each = new Map(found.map((one) => [JSON.stringify([one.kind, one.at, one.now, one.before]), one]));
  return [...each.values()].sort((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind));
}

/** @param {unknown} value */
export function short(value) {
  const letters = [...String(value)];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : letters.join("");
}
