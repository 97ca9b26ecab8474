/** Routes: which agent gets work that names only its type, and how it is approved. */
import { html } from "../lib.js";
import { change } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { lookAgain, useList } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Empty, Key, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").RouteView} RouteView */

const MODES = /** @type {[string, string][]} */ ([["dispatch", "dispatch: its agent takes it once it is approved"],
  ["next", "next: approved for a worker that claims it by its id"], ["manual", "manual: a person approves each"]]);

export default function Routes() {
  const { data, problem, isLoading } = useList("/routes", { everyMs: 10_000 });
  const { data: agents } = useList("/agents", { everyMs: 60_000 });
  const slugs = /** @type {import("api").SeenAgentView[]} */ (agents?.items ?? []).filter((agent) => agent.active).map((agent) => agent.slug);
  const routes = /** @type {RouteView[]} */ (data?.items ?? []);
  const add = () => edit(null, slugs);
  useKeys("Routes", { c: { does: "new route", run: add } });
  return html`<div class="head"><h1>Routes</h1><span class="faint">${routes.length || ""}</span>
      <button type="button" class="primary" disabled=${slugs.length === 0} onClick=${add}>New route <${Key}>c<//></button></div>
    <p class="faint">A handoff without a target goes by its type of work. <a href=${address("/agents")}>Agents</a></p>
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />` : routes.length > 0 ? html`<ul class="cards">${routes.map((route) => html`<li class="card" key=${route.work_type}>
      <div class="row"><strong><${Said} of=${route.work_type} /></strong> <span class="arrow" aria-label="to">→</span>
        <a href=${address(`/agents/${route.agent}`)}><${Said} of=${route.agent} /></a> <span class="state">${route.mode}</span>
        <span class="faint">rank ${route.dispatch_rank} · changed <${Ago} at=${route.updated_at} /> by <${Said} of=${route.updated_by} /></span>
        <span class="spread"></span><button type="button" aria-label=${`Change the route ${route.work_type}`} onClick=${() => edit(route, slugs)}>Change</button>
        <button type="button" class="danger" aria-label=${`Remove the route ${route.work_type}`} onClick=${() => remove(route)}>Remove</button></div></li>`)}</ul>`
    : !problem && html`<${Empty} title="No route yet"><p>A route names the agent for a type of work, so that whoever hands over needn't know it.</p><//>`}`;
}

/** @param {RouteView | null} route @param {string[]} slugs */
function edit(route, slugs) {
  const agents = route && !slugs.includes(route.agent) ? [route.agent, ...slugs] : slugs;
  ask({
    title: route ? `Change the route of ${route.work_type}` : "New route",
    fields: [
      ...(route ? [] : [{ name: "work_type", label: "Type of work", required: true, hint: "1 to 63 of a-z, 0-9 and hyphens." }]),
      { name: "agent", label: "Goes to", type: "select", required: true, value: route?.agent ?? agents[0] ?? "", options: agents.map((slug) => [slug, slug]) },
      { name: "mode", label: "Approval", type: "select", required: true, value: route?.mode ?? "manual", options: MODES },
      { name: "dispatch_rank", label: "Dispatch rank", type: "number", required: true, value: String(route?.dispatch_rank ?? 100), min: "0",
        hint: "A lower one goes first." },
    ],
    confirm: "Save",
    run: async ({ work_type = route?.work_type ?? "", agent, mode, dispatch_rank: rank }) => {
      await change("PUT", `/routes/${encodeURIComponent(work_type.trim())}`, { agent, mode, dispatch_rank: Number(rank), version: route?.version ?? 0 });
      toast("Saved: it holds for what is handed over from now on.");
      lookAgain();
    },
  });
}

/** @param {RouteView} route */
function remove(route) {
  ask({
    title: `Remove the route of ${route.work_type}`,
    text: "What names only this type of work is then for anyone who declares the types that it needs. What was handed over stays as it is.",
    confirm: "Remove",
    danger: true,
    run: async () => {
      await change("DELETE", `/routes/${route.work_type}`);
      toast("Removed");
      lookAgain();
    },
  });
}
