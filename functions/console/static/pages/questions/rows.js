/** Rows of agents' questions to people: the tool, the amount and the target of an action, how it differs from the last
 * approved one, its age and its end. */
import { html, signal } from "../../lib.js";
import { get } from "../../core/api.js";
import { useAhead } from "../../core/deferred.js";
import { onSignOut } from "../../core/session.js";
import { gistOf } from "../../core/warnings.js";
import { reportOfQuestion } from "../../core/warnings.js";
import { changesOf } from "../../ui/changed.js";
import { Ago, Left, Said } from "../../ui/parts.js";
import { Changed } from "../../ui/warnings.js";
import { pathOf } from "./acts.js";
import { mineOf, Tally } from "./mine.js";

/** @typedef {import("./list.js").Question} Question */

/** The number of actions that are compared without a click: a list has no earlier approvals. */
const MOST_READ = 40;

/** Actions by id and digest, as they were read alone; null while one is read.
 * @type {import("../../vendor/signals.js").Signal<ReadonlyMap<string, Question | null>>} */
const wholes = signal(new Map());
onSignOut(() => { wholes.value = new Map(); });

/** @param {Question} of */
const keyOf = ({ id, digest }) => `${id} ${digest}`;

/** Reads the first actions whole, once each. @param {Question[]} questions */
export function useWholes(questions) {
  const keys = questions.filter(({ kind }) => kind === "action").slice(0, MOST_READ).map(keyOf);
  useAhead(keys.join(" "),
    () => questions.filter((each) => keys.includes(keyOf(each)) && !wholes.value.has(keyOf(each))),
    async (each) => {
      const read = await get(pathOf(each));
      wholes.value = new Map([...wholes.value, [keyOf(each), read]]);
    });
}

/** @type {WeakMap<Question, ReturnType<typeof reportOfQuestion>>} */
const reports = new WeakMap();

/** Warnings about a question, as far as it was read. @param {Question} of */
function warningsOf(of) {
  const whole = of.kind === "action" ? wholes.value.get(keyOf(of)) : of;
  if (!whole) return null;
  const found = reports.get(whole) ?? reportOfQuestion(whole);
  reports.set(whole, found);
  return found;
}

/** The row of a question. @param {{of: Question}} props */
export function Row({ of }) {
  const isAction = of.kind === "action";
  const found = warningsOf(of);
  const given = of.decisions.length;
  const action = of.is_cut ? wholes.value.get(keyOf(of)) : of;
  return html`
    ${isAction && html`<span class="line theirs-line"><code class="theirs"><${Said} of=${of.tool} /></code>
      ${action?.arguments && html`<${Gist} of=${gistOf(action.arguments)} />`}
      ${of.is_cut && html`<span class="faint">long arguments: open it</span>`}
    </span>`}
    <span class="title theirs-line"><${Said} of=${of.text} /></span>
    ${isAction && html`<${Since} of=${of} />`}
    <span class="line faint">
      <${Said} of=${of.agent} /> <span>· asked <${Ago} at=${of.asked_at} /></span>
      <span>· ends in <${Left} at=${of.until} over="0: expired" /></span>
      <${Tally} needed=${of.needed} given=${given} mine=${Boolean(mineOf(of))}
        says=${isAction ? "approved" : "answered"} />
      ${found && found.warnings.length > 0 && html`<span class="flag">look twice</span>`}
    </span>`;
}

/** @param {{of: ReturnType<typeof gistOf>}} props */
export const Gist = ({ of }) => html`${of.map(({ at, now }) => html`<span class="theirs" key=${at}>
  <span class="faint"><${Said} of=${at} /></span> <${Said} of=${now} /></span>`)}`;

/** The differences between an action and the last approved action. @param {{of: Question}} props */
function Since({ of }) {
  const whole = wholes.value.get(keyOf(of));
  if (!whole) return null;
  if (!whole.before) return html`<span class="line faint">First use of this tool by this agent</span>`;
  const changes = changesOf(whole.before.arguments, whole.arguments);
  if (changes.length === 0) return html`<span class="line faint">Same arguments as the last approved</span>`;
  const written = (/** @type {unknown} */ value) => (value === undefined ? "" : shortened(value));
  return html`<span class="line faint">Since the last approved:
    ${changes.slice(0, 2).map(({ at, was, is }) => html` <${Changed} key=${at}
      of=${{ kind: "", at: at.replace(/^\./, ""), before: written(was), now: written(is) }} />`)}
    ${changes.length > 2 && html` <span>and ${changes.length - 2} more</span>`}
  </span>`;
}

/** @param {unknown} value */
function shortened(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
