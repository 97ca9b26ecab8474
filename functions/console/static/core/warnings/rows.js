/** Values beside earlier ones, and the elements of lists as wholes. */
import { amountOf, amountsOf, isBeyond, mostOf, range, unitOf } from "./amounts.js";
import { finding, short } from "./places.js";

/** @typedef {import("./places.js").Finding} Finding */
/** @typedef {import("./places.js").Scalar} Scalar */
/** An element of a list. @typedef {Map<string, Scalar>} Row */
/** The elements of each list by their place. @typedef {Map<string, Map<string, Row>>} Rows */
export const [FIXED_VALUE, FIXED_WORD] = [2, 3];

/** @param {Scalar} value @param {Scalar[]} had @param {number} fixed */
export function oddity(value, had, fixed) {
  if (had.includes(value)) return "";
  const amount = amountOf(value);
  const amounts = amountsOf(had);
  const isNumeric = amounts.length === had.length;
  if (amount !== null && isNumeric) {
    const isFixed = had.length >= fixed && new Set(amounts).size === 1;
    if (isFixed || isBeyond(amount, amounts)) return "amount";
    const units = new Set(had.map(unitOf));
    return had.length >= fixed && units.size === 1 && !units.has(unitOf(value)) ? "value" : "";
  }
  if ((amount === null && isNumeric) || (had.length >= fixed && new Set(had.map(String)).size === 1)) return "value";
  const shapes = new Set(had.map(shape));
  return had.length >= FIXED_WORD && shapes.size === 1 && !shapes.has(shape(value)) ? "value" : "";
}

/** @param {Scalar} value */
const shape = (value) => String(value).replace(/[A-Za-z\u0080-\u{10ffff}]+/gu, "a").replace(/[0-9]+/g, "9");

/** The values beside a known one, an element that is there more often, and a longer list; of objects.
 * @param {Rows} now @param {Rows[]} peers */
export function rowsOf(now, peers) {
  return [...now].flatMap(([name, rows]) => {
    const had = peers.map((each) => [...each.get(name)?.values() ?? []]).filter(({ length }) => length > 0);
    const before = had.flat();
    if (before.length === 0 || [...rows.values(), ...before].every(({ size }) => size === 1)) return [];
    const lengths = had.map(({ length }) => length);
    const most = mostOf(had.flatMap((each) => [...timesOf(each).values()]));
    const found = mostOf([rows.size, ...lengths]) > 1 ? [...rows].flatMap(([at, row]) => beside(at, row, before)) : [];
    const times = timesOf([...rows.values()]);
    for (const [at, row] of rows) {
      const number = times.get(textOf(row)) ?? 0;
      if (number > most) found.push(finding("amount", at, `${number} times`, `at most ${most}`));
      times.delete(textOf(row));
    }
    if (isBeyond(rows.size, lengths)) found.push(finding("amount", name, `${rows.size} elements`, range(lengths)));
    return found;
  });
}

/** Values that no earlier element had beside another value of this one, as an amount beyond a recipient's.
 * @param {string} at @param {Row} row @param {Row[]} before */
function beside(at, row, before) {
  /** @type {Map<string, Finding>} */
  const found = new Map();
  for (const [name, known] of row) {
    const same = amountOf(known) === null ? before.filter((each) => each.get(name) === known) : [];
    for (const [other, value] of row) {
      const had = /** @type {Scalar[]} */ (same.map((each) => each.get(other)));
      const isPlain = had.length > 0 && [value, ...had].every((each) => /^\S+$/.test(String(each ?? "")));
      const kind = other !== name && isPlain ? oddity(value, had, FIXED_VALUE) : "";
      const was = kind === "amount" ? range(had) : short(had[0]);
      if (kind && !found.has(other)) found.set(other, finding(kind, `${at}${other}`, short(value), was));
    }
  }
  return [...found.values()];
}

/** @param {Row[]} rows */
function timesOf(rows) {
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const each of rows.map(textOf)) times.set(each, (times.get(each) ?? 0) + 1);
  return times;
}

/** @param {Row} row */
const textOf = (row) => JSON.stringify([...row].map((each) => each.map(String)).sort());
