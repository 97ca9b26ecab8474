/** The message of a conversation, and the earlier tasks whose texts the receiver of a handoff gets as well. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Facts, Said } from "../parts.js";
import { Text } from "../text.js";

/** @typedef {import("api").EarlierTaskView} EarlierTask */

/** More turns than a task can have: an earlier release named all of them. */
const ALL = 1_000_000;

/** @param {{handoff: import("api").HandoffView, isWhole: boolean}} props */
export function Conversation({ handoff, isWhole }) {
  const { input, conversation: its, metadata } = /** @type {any} */ (handoff);
  return html`${input && html`<section><h3>Message</h3>
      <${Text} of=${input.message} title="Message" isWhole=${isWhole} /></section>`}
    ${its && html`<${Facts} of=${[
        ["History", its.history], ["From", its.source && html`<${Said} of=${its.source} />`],
      ]} />
      ${its.instructions && html`<h3>Instructions</h3>
        <${Text} of=${its.instructions} title="Instructions" isWhole=${isWhole} />`}
      <${SaidBefore} of=${its.earlier} conversation=${metadata?.workflow_id} />`}`;
}

/** @param {{of: EarlierTask[], conversation: string, to?: string}} props */
export function SaidBefore({ of, conversation, to = "The receiver" }) {
  if (of.length === 0) return null;
  return html`<section>
    <h3>Earlier messages</h3>
    <p><${Said} of=${to} /> also gets the earlier messages of these tasks.${" "}
      <a href=${address(`/chat/${conversation}`)}>Read them</a></p>
    <ul>${of.map((each) => html`<li key=${each.task_id}>
      <a href=${address(`/tasks/${each.task_id}`)}>The task of <${Said} of=${each.agent ?? "an agent"} /></a>:${" "}
      ${turnsOf(each)}
    </li>`)}</ul>
  </section>`;
}

/** @param {EarlierTask} earlier */
function turnsOf({ turns, since }) {
  if (turns >= ALL) return "all turns";
  if (turns === 0) return "no turns of a model";
  return since === turns ? `turn ${turns}, the last one` : `${turns} ${turns === 1 ? "turn" : "turns"}`;
}
