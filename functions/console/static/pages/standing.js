/** What is approved by itself, as a person has said so: until when, how often, and the way to end it. */
import { html } from "../lib.js";
import { useList } from "../core/live.js";
import { address } from "../core/router.js";
import { Ago, Data, Empty, Id, Left, Loading, Said, Trouble } from "../ui/parts.js";
import { endStanding } from "./questions/acts.js";

/** @typedef {import("api").StandingAnswerView} StandingAnswer */

export default function StandingAnswers() {
  const { data, problem, isLoading } = useList("/standing-answers", { everyMs: 5000, isUntold: () => true });
  const items = /** @type {StandingAnswer[]} */ (data?.items ?? []);
  return html`<div class="head"><h1>Standing answers</h1><a href=${address("/approvals")}>what waits</a></div>
    <${Trouble} of=${problem} what="The list can't be read." />
    <ul class="cards">${items.map((each) => html`<${One} key=${each.id} of=${each} />`)}</ul>
    ${data?.more && html`<p class="faint">There are more: these are the first ${items.length}.</p>`}
    ${isLoading && html`<${Loading} />`}
    ${data && items.length === 0 && html`<${Empty} title="Nothing is approved by itself">
      <p>
        Who approves an action can say that it holds for later as well: for the same arguments, or for the tool. It
        stands here until it ends.
      </p>
    <//>`}`;
}

/** @param {{of: StandingAnswer}} props */
function One({ of }) {
  const unused = of.used - of.begun;
  const question = address("/approvals", { question: of.question_id, of: of.task_id });
  return html`<li class="card">
    <p class="row">
      <span class="state needs">${of.digest ? "these arguments" : "any arguments"}</span>
      <code><${Said} of=${of.tool} /></code> of <strong><${Said} of=${of.agent} /></strong>
    </p>
    ${of.is_suspended && html`<p class="trouble">Suspended: a service, or a person who may not approve, has changed the
      agent since. It approves nothing. <a href=${address(`/agents/${of.agent}`)}>See the agent</a>.</p>`}
    <p>
      used ${of.used} of ${of.times} times${unused > 0 && `, of which ${unused} weren't begun yet`} · ends in${" "}
      <${Left} at=${of.until} />
    </p>
    <p class="faint">
      by <${Said} of=${of.by} />, <${Ago} at=${of.since} />,${" "}
      in <a href=${question}>answer to this</a> · <${Id} of=${of.id} />
    </p>
    ${of.digest && html`<${Data} of=${of.arguments} title="Arguments" open />`}
    <div class="row"><button type="button" class="danger" onClick=${() => endStanding(of)}>Revoke</button></div>
  </li>`;
}
