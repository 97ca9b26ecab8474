/** What agents ask people in the middle of their work, as a list: what is over soonest comes first. */
import { html } from "../../lib.js";
import { useList } from "../../core/live.js";
import { decided } from "../../core/pending.js";
import { Left, Said } from "../../ui/parts.js";

/** `before`: of one that was read alone.
 * @typedef {import("api").QuestionView & {before?: import("api").BeforeView | null}} Question */

const SHOWN = 300;

/** Open ones that fit the words, those that are over soonest first; `all`: how many there are. @param {string} words */
export function useQuestions(words) {
  const { data, problem } = useList("/questions", { most: SHOWN, everyMs: 5000 });
  const open = /** @type {Question[]} */ (data?.items ?? []).filter((each) => !decided.value.has(each.id));
  const questions = open.filter((each) => fits(each, words)).sort(bySoonest);
  return { questions, all: open.length, more: data?.more ?? false, problem: problem?.status === 404 ? null : problem };
}

/** @param {Question} one @param {Question} other */
const bySoonest = (one, other) =>
  Date.parse(one.until) - Date.parse(other.until) || Date.parse(one.asked_at) - Date.parse(other.asked_at);

/** @param {Pick<Question, "kind">} question */
const wordOf = ({ kind }) => (kind === "action" ? "action" : "question");

/** @param {Question} of @param {string} words */
function fits(of, words) {
  const said = [wordOf(of), of.tool ?? "", of.text, of.agent, of.asked_by, of.id, of.task_id].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => said.includes(word));
}

/** @param {{of: Pick<Question, "kind">}} props */
export const Kind = ({ of }) =>
  html`<span class=${`state ${of.kind === "action" ? "needs" : "claimed"}`}>${wordOf(of)}</span>`;

/** @param {{of: Question[], at: string | undefined, choose: (question: Question) => void}} props */
export function Questions({ of, at, choose }) {
  if (of.length === 0) return null;
  return html`<section class="group" aria-labelledby="asked">
    <h2 id="asked">Asked in the middle of work <span class="faint">· ${of.length}</span></h2>
    <ul>${of.map((each) => html`<li key=${each.id} class=${`item ${each.id === at ? "at" : ""}`}>
      <button type="button" class="open" aria-current=${each.id === at ? "true" : undefined}
        onClick=${() => choose(each)}>
        <${Kind} of=${each} />
        <span class="title">
          ${each.tool && html`<code><${Said} of=${each.tool} /></code> `}
          <${Said} of=${each.text} />
        </span>
        <span class="faint"><${Said} of=${each.agent} /> · <${Left} at=${each.until} /></span>
      </button>
    </li>`)}</ul>
  </section>`;
}
