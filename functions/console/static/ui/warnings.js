/** The warnings about a request, above its content. A text of its author is in a frame of its own (`theirs`): it never
 * runs on from the page's words. */
import { html } from "../lib.js";
import { Said } from "./parts.js";

/** @typedef {import("../core/warnings.js").Finding} Finding */
/** @typedef {import("../core/warnings.js").Report} Report */

/** A kind's words, and the word before an earlier value. @type {Record<string, [string, string]>} */
const KINDS = {
  confusable: ["Confusable name", "looks like"],
  hidden: ["Hidden characters", ""],
  alphabets: ["Mixed alphabets in one word", ""],
  lookalike: ["A word that looks like another one", "looks like"],
  gap: ["Text continues after a long blank gap", ""],
  uninspected: ["Too much text to inspect: characters that weren't inspected", ""],
  uncompared: ["Too much to compare: values that weren't compared", ""],
  revised: ["Changed since it arrived: revision", ""],
  asker: ["New requester", "so far"],
  unlike: ["Unlike the earlier approved requests: number compared", ""],
  address: ["New address", ""],
  account: ["New account", ""],
  path: ["File outside the earlier folders", "so far in"],
  command: ["New command or query syntax", ""],
  amount: ["Amount outside the earlier range", "so far"],
  mismatch: ["Amount that the text doesn't repeat", ""],
  value: ["Unusual value", "so far"],
  added: ["New field", ""],
  removed: ["Missing field", "was"],
};
const MOST_OF_A_KIND = 3;
const MOST_LISTED = 100;
const MOST_USUAL = 6;

/** `first`: the sentence for a request that nothing can be compared with. `hasUsual`: other differences follow.
 * @param {{of: Report, first: string, hasUsual?: boolean}} props */
export function Warnings({ of, first, hasUsual = true }) {
  const kinds = [...new Set(of.warnings.map(({ kind }) => kind))];
  return html`${kinds.length > 0 && html`<ul class="notice">
      ${kinds.map((kind) => html`<${Kind} key=${kind} says=${kind === "first" ? first : KINDS[kind]?.[0] ?? kind}
        before=${KINDS[kind]?.[1] ?? ""} of=${of.warnings.filter((each) => each.kind === kind)} />`)}
      ${of.notable.length > 0 && html`<${Kind} says="It refers to" before="" of=${of.notable} />`}
    </ul>`}
    ${hasUsual && of.compared > 0 && html`<${Usual} of=${of} />`}`;
}

/** @param {{says: string, before: string, of: Finding[]}} props */
function Kind({ says, before, of }) {
  const [some, others] = [of.slice(0, MOST_OF_A_KIND), of.slice(MOST_OF_A_KIND)];
  const one = (/** @type {Finding} */ each) => html`<${Place} of=${each} before=${before} />`;
  return html`<li><strong>${says}</strong> ${some.map(one)}
    ${others.length > 0 && html`<details>
      <summary>and ${others.length.toLocaleString()} more</summary>
      ${others.slice(0, MOST_LISTED).map(one)}
      ${others.length > MOST_LISTED && html`<p>The first ${MOST_LISTED} of them are listed.</p>`}
    </details>`}
  </li>`;
}

/** @param {{of: Finding, before: string}} props */
function Place({ of: { at, now, before: was }, before }) {
  if (!at && !now) return null;
  return html`<span class="theirs">
    ${at && html`<code><${Said} of=${at} /></code>`}${" "}
    ${now && html`<${Said} of=${now} />`}
  </span>${was && before && html` ${before} <span class="theirs"><${Said} of=${was} /></span>`} `;
}

/** Differences from the most similar earlier request that aren't warnings. @param {{of: Report}} props */
function Usual({ of: { usual, compared, warnings } }) {
  const them = compared === 1 ? "the one approved before" : `the last ${compared} approved`;
  if (usual.length === 0) {
    return html`<p class="faint">${warnings.length > 0 ? "Otherwise matches" : "Matches"} the most similar of
      ${" "}${them}.</p>`;
  }
  const some = usual.slice(0, MOST_USUAL);
  return html`<p class="faint">Different from the most similar of ${them}:${" "}
    ${some.map((each) => html`<${Changed} of=${each} /> `)}
    ${usual.length > some.length && `and ${usual.length - some.length} more`}
  </p>`;
}

/** @param {{of: Finding}} props */
export const Changed = ({ of: { at, before, now } }) => html`<span class="theirs">
  <code><${Said} of=${at.split(".").at(-1) ?? at} /></code>${" "}
  ${before && html`<del><${Said} of=${before} /></del> → `}
  ${now ? html`<ins><${Said} of=${now} /></ins>` : html`<strong>removed</strong>`}
</span>`;
