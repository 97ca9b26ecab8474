/** What a person decides on a question. Without a dialog before it, it is sent three seconds later: what was approved
 * may be begun at once. */
import { html } from "../../lib.js";
import { change as send, post } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { decideLater, hide, show } from "../../core/pending.js";
import { escaped, plain } from "../../core/said.js";
import { asField, fromField } from "../../core/time.js";
import { failed, toast } from "../../core/toasts.js";
import { ask } from "../../ui/ask.js";
import { Data, Said } from "../../ui/parts.js";
import { askOfChanged } from "../approvals/changed.js";
import { argumentsOf, formOf } from "./form.js";

/** @typedef {import("./list.js").Question} Question */
/** @typedef {() => void} Then */

const HOUR_MS = 3_600_000;
const SHOW_MS = 5000;

/** @param {Pick<Question, "id" | "task_id">} question */
export const pathOf = ({ id, task_id: task }) =>
  `/tasks/${encodeURIComponent(task)}/questions/${encodeURIComponent(id)}`;

/** @param {Question} question */
const approvalOf = ({ digest }) => ({ outcome: "approved", digest });

/** @param {Question} question @param {Then} then */
export function approve(question, then) {
  const name = named(question);
  decideLater([question.id], `Approved: ${name}`, (how) => post(`${pathOf(question)}/answer`, approvalOf(question), how)
    .then(tell, (error) => {
      show([question.id]);
      failed(`It stays as it is, “${name}”`, error, `Approval of “${name}”`);
    }).finally(lookAgain));
  then();
}

/** Another person approved other arguments, so the requested arguments are approved by intent alone.
 * @param {Question} question @param {string[]} others @param {() => void} run */
export function approveAsAsked({ tool, arguments: asked }, others, run) {
  ask({
    title: "Approve as it was asked",
    text: html`<p><${Said} of=${others.join(", ")} /> approved other arguments. Approvals count together only if they
      are for the same arguments. You approve these:</p>
      <p><code><${Said} of=${tool} /></code></p><${Data} of=${asked} title="Arguments as asked" open />`,
    confirm: "Approve as asked",
    run,
  });
}

/** @param {Question} question @param {Then} then @param {unknown} [proposed] arguments to begin with */
export function change(question, then, proposed = question.arguments) {
  const value = escaped(JSON.stringify(proposed, null, 2));
  const field = { name: "arguments", label: "Arguments, as JSON", type: "textarea", rows: 14, isCode: true };
  ask({
    title: "Approve with other arguments",
    text: html`<p>The agent may use this tool once, with exactly these arguments, and is told so.</p>
      <p><code class="theirs"><${Said} of=${question.tool} /></code></p>`,
    fields: [{ ...field, required: true, value, hint: "A hidden character is written as \\u and its number." }],
    confirm: "Approve these",
    run: ({ arguments: text = "" }) => answer(question, { ...approvalOf(question), arguments: argumentsOf(text) },
      "Approved with other arguments", then),
  });
}

/** @param {Question} question @param {Then} then */
export function standing(question, then) {
  const now = Date.now();
  const [least, soon, last] = [now, now + HOUR_MS, now + 7 * 24 * HOUR_MS].map((at) => asField(new Date(at)));
  const options = /** @type {[string, string][]} */ ([
    ["arguments", "these arguments, exactly as they are now"],
    ["tool", "this tool, whatever its arguments"],
  ]);
  ask({
    title: "Approve, now and later",
    text: html`<p>Later uses of this tool by <${Said} of=${question.agent} /> are approved immediately, and nobody looks
      at them. You can revoke this at any time.</p><p><code class="theirs"><${Said} of=${question.tool} /></code></p>`,
    fields: [
      { name: "for", label: "For", type: "radio", required: true, value: "arguments", options },
      { name: "until", label: "Until", type: "datetime-local", required: true, value: soon ?? "", min: least ?? "",
        max: last ?? "", hint: "At most seven days ahead." },
      { name: "times", label: "Times", type: "number", required: true, value: "10", min: "1", max: "1000", step: "1" },
    ],
    confirm: "Approve, now and later",
    run: ({ for: what, until = "", times }) => {
      const stands = { for: what, until: fromField(until), times: Number(times) };
      return stand(question, { ...approvalOf(question), standing: stands }, then);
    },
  });
}

/** Shows an agent that has changed since it asked, and asks again.
 * @param {Question} question @param {object} body @param {Then} then @returns {Promise<void>} */
async function stand(question, body, then) {
  try {
    await answer(question, body, "Approved, now and later", then);
  } catch (error) {
    await askOfChanged(error, "this question", "Approve", (known) => stand(question, { ...body, ...known }, then));
  }
}

/** @param {Question} question @param {Then} then */
export function reply(question, then) {
  const { fields, read } = formOf(question);
  ask({
    title: "Answer",
    text: html`<${Said} of=${question.text} block />`,
    fields,
    confirm: "Answer",
    run: (values) => answer(question, { outcome: "answered", answer: read(values) }, "Answered", then),
  });
}

/** @param {Question} question @param {Then} then */
export function refuse(question, then) {
  ask({
    title: question.kind === "action" ? "Refuse this action" : "Refuse to answer",
    text: "The agent is told why.",
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true }],
    confirm: "Refuse",
    danger: true,
    run: ({ reason }) => answer(question, { outcome: "refused", reason }, "Refused", then),
  });
}

/** An approval that wasn't used yet. @param {Question} question */
export function revoke(question) {
  ask({
    title: "Revoke this approval",
    text: "What wasn't begun by now isn't begun any more. The agent has to ask again.",
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true }],
    confirm: "Revoke it",
    danger: true,
    run: async ({ reason }) => {
      await post(`${pathOf(question)}/revoke`, { reason });
      toast("Revoked");
      lookAgain();
    },
  });
}

/** @param {{id: string}} of a standing answer */
export function endStanding({ id }) {
  ask({
    title: "Revoke this standing answer",
    text: "From now on people are asked again, and what it approved and wasn't begun yet is revoked, too.",
    confirm: "Revoke it",
    danger: true,
    run: async () => {
      await send("DELETE", `/standing-answers/${encodeURIComponent(id)}`);
      toast("Revoked");
      lookAgain();
    },
  });
}

/** What the API says against it is shown in the dialog.
 * @param {Question} question @param {object} body @param {string} said @param {Then} then */
async function answer(question, body, said, then) {
  try {
    const after = await post(`${pathOf(question)}/answer`, body);
    hide([question.id]);
    setTimeout(() => show([question.id]), SHOW_MS);
    toast(`${said}: ${named(question)}`);
    tell(after);
    then();
  } finally {
    lookAgain();
  }
}

/** @param {Question} question as it is once somebody has decided */
function tell({ outcome, needed }) {
  if (outcome === "open" && needed !== null) toast(`It needs ${needed} people who say the same: it waits for others.`);
}

/** @param {Question} question */
function named({ tool, text }) {
  const said = plain(tool ?? text);
  return said.length > 60 ? `${said.slice(0, 59)}…` : said;
}
