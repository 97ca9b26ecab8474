/** What agents ask people in the middle of their work, as a list: what is over soonest comes first; and those of one
 * task. */
import { html, useState } from "../../lib.js";
import { useList, useLive } from "../../core/live.js";
import { decided } from "../../core/pending.js";
import { address } from "../../core/router.js";
import { toast } from "../../core/toasts.js";
import { MOST } from "../../core/waiting.js";
import { approve, approveAsAsked, change, refuse, reply, standing } from "./acts.js";
import { changedBy, mineOf, sunk } from "./mine.js";
import { Closed, Decisions } from "./one.js";
import { Row, useWholes } from "./rows.js";
import { Ago, Said } from "../../ui/parts.js";

/** `before`, `earlier`: of a question that was read alone.
 * @typedef {import("api").QuestionView & {before?: import("api").BeforeView | null,
 *   earlier?: import("api").BeforeView[]}} Question */

/** Open ones that fit the words, those that are over soonest first; `all`: how many there are. @param {string} words */
function useQuestions(words) {
  const { data, problem } = useList("/questions", { most: MOST, everyMs: 5000 });
  const open = /** @type {Question[]} */ (data?.items ?? []).filter((each) => !decided.value.has(each.id));
  const fitting = open.filter((each) => fits(each, words)).sort(bySoonest);
  const questions = sunk(fitting, (each) => mineOf(each) !== undefined);
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
  useWholes(of);
  if (of.length === 0) return null;
  return html`<section class="group" aria-labelledby="asked">
    <h2 id="asked">Asked in the middle of work <span class="faint">· ${of.length}</span></h2>
    <ul>${of.map((each) => html`<li key=${each.id} class=${`item ${each.id === at ? "at" : ""}`}>
      <button type="button" class="open" aria-current=${each.id === at ? "true" : undefined}
        onClick=${() => choose(each)}>
        <${Kind} of=${each} /><${Row} of=${each} />
      </button>
    </li>`)}</ul>
  </section>`;
}

/** @param {{id: string, when: number}} props */
export function QuestionsOfTask({ id, when }) {
  const { data } = useLive(`/tasks/${id}/questions?limit=100`, { everyMs: 15_000, when });
  const items = /** @type {Question[]} */ (data?.items ?? []);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="questions">
    <h2 id="questions">Asked of people</h2>
    <ul class="log">${items.map((each) => html`<${One} key=${each.id} of=${each} />`)}</ul>
  </section>`;
}

/** @param {{of: Question}} props */
function One({ of }) {
  const isOpen = of.outcome === "open";
  const to = address("/approvals", { question: of.id, of: of.task_id });
  return html`<li>
    <p>
      <${Kind} of=${of} />${" "}
      <a href=${to}>${isOpen ? "waits for people" : "all of it"}</a> · <${Ago} at=${of.asked_at} />
    </p>
    ${of.tool && html`<p><code><${Said} of=${of.tool} /></code></p>`}
    <${Said} of=${of.text} block />
    ${!isOpen && html`<${Closed} of=${of} />`}
    <${Decisions} of=${of} propose=${null} />
  </li>`;
}

/** @typedef {import("./one.js").Act} Act */
/** @typedef {import("./one.js").Shown} Shown */
/** @typedef {Record<"task" | "question" | "of", string | null>} Stop what is chosen, in the address */

/** @type {Stop} */
export const NOWHERE = { task: null, question: null, of: null };
/** @param {string} id of a task */
export const atTask = (id) => ({ ...NOWHERE, task: id });
/** @param {{id: string, task_id: string}} question */
export const atQuestion = (question) => ({ ...NOWHERE, question: question.id, of: question.task_id });

/** One that waits no more is chosen by its address. @param {Record<string, string>} query */
export function useAsks(query) {
  const asks = useQuestions(query.q ?? "");
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const { question = "", of = "" } = query;
  const isNamed = /^\w+$/.test(question) && /^\w+$/.test(of);
  const chosen = asks.questions.find((each) => each.id === question)
    ?? (isNamed ? { id: question, task_id: of } : null);
  return { ...asks, chosen, shown, setShown };
}

/** What a key means for a question that is no action. @type {Partial<Record<Act, typeof approve>>} */
const SAID = { approve: reply, reply, refuse };
const ALLOWED = { approve, reply: approve, change, standing, refuse };

/** @param {Shown} shown @param {Act} act @param {() => void} then @param {unknown} [proposed] */
export function decideOn({ seen }, act, then, proposed) {
  const others = changedBy(seen);
  if (mineOf(seen) && (act === "approve" || act === "standing")) {
    toast("You decided on this, and it waits for others. “Change your decision” opens it again.");
  } else if (act === "approve" && others.length > 0) approveAsAsked(seen, others, () => approve(seen, then));
  else if (seen.kind !== "action") SAID[act]?.(seen, then);
  else if (act === "change") change(seen, then, proposed);
  else ALLOWED[act](seen, then);
}
