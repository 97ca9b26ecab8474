/** A request compared with earlier approved ones of the same pair. */
import { amountOf, amountsIn, amountsOf, isAmount, isBeyond, mostOf, range, wordsOf } from "./amounts.js";
import { finding, short } from "./places.js";
import { FIXED_VALUE, FIXED_WORD, oddity, rowsOf } from "./rows.js";

/** @typedef {import("./places.js").Finding} Finding */
/** @typedef {import("./places.js").Leaf} Leaf */
/** @typedef {import("./places.js").Scalar} Scalar */
/** The values of a request by their field, and the words and fields for comparing it.
 * @typedef {{size: number, fields: Map<string, Leaf[]>, tokens: Set<string>, amounts: Set<number>,
 *   rows: Map<string, Map<string, import("./rows.js").Row>>}} Flat */
/** A difference, and whether it is a warning: unlike every peer. @typedef {[Finding, boolean]} Difference */

export const MOST_VALUES = 5_000;
/** Below this similarity an earlier request isn't compared; peers are nearly as similar as the most similar one. */
const [LEAST_ALIKE, PEER_SHARE] = [0.3, 0.75];
const WORD = /[0-9A-Za-z_\u0080-\u{10ffff}]+/gu;

/** @param {Leaf[]} leaves @returns {Flat} */
export function flatOf(leaves) {
  /** @type {Flat} */
  const flat = { size: leaves.length, fields: new Map(), tokens: new Set(), amounts: new Set(), rows: new Map() };
  for (const leaf of leaves.slice(0, MOST_VALUES)) {
    const known = flat.fields.get(leaf.field);
    if (known) known.push(leaf);
    else flat.fields.set(leaf.field, [leaf]);
    const end = leaf.field.lastIndexOf("[]");
    if (end >= 0) {
      const [name, rest] = [leaf.field.slice(0, end), leaf.field.slice(end + 2)];
      const at = leaf.at.slice(0, leaf.at.length - rest.length);
      const rows = flat.rows.get(name) ?? new Map();
      flat.rows.set(name, rows.set(at, (rows.get(at) ?? new Map()).set(rest, leaf.value)));
    }
    flat.tokens.add(`${leaf.field}=`);
    if (typeof leaf.value === "string") {
      for (const word of leaf.value.match(WORD) ?? []) flat.tokens.add(word.toLowerCase());
      if (/\s/.test(leaf.value)) for (const amount of amountsIn(leaf.value)) flat.amounts.add(amount);
    }
  }
  return flat;
}

/** @param {Flat} one @param {Flat} other */
function similarity(one, other) {
  const both = [...one.tokens].filter((each) => other.tokens.has(each)).length;
  const either = one.tokens.size + other.tokens.size - both;
  return either ? both / either : 1;
}

/** The numbers of the most similar earlier request and of others that are nearly as similar or have the same fields;
 * none if the most similar one is below LEAST_ALIKE and has other fields. @param {Flat} now @param {Flat[]} earlier */
export function peersOf(now, earlier) {
  const shares = earlier.map((each) => similarity(now, each));
  const best = Math.max(0, ...shares);
  const least = best >= LEAST_ALIKE ? PEER_SHARE * best : 1;
  const isSame = (/** @type {Flat} */ { fields }) =>
    fields.size === now.fields.size && [...fields.keys()].every((each) => now.fields.has(each));
  return shares.map((share, at) => ({ share, at }))
    .filter(({ share, at }) => share >= least || isSame(/** @type {Flat} */ (earlier[at])))
    .sort((one, other) => other.share - one.share || one.at - other.at).map(({ at }) => at);
}

/** Each difference from the most similar request. @param {Flat} now @param {Flat[]} peers @returns {Difference[]} */
export function differences(now, peers) {
  const isMany = peers.length >= FIXED_VALUE;
  const changed = [...now.fields].flatMap(([field, found]) => {
    const had = peers.flatMap(({ fields }) => [fields.get(field)?.map(({ value }) => value)].filter((each) => each));
    const all = /** @type {Scalar[][]} */ (had);
    if (all.length === 0) return [];
    const isOne = found.length === 1 && all.every((each) => each.length === 1);
    return isOne ? changeOf(/** @type {Leaf} */ (found[0]), all.flat()) : changesOfList(field, found, all);
  });
  const gone = [...peers[0]?.fields ?? []].filter(([field]) => !now.fields.has(field)).map(([field, [first]]) => {
    const isUsual = isMany && peers.every(({ fields }) => fields.has(field));
    return /** @type {Difference} */ ([finding("removed", first?.at ?? "", "", short(first?.value)), isUsual]);
  });
  const added = addedTo(now, peers).map((each) => /** @type {Difference} */ ([each, isMany]));
  const found = [...added, ...changed, ...gone, ...mismatches(now, peers)];
  const warned = new Set(found.map(([{ at }, isWarning]) => isWarning && at));
  const ofRows = rowsOf(now.rows, peers.map(({ rows }) => rows)).filter(({ at }) => !warned.has(at));
  return [...found, ...ofRows.map((each) => /** @type {Difference} */ ([each, true]))];
}

/** @param {Flat} now @param {Flat[]} peers */
function addedTo(now, peers) {
  if (peers.length === 0) return [];
  const known = new Set(peers.flatMap(({ fields }) => [...fields.keys()].flatMap(partsOf)));
  /** @type {Map<string, Leaf[]>} */
  const added = new Map();
  for (const [field, found] of now.fields) {
    if (known.has(field)) continue;
    const part = partsOf(field).find((each) => !known.has(each)) ?? field;
    const before = added.get(part);
    if (before) before.push(...found);
    else added.set(part, [...found]);
  }
  return [...added].map(([part, [first, ...others]]) => (others.length > 0
    ? finding("added", part, `${others.length + 1} values`)
    : finding("added", first?.at ?? part, short(first?.value))));
}

/** @param {string} field */
const partsOf = (field) => [...[...field.matchAll(/(?!^)[.[]/g)].map(({ index }) => field.slice(0, index)), field];

/** @param {Leaf} leaf @param {Scalar[]} had @returns {Difference[]} */
function changeOf({ at, value }, had) {
  const last = /** @type {Scalar} */ (had[0]);
  if (value === last) return [];
  const isText = typeof value === "string" && /\s/.test(value) && had.every((each) => typeof each === "string");
  if (isText && !had.every(isAmount)) return changedWords(at, value, had);
  const kind = oddity(value, had, FIXED_VALUE);
  return [[finding(kind || "value", at, short(value), kind === "amount" ? range(had) : short(last)), kind !== ""]];
}

/** @param {string} at @param {string} text @param {string[]} had @returns {Difference[]} */
function changedWords(at, text, had) {
  const words = wordsOf(text);
  const isFixed = had.length >= FIXED_VALUE && new Set(had).size === 1;
  const alike = had.map(wordsOf).filter((each) => each.length === words.length
    && each.filter((word, number) => word !== words[number]).length <= Math.max(2, words.length / 2));
  if (alike.length === 0 && isFixed) return [[finding("value", at, short(text), short(had[0])), true]];
  if (alike.length === 0) return largerAmount(at, text, had);
  return words.flatMap((word, number) => {
    const before = alike.map((each) => each[number] ?? "");
    if (before[0] === word) return [];
    const kind = oddity(word, before, isFixed ? FIXED_VALUE : FIXED_WORD);
    const was = kind === "amount" ? range(before) : short(before[0]);
    return [/** @type {Difference} */ ([finding(kind || "value", at, short(word), was), kind !== ""])];
  });
}

/** @param {string} at @param {string} text @param {string[]} had @returns {Difference[]} */
function largerAmount(at, text, had) {
  const [most = 0, ...before] = [text, ...had].map((each) => mostOf([0, ...amountsIn(each)]));
  const largest = mostOf(before);
  if (most && largest && isBeyond(most, before) && most > largest) {
    return [[finding("amount", at, String(most), `at most ${largest}`), true]];
  }
  return [[finding("value", at, short(text), short(had[0])), false]];
}

/** @param {string} field @param {Leaf[]} found @param {Scalar[][]} had @returns {Difference[]} */
function changesOfList(field, found, had) {
  const known = new Set(had.flat().map(String));
  const sorted = new Set(had.map((each) => JSON.stringify(each.map(String).sort())));
  const isFixed = had.length >= FIXED_VALUE && sorted.size === 1;
  const amounts = amountsOf(had.flat());
  const added = found.filter(({ value }) => !known.has(String(value))).map(({ at, value }) => {
    const amount = amountOf(value);
    const isLarge = amounts.length === had.flat().length && (amount === null || isBeyond(amount, amounts));
    const was = isLarge ? range(amounts) : "nothing";
    return /** @type {Difference} */ (
      [finding(isLarge && amount !== null ? "amount" : "value", at, short(value), was), isFixed || isLarge]);
  });
  const mine = new Set(found.map(({ value }) => String(value)));
  const gone = [...new Set((had[0] ?? []).map(String))].filter((value) => !mine.has(value))
    .map((value) => /** @type {Difference} */ ([finding("removed", field, "", short(value)), isFixed]));
  return [...added, ...gone];
}

/** @param {Flat} now @param {Flat[]} peers @returns {Difference[]} */
function mismatches(now, peers) {
  return [...now.fields].flatMap(([field, [first, second]]) => {
    const amount = first && !second && !/\s/.test(String(first.value)) ? amountOf(first.value) : null;
    const had = peers.filter(({ fields }) => fields.has(field));
    if (!first || amount === null || now.amounts.has(amount) || had.length < FIXED_VALUE) return [];
    const isRepeated = had.every(({ fields, amounts }) => {
      const [value, another] = fields.get(field) ?? [];
      const before = value && !another ? amountOf(value.value) : null;
      return before !== null && amounts.has(before);
    });
    return isRepeated ? [/** @type {Difference} */ ([finding("mismatch", first.at, short(first.value)), true])] : [];
  });
}
