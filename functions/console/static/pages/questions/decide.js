/** Above a question: the rule, the buttons and the warnings. */
import { html, useMemo } from "../../lib.js";
import { reportOfQuestion } from "../../core/warnings.js";
import { Key } from "../../ui/parts.js";
import { Warnings } from "../../ui/warnings.js";
import { Who } from "./approvers.js";
import { mineOf } from "./mine.js";

/** @typedef {import("./list.js").Question} Question */
/** @typedef {import("./one.js").Act} Act */

/** @param {{why: string, isHopeless: boolean}} props */
export function Notes({ why, isHopeless }) {
  return html`${why && html`<p class="notice" role="note">${why}</p>`}
    ${isHopeless && html`<p class="notice" role="note">
      Nobody can decide it as things are: of those who may, too few are left. It ends by itself, unless its group has
      people again.
    </p>`}`;
}

/** The warnings about it. @param {{of: Question}} props */
export function Look({ of }) {
  const found = useMemo(() => reportOfQuestion(of), [of]);
  const first = `First use of this tool by ${of.agent}: nothing to compare with`;
  return html`<aside class="marks" aria-label="Look twice">
    <${Warnings} of=${found} first=${first} hasUsual=${false} />
  </aside>`;
}

/** How many people it needs, before the first decision. @param {{of: Question}} props */
export function Needed({ of }) {
  const rules = [of, .../** @type {any[]} */ (/** @type {any} */ (of).further ?? [])];
  if (of.needed === null || (rules.length === 1 && of.needed < 2)) return null;
  const mine = mineOf(of);
  return html`<p class="notice" role="note">
    ${rules.map((rule, at) => html`${at > 0 ? " And " : "It needs "}${rule.needed}${" "}
      ${of.kind === "action" ? "approvals" : "answers"} by <${Who} of=${rule} />.`)}
    ${` ${of.decisions.length} decided so far`}${mine ? ": you are one of them." : "."}
  </p>`;
}

/** @type {Record<Act, [string, string, string]>} */
const ACTS = {
  approve: ["Approve", "a", "primary"],
  reply: ["Answer", "a", "primary"],
  change: ["Edit arguments…", "e", ""],
  standing: ["Always allow…", "s", ""],
  refuse: ["Refuse", "x", "danger"],
};

/** @param {{of: Question, isLive: boolean, run: (act: Act) => void}} props */
export function Decide({ of, isLive, run }) {
  /** @type {Act[]} */
  const acts = of.kind === "action" ? ["approve", "change", "standing", "refuse"] : ["reply", "refuse"];
  const mine = mineOf(of);
  if (mine) {
    const again = of.kind === "action" ? "change" : "reply";
    return html`<div class="row acts" role="group" aria-label="Decide">
      <button type="button" class="primary" disabled=${!isLive} onClick=${() => run(again)}>
        Change your decision <${Key}>${ACTS[again][1]}<//></button>
      <button type="button" class="danger" disabled=${!isLive} onClick=${() => run("refuse")}>
        Refuse <${Key}>x<//></button>
    </div>`;
  }
  return html`<div class="row acts" role="group" aria-label="Decide">${acts.map((act) => {
    const [says, key, looks] = ACTS[act];
    return html`<button key=${act} type="button" class=${looks} disabled=${!isLive} onClick=${() => run(act)}>
      ${says} <${Key}>${key}<//>
    </button>`;
  })}</div>`;
}
