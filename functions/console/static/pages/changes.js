/** Changes of the workspace: settings, tokens, agents, tools, routes, tracker. Pending ones need an administrator. */
import { html } from "../lib.js";
import { post } from "../core/api.js";
import { lookAgain, useList } from "../core/live.js";
import { address } from "../core/router.js";
import { who } from "../core/session.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Changes as Differences } from "../ui/changed.js";
import { Ago, Empty, Id, Left, Loading, Said, Trouble, Views } from "../ui/parts.js";

/** @typedef {import("api").ChangeView} Change */

const SUBJECTS = ["all", "settings", "tokens", "agents", "tools", "routes", "approvals", "tracker"];
const PENDING = "/workspace/changes?state=pending";

/** @param {{query: Record<string, string>}} props */
export default function ChangesPage({ query }) {
  const subject = SUBJECTS.includes(query.subject ?? "") ? query.subject : "all";
  const pending = useList(PENDING, { everyMs: 5000, isUntold: () => true });
  const path = subject === "all" ? "/workspace/changes" : `/workspace/changes?subject=${subject}`;
  const { data, problem, isLoading } = useList(path, { everyMs: 5000, isUntold: () => true, isFirst: true });
  const waiting = /** @type {Change[]} */ (pending.data?.items ?? []);
  const items = /** @type {Change[]} */ (data?.items ?? []).filter((each) => each.state !== "pending");
  return html`<div class="head"><h1>Changes</h1></div>
    <p class="faint">
      Who changed settings, tokens, agents, tools, routes, or the tracker's token or webhook, or ended approvals, with
      the old and the new value.
    </p>
    <${Trouble} of=${pending.problem} what="The pending changes can't be read." />
    ${waiting.length > 0 && html`<h2>Pending changes</h2>
      <ul class="cards">${waiting.map((each) => html`<${One} key=${each.id} of=${each} />`)}</ul>`}
    <${Views} label="Subject" of=${SUBJECTS.map((each) => ({
    name: each,
    href: address("/changes", { subject: each === "all" ? null : each }),
    isChosen: each === subject,
  }))} />
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading && html`<${Loading} />`}
    <ul class="cards">${items.map((each) => html`<${One} key=${each.id} of=${each} />`)}</ul>
    ${data?.more && html`<p class="faint">There are more: these are the newest ${items.length}.</p>`}
    ${data && items.length === 0 && waiting.length === 0 && html`<${Empty} title="No change yet">
      <p>Each change of settings, tokens, agents, tools, routes and the tracker is listed here.</p>
    <//>`}`;
}

/** @param {{of: Change}} props */
function One({ of }) {
  const isPending = of.state === "pending";
  return html`<li class="card" id=${of.id}>
    <p class="row">
      <span class=${`state ${isPending ? "needs" : ""}`}>${of.state}</span>
      ${of.is_alone && html`<span class="severity critical">by the only administrator</span>`}
      <strong>${of.subject}: <${Said} of=${of.names.join(", ")} /></strong>
    </p>
    <p class="faint">
      by <${Said} of=${of.by} /> <${Ago} at=${of.at} />
      ${of.decided_by && html`, ${of.state} by <${Said} of=${of.decided_by} /> <${Ago} at=${of.decided_at} />`}
      ${isPending && html`, expires in <${Left} at=${of.expires_at} />`} · <${Id} of=${of.id} />
    </p>
    ${of.reason && html`<p>Reason: <${Said} of=${of.reason} /></p>`}
    <${Differences} was=${of.before ?? undefined} is=${of.after ?? undefined} />
    ${isPending && html`<div class="row acts">${of.by === `human:${who.value}`
    ? html`<button type="button" onClick=${() => withdraw(of)}>Withdraw</button>`
    : html`<button type="button" class="primary" onClick=${() => approve(of)}>Approve</button>
        <button type="button" class="danger" onClick=${() => refuse(of)}>Refuse</button>`}</div>`}
    ${of.state === "approved" && html`<div class="row acts">
      <button type="button" class="danger" onClick=${() => refuse(of)}>End the approval</button></div>`}
  </li>`;
}

/** @param {Change} of @param {string} verb @param {Record<string, unknown>} body @param {string} said */
async function decide(of, verb, body, said) {
  await post(`/workspace/changes/${encodeURIComponent(of.id)}/${verb}`, body);
  toast(said);
  lookAgain();
}

/** The digest is of the change as this page shows it. @param {Change} of */
function approve(of) {
  ask({
    title: "Approve this change",
    text: html`<${Differences} was=${of.before ?? undefined} is=${of.after ?? undefined} />`,
    confirm: "Approve the change",
    run: () => decide(of, "approve", { digest: of.digest }, "Approved."),
  });
}

/** @param {Change} of */
function refuse(of) {
  ask({
    title: of.state === "approved" ? "End the approval, which isn't used yet" : "Refuse this change",
    fields: [{ name: "reason", label: "Reason", hint: "For the administrator who asked." }],
    confirm: "Refuse the change",
    danger: true,
    run: ({ reason }) => decide(of, "refuse", reason ? { reason } : {}, "Refused."),
  });
}

/** @param {Change} of */
function withdraw(of) {
  const run = () => decide(of, "withdraw", {}, "Withdrawn.");
  ask({ title: "Withdraw your change", confirm: "Withdraw the change", run });
}
