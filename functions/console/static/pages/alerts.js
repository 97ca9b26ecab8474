/** What somebody should see: open until a person resolves it. */
import { html } from "../lib.js";
import { post } from "../core/api.js";
import { lookAgain, useList } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Empty, Loading, Said, Trouble, Views } from "../ui/parts.js";

/** @typedef {import("api").AlertView} AlertView */
const STATES = ["open", "acknowledged", "resolved", "all"];
/** @type {Record<string, string>} */
const MARKS = { critical: "✕", warning: "!", info: "i" };

/** @param {{query: Record<string, string>}} props */
export default function Alerts({ query }) {
  const state = query.state ?? "open";
  const { data, problem, isLoading } = useList(state === "all" ? "/alerts" : `/alerts?state=${state}`, { most: 1000 });
  const alerts = urgentFirst(/** @type {AlertView[]} */ (data?.items ?? []));
  return html`<div class="head"><h1>Alerts</h1></div>
    <${Views} label="Which" of=${STATES.map((each) => ({ name: each, href: address("/alerts", { state: each }), isChosen: each === state }))} />
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />` : alerts.length > 0 ? html`<ul class="cards">${alerts.map((alert) => html`<${Alert} key=${alert.id} alert=${alert} />`)}</ul>${data?.more && html`<p class="faint">There are more: these are the newest ${alerts.length}.</p>`}`
    : !problem && html`<${Empty} title=${state === "open" ? "Nothing is wrong" : "There is none"}><p>Baton raises an alert where work waits too long, comes back too often or can't be delivered. Agents and services raise their own.</p><//>`}`;
}

const URGENCY = ["critical", "warning", "info"];

/** The gravest first; of equal ones the newest, as the list comes. @template {{severity: string}} T @param {T[]} alerts @returns {T[]} */
export const urgentFirst = (alerts) => [...alerts].sort((one, other) => URGENCY.indexOf(one.severity) - URGENCY.indexOf(other.severity));

/** @param {{alert: AlertView}} props */
function Alert({ alert }) {
  return html`<li class="card"><p class="row"><span class=${`severity ${alert.severity}`}><span aria-hidden="true">${MARKS[alert.severity]}</span> ${alert.severity}</span>
      <strong><${Said} of=${alert.kind.replaceAll("_", " ")} /></strong> <span class="faint"><${Ago} at=${alert.raised_at} /> · <${Said} of=${alert.raised_by} /></span></p>
    <${Said} of=${alert.message} block />
    ${alert.note && html`<p class="faint">Note: <${Said} of=${alert.note} /></p>`}
    ${alert.acknowledged_by && html`<p class="faint">Acknowledged by <${Said} of=${alert.acknowledged_by} /> <${Ago} at=${alert.acknowledged_at} /></p>`}
    ${alert.resolved_by && html`<p class="faint">Resolved by <${Said} of=${alert.resolved_by} /> <${Ago} at=${alert.resolved_at} /></p>`}
    <div class="row">
      ${alert.state === "open" && html`<button type="button" onClick=${() => handle(alert, "acknowledge")}>Acknowledge</button>`}
      ${alert.state !== "resolved" && html`<button type="button" class="primary" onClick=${() => handle(alert, "resolve")}>Resolve</button>`}
      ${alert.task_id && html`<a href=${address(`/tasks/${alert.task_id}`)}>Open the task</a>`}</div></li>`;
}

/** @param {AlertView} alert @param {"acknowledge" | "resolve"} verb */
function handle(alert, verb) {
  ask({
    title: verb === "resolve" ? "Resolve this alert" : "Acknowledge this alert",
    text: verb === "resolve" ? "It is over. If its reason comes again, so does an alert." : "You have seen it, and somebody is on it.",
    fields: [{ name: "note", label: "Note", type: "textarea" }],
    confirm: verb === "resolve" ? "Resolve" : "Acknowledge",
    run: async ({ note }) => {
      await post(`/alerts/${alert.id}/${verb}`, note ? { note } : {});
      toast(verb === "resolve" ? "Resolved" : "Acknowledged");
      lookAgain();
    },
  });
}
