/** Who works here: alive or not, what they take, and the switch that stops one. */
import { html, useMemo } from "../lib.js";
import { change, post } from "../core/api.js";
import { lookAgain, useList, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { useSlow } from "../core/dear.js";
import { failed, toast } from "../core/toasts.js";
import { useKeys } from "../core/keys.js";
import { ask } from "../ui/ask.js";
import { Ago, Data, Empty, Facts, Key, Loading, Said, State, Trouble } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { AgentHealth, running, waiting } from "./agent/health.js";
import { ended, failures, took } from "./stats/counts.js";

/** @typedef {import("api").SeenAgentView} SeenAgentView */
/** @typedef {import("api").WholeAgentView} WholeAgentView */

/** @typedef {import("api").AgentHealthView} Health */
/** @typedef {SeenAgentView & {health?: Health | undefined}} Row */

/** @type {import("../ui/table.js").Column<Row>[]} */
const COLUMNS = [
  { name: "slug", title: "Agent", class: "fill", cell: (agent) => html`<${Said} of=${agent.slug} />` },
  { name: "live", title: "State", class: "state-cell", cell: (agent) => html`<${Live} of=${agent} />` },
  { name: "seen", title: "Seen", class: "time wide",
    cell: (agent) => html`<${Ago} at=${agent.liveness.last_contact_at} none="never" />` },
  { name: "waiting", title: "Waiting, oldest", class: "time", cell: ({ health }) => health && waiting(health) },
  { name: "running", title: "In progress", class: "slim wide", cell: ({ health }) => health && running(health) },
  { name: "ended", title: "Ended, week", class: "slim wide",
    cell: ({ health }) => health && ended(health.last_week).toLocaleString() },
  { name: "failed", title: "Failed", class: "narrow wide", cell: ({ health }) => health && failures(health.last_week) },
  { name: "waited", title: "Waited p50", class: "time wider",
    cell: ({ health }) => health && took(health.last_week.worker.p50) },
  { name: "work", title: "At work p50, p95", class: "waits wider",
    cell: ({ health }) => health && work(health.last_week.work) },
];

/** @param {import("api").WaitsView} of */
const work = (of) => (of.tasks === 0 ? "–" : `${took(of.p50)}, ${took(of.p95)}`);

export default function Agents() {
  const { data, problem, isLoading } = useList("/agents", { everyMs: 5000, isFirst: true });
  const healths = useSlow("/stats/agents?limit=100", 60_000);
  const agents = useMemo(() => {
    const known = new Map((healths.data?.items ?? []).map((/** @type {Health} */ each) => [each.slug, each]));
    return (data?.items ?? []).map((/** @type {SeenAgentView} */ agent) =>
      ({ ...agent, health: known.get(agent.slug) }));
  }, [data, healths.data]);
  useKeys("Agents", { c: { does: "new agent", run: () => go("/new-agent") } });
  return html`<div class="head"><h1>Agents</h1> <a href=${address("/new-agent")}>New agent <${Key}>c<//></a></div>
    <${Trouble} of=${problem} what="The list can't be read." />
    <${Trouble} of=${healths.problem} what="Their numbers can't be read." />
    ${healths.data?.next_cursor && html`<p class="faint">The numbers are of the first 100 agents.</p>`}
    ${isLoading ? html`<${Loading} />`
      : agents.length > 0 ? html`<${Table} label="Agents" columns=${COLUMNS} rows=${agents} more=${data?.more}
          keyOf=${(/** @type {SeenAgentView} */ agent) => agent.slug}
          hrefOf=${(/** @type {SeenAgentView} */ agent) => address(`/agents/${agent.slug}`)} />`
      : !problem && html`<${Empty} title="No agent yet">
          <p>An agent is registered by a person or a service: <code>PUT /agents/{slug}</code>, or many at once
            with <code>POST /agents/import</code>.</p>
        <//>`}`;
}

/** An agent that Baton runs is gone only between two runs.
 * @param {{of: {active: boolean, runtime: string, liveness: import("api").LivenessView}}} props */
function Live({ of }) {
  if (!of.active) return html`<span class="state failed">✕ switched off</span>`;
  const { status, last_contact_at: at } = of.liveness;
  if (!at && of.runtime !== "run") return html`<span class="state">○ never seen</span>`;
  if (of.runtime === "run" && status !== "active") return html`<span class="state">○ at rest</span>`;
  return html`<span class=${`state ${status === "active" ? "done" : ""}`}>
    ${status === "active" ? "●" : status === "idle" ? "◐" : "○"} ${status}</span>`;
}

/** @param {{params: Record<string, string>}} props */
export function Agent({ params }) {
  const slug = params.slug ?? "";
  const { data, problem, isLoading } = useLive(`/agents/${encodeURIComponent(slug)}`, { isUntold: () => true });
  const { data: held } = useLive(
    `/tasks?agent=${encodeURIComponent(slug)}&state=claimed&state=waiting&state=delegated&state=next&limit=100`);
  const agent = /** @type {WholeAgentView | null} */ (data);
  const act = () => { if (agent) turn(agent); };
  useKeys("Agent", agent ? { x: { does: agent.active ? "switch it off" : "switch it on", run: act } } : {});
  if (isLoading) return html`<h1>Agent</h1><${Loading} />`;
  if (!agent) return html`<h1>Agent</h1>
    <${Trouble} of=${problem} what="The agent can't be read." />
    <p><a href=${address("/agents")}>All agents</a></p>`;
  const tasks = /** @type {import("api").TaskPage | null} */ (held)?.items ?? [];
  return html`<article class="task">
    <header>
      <p class="row">
        <${Live} of=${agent} />${" "}
        <span class="faint">last seen <${Ago} at=${agent.liveness.last_contact_at} none="never" /></span>
      </p>
      <h1 class="title"><${Said} of=${agent.name || agent.slug} /></h1>
      <div class="row acts">
        <button type="button" class=${agent.active ? "danger" : "primary"} onClick=${act}>
          ${agent.active ? "Switch off" : "Switch on"} <${Key}>x<//></button>
        <a href=${address(`/agents/${slug}/change`)}>Change it</a>
        <a href=${address("/tasks", { agent: slug })}>All its tasks</a>
      </div>
    </header>
    <${Trouble} of=${problem} />
    <div class="halves">
      <div>
        <${AgentHealth} slug=${agent.slug} />
        <section class="card" aria-labelledby="holds">
          <h2 id="holds">What it has <span class="faint">${tasks.length || "nothing"}</span></h2>
          <ul class="log">${tasks.map((task) => html`<li key=${task.id}>
            <${State} of=${task.state} />${" "}
            <a href=${address(`/tasks/${task.id}`)}><${Said} of=${task.title || task.id} /></a>${" "}
            <span class="faint"><${Ago} at=${task.updated_at} /></span>
          </li>`)}</ul>
        </section>
        ${agent.system_prompt && html`<section class="card" aria-labelledby="prompt">
          <h2 id="prompt">Prompt</h2>
          <${Said} of=${agent.system_prompt} block />
        </section>`}
      </div>
      <section class="card" aria-labelledby="details">
        <h2 id="details">Details</h2>
        ${agent.description && html`<${Said} of=${agent.description} block />`}
        <${Facts} of=${facts(agent)} />
        <${Data} of=${agent.tools} title="Tools" />
      </section>
    </div>
  </article>`;
}

/** @param {WholeAgentView} agent @returns {[string, unknown][]} */
function facts(agent) {
  return [
    ["Slug", html`<code>${agent.slug}</code>`],
    ["Aliases", agent.aliases.length > 0 && html`<${Said} of=${agent.aliases.join(", ")} />`],
    ["Accepts", agent.accepts.length > 0 && html`<${Said} of=${agent.accepts.join(", ")} />`],
    ["Produces", agent.produces.length > 0 && html`<${Said} of=${agent.produces.join(", ")} />`],
    ["Run by", agent.runtime === "run" ? "Baton" : "its own worker"],
    ["Approval", agent.approval === "auto" ? "auto: what is handed to it is approved"
      : "manual: a person approves each"],
    ["Lost work", agent.requeue === "same" ? "goes back to it" : "goes to a person"],
    ["At once", agent.max_concurrent ?? "no limit"],
    ["Model", agent.model && html`<${Said} of=${agent.model} />`],
    ["Turns", agent.max_turns],
    ["Tokens a run", agent.max_tokens?.toLocaleString()],
    ["Changed", html`<${Ago} at=${agent.updated_at} /> by <${Said} of=${agent.updated_by} />`],
  ];
}

/** @param {WholeAgentView} agent */
function turn(agent) {
  const isOff = agent.active;
  ask({
    title: isOff ? `Switch ${agent.slug} off` : `Switch ${agent.slug} on`,
    text: isOff ? "From its next request on it claims nothing, hands nothing over and reads only its inbox; "
        + "it may release and fail what it holds. Its work waits."
      : "It may claim and hand over again. What waited for it is taken in its order.",
    fields: isOff ? [{ name: "reason", label: "Reason", type: "textarea",
      hint: "Others read it as an alert, until one of you resolves it." }] : [],
    confirm: isOff ? "Switch off" : "Switch on",
    danger: isOff,
    run: async ({ reason }) => {
      await change("PUT", `/agents/${agent.slug}`, { active: !isOff, version: agent.version });
      toast(isOff ? "Switched off" : "Switched on");
      lookAgain();
      if (isOff && reason) await tell(agent.slug, reason);
    },
  });
}

/** Why it was switched off, for those who find it so. The switch stays as it is where the alert is refused.
 * @param {string} slug @param {string} reason */
async function tell(slug, reason) {
  try {
    await post("/alerts", { kind: "agent-switched-off", severity: "warning",
      message: `${slug} was switched off: ${reason}`.slice(0, 2000) });
  } catch (error) {
    failed("It is off, but the reason wasn't kept", error);
  }
}
