/** A person's approvals and votes that may still be used, and the end of all of them. */
import { html } from "../lib.js";
import { post } from "../core/api.js";
import { lookAgain, useList } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Empty, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").RestingApprovalView} Resting */

/** The name of each kind, for one and for several. @type {Record<string, [string, string]>} */
const KINDS = {
  change: ["waiting change of the workspace", "waiting changes of the workspace"],
  agent: ["standing approval of an agent", "standing approvals of agents"],
  tool: ["standing approval of a tool", "standing approvals of tools"],
  standing_answer: ["standing answer", "standing answers"],
  question: ["vote on an open question", "votes on open questions"],
  action: ["unused approval of an action", "unused approvals of actions"],
  handoff: ["vote on a handoff", "votes on handoffs"],
  ready_work: ["approval of ready work", "approvals of ready work"],
};

/** @param {{params: Record<string, string>}} props */
export default function PersonPage({ params }) {
  const name = params.name ?? "";
  const path = `/people/${encodeURIComponent(name)}/approvals`;
  const { data, problem, isLoading } = useList(path, { everyMs: 5000, isUntold: () => true });
  const items = /** @type {Resting[]} */ (data?.items ?? []);
  return html`<div class="head">
      <h1>Approvals of <${Said} of=${name} /></h1>
      <a href=${address("/tokens")}>all tokens</a>
      ${data && html`<button type="button" class="danger" onClick=${() => endAll(name, items)}>
        End all approvals</button>`}
    </div>
    <p class="faint">Approvals and votes of this person that somebody may still make use of.</p>
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading && html`<${Loading} />`}
    <ul class="cards">${items.map((each, at) => html`<${One} key=${at} of=${each} />`)}</ul>
    ${data?.more && html`<p class="faint">There are more: these are the first ${items.length}.</p>`}
    ${data && items.length === 0 && html`<${Empty} title="Nothing rests on this person">
      <p>Standing approvals, standing answers, unused approvals and votes are listed here.</p>
    <//>`}`;
}

/** @param {{of: Resting}} props */
function One({ of }) {
  const place = of.question_id && of.task_id ? address("/approvals", { question: of.question_id, of: of.task_id })
    : of.task_id ? address(`/tasks/${of.task_id}`)
    : of.kind === "agent" ? address(`/agents/${of.name}`)
    : of.kind === "tool" ? address(`/tools/${of.name}`)
    : address("/changes");
  return html`<li class="card">
    <p class="row">
      <span class=${`state ${of.counts ? "needs" : ""}`}>${of.counts ? "counts" : "has ended"}</span>
      <a href=${place}>${KINDS[of.kind]?.[0] ?? of.kind}</a>
      ${of.name && html`<strong><${Said} of=${of.name} /></strong>`}
    </p>
    <p class="faint">given <${Ago} at=${of.at} none="at an unknown time" /></p>
  </li>`;
}

/** @param {string} name @param {Resting[]} items */
function endAll(name, items) {
  const kinds = Object.keys(KINDS).map((kind) => ({
    kind, number: items.filter((each) => each.kind === kind && each.counts).length,
  }));
  const counted = kinds.filter((each) => each.number > 0);
  ask({
    title: `End all approvals of ${name}`,
    text: html`<p>Nothing counts any more that ${name} has approved until now, also if it isn't in the list:</p>
      <ul>${counted.map(({ kind, number }) => html`<li key=${kind}>
        ${number} ${KINDS[kind]?.[number === 1 ? 0 : 1]}</li>`)}</ul>
      <p>The tokens stay. What ${name} approves afterwards counts.</p>`,
    confirm: "End all approvals",
    danger: true,
    run: async () => {
      await post(`/people/${encodeURIComponent(name)}/end-approvals`);
      toast(`Everything that ${name} approved has ended`);
      lookAgain();
    },
  });
}
