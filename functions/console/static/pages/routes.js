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

const SLUG = "1 to 63 of a-z, 0-9 and hyphens.";
const MODES = /** @type {[string, string][]} */ ([["dispatch", "dispatch: its agent takes it once it is approved"],
  ["next", "next: approved for a worker that claims it by its id"], ["manual", "manual: a person approves each"]]);

export default function Routes() {
  const { data, problem, isLoading } = useList("/routes", { everyMs: 10_000 });
  const { data: agents } = useList("/agents", { everyMs: 60_000 });
  const known = /** @type {import("api").SeenAgentView[]} */ (agents?.items ?? []);
  const slugs = known.filter((agent) => agent.active).map((agent) => agent.slug);
  const routes = /** @type {RouteView[]} */ (data?.items ?? []);
  const add = () => edit(null, slugs);
  useKeys("Routes", { c: { does: "new route", run: add } });
  return html`<div class="head"><h1>Routes</h1><span class="faint">${routes.length || ""}</span>
      <button type="button" class="primary" disabled=${slugs.length === 0} onClick=${add}>
        New route <${Key}>c<//></button></div>
    <p class="faint">A handoff without a target goes by its type of work. <a href=${address("/agents")}>Agents</a></p>
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
    : routes.length > 0 ? html`<ul class="cards">${routes.map((route) =>
      html`<${Row} key=${route.work_type} route=${route} slugs=${slugs} />`)}</ul>`
    : !problem && html`<${Empty} title="No route yet"><p>A route names the agent for a type of work, so that whoever
        hands over needn't know it.</p><//>`}`;
}

/** @param {{route: RouteView, slugs: string[]}} props */
function Row({ route, slugs }) {
  const { work_type: type, agent, mode, dispatch_rank: rank, updated_at: at, updated_by: by } = route;
  return html`<li class="card"><div class="row">
    <strong><${Said} of=${type} /></strong> <span class="arrow" aria-label="to">→</span>
    <a href=${address(`/agents/${agent}`)}><${Said} of=${agent} /></a> <span class="state">${mode}</span>
    <span class="faint">rank ${rank} · changed <${Ago} at=${at} /> by <${Said} of=${by} /></span>
    <span class="spread"></span>
    <button type="button" aria-label=${`Change the route ${type}`} onClick=${() => edit(route, slugs)}>Change</button>
    <button type="button" class="danger" aria-label=${`Remove the route ${type}`} onClick=${() => remove(route)}>
      Remove</button></div></li>`;
}

/** @param {RouteView | null} route @param {string[]} slugs */
function edit(route, slugs) {
  const agents = route && !slugs.includes(route.agent) ? [route.agent, ...slugs] : slugs;
  ask({
    title: route ? `Change the route of ${route.work_type}` : "New route",
    fields: [
      ...(route ? [] : [{ name: "work_type", label: "Type of work", required: true, hint: SLUG }]),
      { name: "agent", label: "Goes to", type: "select", required: true, value: route?.agent ?? agents[0] ?? "",
        options: agents.map((slug) => /** @type {[string, string]} */ ([slug, slug])) },
      { name: "mode", label: "Approval", type: "select", required: true, value: route?.mode ?? "manual",
        options: MODES },
      { name: "dispatch_rank", label: "Dispatch rank", type: "number", required: true, min: "0",
        value: String(route?.dispatch_rank ?? 100), hint: "A lower one goes first." },
    ],
    confirm: "Save",
    run: async ({ work_type = route?.work_type ?? "", agent, mode, dispatch_rank: rank }) => {
      const body = { agent, mode, dispatch_rank: Number(rank), version: route?.version ?? 0 };
      await change("PUT", `/routes/${encodeURIComponent(work_type.trim())}`, body);
      toast("Saved: it holds for what is handed over from now on.");
      lookAgain();
    },
  });
}

/** @param {RouteView} route */
function remove(route) {
  ask({
    title: `Remove the route of ${route.work_type}`,
    text: html`<p>What names only this type of work is then for anyone who declares the types that it needs. What was
      handed over stays as it is.</p>`,
    confirm: "Remove",
    danger: true,
    run: async () => {
      await change("DELETE", `/routes/${route.work_type}`);
      toast("Removed");
      lookAgain();
    },
  });
}
