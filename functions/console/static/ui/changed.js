/** What differs between two values of JSON. */
import { html } from "../lib.js";
import { Said } from "./parts.js";

/** `was` or `is` undefined: it isn't there. @typedef {{at: string, was: unknown, is: unknown}} Change */

/** Every value that differs, by where it stands.
 * @param {unknown} was @param {unknown} is @param {string} [at] @returns {Change[]} */
export function changesOf(was, is, at = "") {
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  if (!isNested(was) || !isNested(is) || Array.isArray(was) !== Array.isArray(is)) return [{ at, was, is }];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].flatMap((name) => changesOf(own(was, name), own(is, name), `${at}${step(name)}`));
}

/** A number that keeps its spelling is an object, too, which has no prototype.
 * @param {unknown} value @returns {value is Record<string, unknown>} */
const isNested = (value) => typeof value === "object" && value !== null && Object.getPrototypeOf(value) !== null;

/** @param {Record<string, unknown>} of @param {string} name */
const own = (of, name) => (Object.hasOwn(of, name) ? of[name] : undefined);

/** @param {string} name */
function step(name) {
  if (/^[A-Za-z_]\w*$/.test(name)) return `.${name}`;
  return /^\d+$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`;
}

/** @param {{was: unknown, is: unknown}} props */
export function Changes({ was, is }) {
  return html`<ul class="changes">${changesOf(was, is).map((each) => html`<${One} key=${each.at} of=${each} />`)}</ul>`;
}

/** @param {{of: Change}} props */
function One({ of: { at, was, is } }) {
  const then = was === undefined ? html`<strong>new</strong>` : "now";
  return html`<li>
    <code><${Said} of=${at.replace(/^\./, "") || "all"} /></code>
    ${was !== undefined && html` was <del><${Value} of=${was} /></del>`}
    ${is === undefined ? html` <strong>gone</strong>` : html` ${then} <ins><${Value} of=${is} /></ins>`}
  </li>`;
}

/** @param {{of: unknown}} props */
const Value = ({ of }) => html`<${Said} of=${JSON.stringify(of, null, 2)} />`;
