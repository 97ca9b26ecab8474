/** What of a handoff is unlike those of its direction that were approved before, and what of it can't be seen. */
import { pieces } from "./said.js";

/** `what`: where it stands. @typedef {{what: string, before: string, now: string, isOdd: boolean}} Change */
/** @typedef {{changes: Change[], hidden: {count: number, names: string[]}, mixed: string[], blank: number,
 *   first: string[]}} Unusual */
/** @typedef {Map<string, string | number | boolean>} Flat */

/** What is another one each time, and says nothing. */
const EACH_ITS_OWN = new Set(["handoff_id", "task_id", "digest", "revision", "timestamp", "url", "task_url", "state",
  "status", "kind", "completion", "failure", "snapshot", "checkpoint_id", "workflow_id", "parent_handoff",
  "depth", "hops"]);
const MOST_VALUES = 2_000;
const MANY_TIMES = 3;
/** Lines without anything on them, or blanks, behind which a text seems to end. */
const BLANK = /(?:[^\S\n]*\n){8,}|[^\S\n]{60,}/g;
const ADDRESS = /\b(?:https?:\/\/([\w.-]+)|[\w.+-]+@([\w-]+\.[\w.-]+))/giu;
const NUMBER = /^[^\d\p{L}]*-?(\d[\d.,'_\u00a0]*\d|\d)[^\d]*$/u;

/** Every value of it by its place. @param {unknown} value @param {string} [at] @param {Flat} [found] @returns {Flat} */
export function flat(value, at = "", found = new Map()) {
  if (found.size >= MOST_VALUES || value === null || value === undefined) return found;
  if (typeof value === "object") {
    for (const [name, each] of Object.entries(value)) {
      if (!EACH_ITS_OWN.has(name)) flat(each, at ? `${at}.${name}` : name, found);
    }
  } else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") found.set(at, value);
  return found;
}

/** The amount that a word says; null for a word. @param {unknown} word */
export function amountOf(word) {
  if (typeof word === "number") return word;
  const [, digits = ""] = NUMBER.exec(String(word)) ?? [];
  const plain = digits.replace(/[',_\u00a0](?=\d{3}(?!\d))|\.(?=\d{3}(?:\D|$)(?!.*\.\d{1,2}$))/g, "");
  return digits && Number.isFinite(Number(plain)) ? Number(plain) : null;
}

/** `before`: earlier ones, the newest first. @param {unknown} now @param {unknown[]} before @returns {Unusual} */
export function unusual(now, before) {
  const values = flat(now);
  const earlier = before.map((each) => flat(each));
  const changes = [...values].flatMap(([at, value]) => changesAt(at, value, earlier));
  const isMany = earlier.length > 1;
  const [last = new Map()] = earlier;
  const gone = [...last.keys()].filter((at) => !values.has(at) && earlier.every((each) => each.has(at)));
  const leftOut = (/** @type {string} */ at) =>
    ({ what: nameOf(at), before: short(last.get(at)), now: "left out", isOdd: isMany });
  changes.push(...gone.map(leftOut));
  const texts = [...values.values()].filter((each) => typeof each === "string");
  const marks = texts.flatMap((text) => pieces(text).flatMap((piece) => ("code" in piece ? [piece.name] : [])));
  return {
    changes,
    hidden: { count: marks.length, names: [...new Set(marks)] },
    mixed: mixedWords(texts),
    blank: texts.reduce((sum, text) => sum + [...text.matchAll(BLANK)].length, 0),
    first: newAddresses(texts, earlier),
  };
}

/** @param {string} at @param {string | number | boolean} value @param {Flat[]} earlier @returns {Change[]} */
function changesAt(at, value, earlier) {
  const had = earlier.map((each) => each.get(at)).filter((each) => each !== undefined);
  const last = had[0];
  if (earlier.length === 0 || last === value) return [];
  const change = { what: nameOf(at), before: short(last ?? "nothing"), now: short(value) };
  if (last === undefined) return earlier.length > 1 ? [{ ...change, isOdd: true }] : [];
  const isFixed = had.length > 1 && had.every((each) => each === last);
  if (typeof value === "string" && /\s/.test(value) && !isFixed) return changedWords(at, value, had.map(String));
  return [{ ...change, isOdd: isFixed || isOdd(value, had) }];
}

/** Always the same until now, or far from any of them. @param {unknown} value @param {unknown[]} had */
function isOdd(value, had) {
  const amounts = had.map(amountOf).filter((each) => each !== null);
  const amount = amountOf(value);
  if (had.length > 1 && had.every((each) => each === had[0])) return true;
  if (amount === null || amounts.length < had.length) return amount === null && amounts.length === had.length;
  return amount > MANY_TIMES * Math.max(...amounts) || (had.length === 1 && amount !== amounts[0]);
}

/** Texts of one pattern are compared word by word; of others, their largest amounts.
 * @param {string} at @param {string} value @param {string[]} had @returns {Change[]} */
function changedWords(at, value, had) {
  const words = value.split(/\s+/);
  const alike = had.map((text) => text.split(/\s+/)).filter((each) => each.length === words.length
    && each.filter((word, number) => word !== words[number]).length <= Math.max(2, words.length / 2));
  if (alike.length > 0) {
    return words.flatMap((word, number) => {
      const before = alike.map((each) => each[number] ?? "");
      const change = { what: nameOf(at), before: short(before[0]), now: short(word), isOdd: isOdd(word, before) };
      return before[0] === word ? [] : [change];
    });
  }
  const largest = (/** @type {string} */ text) => Math.max(0, ...text.split(/\s+/).map((word) => amountOf(word) ?? 0));
  const [most, before] = [largest(value), Math.max(...had.map(largest))];
  if (before === 0 || most <= MANY_TIMES * before) return [];
  return [{ what: nameOf(at), before: `at most ${before.toLocaleString()}`, now: most.toLocaleString(), isOdd: true }];
}

/** Hosts that no earlier one names. @param {string[]} texts @param {Flat[]} earlier */
function newAddresses(texts, earlier) {
  const hosts = (/** @type {Iterable<unknown>} */ some) => new Set([...some].flatMap((each) =>
    [...String(each).matchAll(ADDRESS)].map(([, host, domain]) => (host ?? domain ?? "").toLowerCase())));
  const known = hosts(earlier.flatMap((each) => [...each.values()]));
  return earlier.length === 0 ? [] : [...hosts(texts)].filter((host) => !known.has(host)).slice(0, 4);
}

/** Words with letters of two scripts that look alike. @param {string[]} texts */
export function mixedWords(texts) {
  const words = texts.flatMap((text) => text.match(/[\p{L}\p{M}]+/gu) ?? []);
  const isMixed = (/** @type {string} */ word) =>
    /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word);
  return [...new Set(words.filter(isMixed))].slice(0, 4);
}

/** The last name of a place. @param {string} at */
const nameOf = (at) => at.split(".").filter((part) => !/^\d+$/.test(part)).at(-1) ?? at;

/** @param {unknown} value */
function short(value) {
  const isNumber = typeof value === "number";
  const text = isNumber ? value.toLocaleString(undefined, { maximumFractionDigits: 20 }) : String(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text || "empty";
}
