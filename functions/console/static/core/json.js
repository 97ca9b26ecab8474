/** JSON whose long numbers keep their spelling. */

const LONG_NUMBER = /[:[,]\s*-?[\d.]{16}/;
const { rawJSON } = /** @type {{rawJSON?: (text: string) => unknown}} */ (/** @type {unknown} */ (JSON));

/** A number that a browser would round, such as an account of 20 digits, keeps its spelling: `JSON.stringify` writes it
 * as it came. Raises SyntaxError. @param {string} text @returns {any} */
export function parsed(text) {
  return JSON.parse(text, rawJSON && LONG_NUMBER.test(`:${text}`) ? /** @type {any} */ (exactly) : undefined);
}

/** @param {string} _ @param {unknown} value @param {{source?: string}} [context] */
function exactly(_, value, { source = "" } = {}) {
  return typeof value === "number" && source.length > 15 && String(value) !== source ? rawJSON?.(source) : value;
}
