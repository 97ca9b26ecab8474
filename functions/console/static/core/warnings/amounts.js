/** Amounts: numbers in values and in the words of texts. */

/** @typedef {import("./places.js").Scalar} Scalar */

const SCALES = new Map(Object.entries({ k: 1e3, thousand: 1e3, tsd: 1e3, lakh: 1e5, m: 1e6, mn: 1e6, mio: 1e6,
  million: 1e6, cror: 1e7, bn: 1e9, mrd: 1e9, milliard: 1e9, billion: 1e9, trillion: 1e12 }));
const MOST_WORDS = 3;
const PLURAL = "(?:e?[sn]|e)?";
const BLANK = String.raw` \u00a0\u2000-\u200a\u202f\u205f`;
/** Groups of three digits, and a blank between a number and its scale. */
const GROUPS = new RegExp(`(?<![0-9.,])[1-9][0-9]{0,2}(?:[${BLANK}'_\u00b4\u2019][0-9]{3})+(?![0-9])`, "gu");
const SPACED = new RegExp(`(?<=[0-9])[${BLANK}]+(?=(?:${[...SCALES.keys()].filter((each) => each[1]).join("|")})`
  + `${PLURAL}(?![A-Za-z]))`, "giu");
const AMOUNT = new RegExp(String.raw`^(?:[A-Z]{3}\s+|EUR|USD|GBP|CHF|JPY|INR)?(?:[^0-9A-Za-z\u0080-\u024f]|`
  + String.raw`[\u00a3-\u00a5])*?([\-\u2212]?)([0-9][0-9.,'_\u00a0]*[0-9]|[0-9])([A-Za-z]*)`
  + "(?:[^0-9A-Za-z][^0-9]*)?$", "u");
const ENDING = new RegExp(`(?<=.{4})${PLURAL}$`, "u");

/** @param {string} text */
const joined = (text) => text.replace(GROUPS, (found) => found.replace(/[^0-9]/g, "")).replace(SPACED, "");

/** The number that a value or a word means; null for a text without one, or with several. @param {unknown} value */
export function amountOf(value) {
  return typeof value === "number" ? value : typeof value === "string" ? read(joined(value.trim())) : null;
}

/** @param {string} text */
function read(text) {
  const found = AMOUNT.exec(text);
  if (!found) return null;
  const [, sign, digits = "", letters = ""] = found;
  const unit = letters.toLowerCase();
  const size = Number(plain(digits)) * (SCALES.get(unit) ?? SCALES.get(unit.replace(ENDING, "")) ?? 1);
  return sign ? -size : size;
}

/** The letters and currency signs of an amount. @param {unknown} value */
export const unitOf = (value) =>
  (typeof value === "string" ? joined(value).replace(/[^A-Za-z$%\u00a1-\u1fff\u2030-\uffff]/g, "") : "");

/** @param {string} digits */
function plain(digits) {
  const marks = digits.replace(/[0-9]/g, "");
  const last = marks ? Math.max(digits.lastIndexOf("."), digits.lastIndexOf(",")) : -1;
  const mark = digits[last] ?? "";
  let isDecimal = last > 0 && digits.split(mark).length === 2;
  if (isDecimal && new Set(marks).size === 1 && digits.length - last === 4 && digits.slice(0, last) !== "0") {
    isDecimal = false;
  }
  const whole = (isDecimal ? digits.slice(0, last) : digits).replace(/[^0-9]/g, "");
  return isDecimal ? `${whole}.${digits.slice(last + 1)}` : whole;
}

/** @param {string} text */
export const wordsOf = (text) => joined(text).split(/\s+/).filter((word) => word);

/** @param {string} text */
export const isAmount = (text) => amountOf(text) !== null && wordsOf(text).length <= MOST_WORDS;

/** @param {Scalar[]} values */
export const amountsOf = (values) => values.map(amountOf).filter((each) => each !== null);

/** The amounts that the words of a text mean, as they stand and joined. @param {string} text */
export const amountsIn = (text) =>
  `${text} ${joined(text)}`.split(/\s+/).map(read).filter((each) => each !== null);

/** The largest of one or more amounts. @param {number[]} amounts */
export const mostOf = (amounts) => amounts.reduce((one, other) => Math.max(one, other));

/** An amount outside of the range of the earlier ones. The margin above the largest is as wide as there are few of
 * them: twice the largest after one, 1.05 times after twenty. Below, it is a tenth of the smallest, or below zero.
 * @param {number} amount @param {number[]} earlier */
export function isBeyond(amount, earlier) {
  if (earlier.length === 0) return false;
  const [largest, smallest] = [mostOf(earlier), -mostOf(earlier.map((each) => -each))];
  if (amount < 0 && smallest >= 0) return true;
  return amount > largest + Math.abs(largest) / earlier.length || (amount >= 0 && amount < smallest / 10);
}

/** @param {Scalar[]} values */
export function range(values) {
  const amounts = amountsOf(values);
  const [least, most] = [-mostOf(amounts.map((each) => -each)), mostOf(amounts)];
  return least === most ? String(least) : `${least} to ${most}`;
}
