/** How an agent is: its queue, its claims, and what its last week was like. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { useSlow } from "../../core/dear.js";
import { Ago, Facts, Said, Trouble } from "../../ui/parts.js";
import { ended, failures, PHASES, tokens, took } from "../stats/counts.js";

/** @typedef {import("api").AgentHealthView} Health */

/** @param {Health} of */
export const waiting = (of) => html`${of.waiting}${of.has_more ? "+" : ""}
  ${of.oldest_at && html`<span class="faint">, <${Ago} at=${of.oldest_at} /></span>`}`;

/** @param {Health} of */
export const running = (of) => (of.limit === null ? `${of.running}` : `${of.running} of ${of.limit}`);

/** @param {{slug: string}} props */
export function AgentHealth({ slug }) {
  const { data, problem } = useSlow(`/agents/${encodeURIComponent(slug)}/health`, 20_000);
  const health = /** @type {Health | null} */ (data);
  return html`<section class="card" aria-labelledby="health">
    <h2 id="health">How it is</h2>
    <${Trouble} of=${problem} what="Its numbers can't be read." />
    ${health && html`<${Facts} of=${facts(health)} />
      ${health.last_failure && html`<${LastFailure} of=${health.last_failure} />`}
      <p><a href=${address("/stats", { agent: slug, since: "month" })}>How it went, over time</a></p>`}
  </section>`;
}

/** @param {Health} of @returns {[string, unknown][]} */
function facts(of) {
  const week = of.last_week;
  return [
    ["Waiting", waiting(of)],
    ["In progress", running(of)],
    ["Last week", `${ended(week).toLocaleString()} ended`],
    ["Failed", `${week.failed.toLocaleString()} (${failures(week)})`],
    ["Leases lost", week.recoveries || null],
    ["Tried again", week.retries || null],
    ...PHASES.map((phase) => /** @type {[string, unknown]} */ ([
      phase.title, week[phase.name].tasks > 0 && `p50 ${took(week[phase.name].p50)}, p95 ${took(week[phase.name].p95)}`,
    ])),
    ["Tokens", week.tokens > 0 && tokens(week.tokens)],
  ];
}

/** @param {{of: NonNullable<Health["last_failure"]>}} props */
function LastFailure({ of }) {
  return html`<div class="trouble">
    <p><strong>Last failure</strong> <a href=${address(`/tasks/${of.task_id}`)}><${Ago} at=${of.at} /></a>${" "}
      ${of.type && html`<code><${Said} of=${of.type} /></code>`}</p>
    <${Said} of=${of.description ?? ""} block />
  </div>`;
}
