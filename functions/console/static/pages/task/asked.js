/** What a handoff asks for: text, results, context, expectations, limits. */
import { html } from "../../lib.js";
import { Ago, Data, Facts, Said } from "../../ui/parts.js";
import { length } from "../../core/time.js";

/** @typedef {import("api").HandoffView} HandoffView */

/** What has a place of its own on the page, or only says which handoff it is. */
const ELSEWHERE = new Set(["handoff_id", "task_id", "kind", "status", "state", "revision", "digest", "timestamp", "target", "summary", "results", "context",
  "expectations", "rollback", "metadata", "budget", "snapshot", "completion", "failure", "url", "task_url"]);

/** `title`: what stands above it, and needn't be said twice. `isWhole`: nothing is folded or left out, as somebody decides on it.
 * @param {{handoff: HandoffView, title?: string, isWhole?: boolean}} props */
export function Asked({ handoff, title = "", isWhole = false }) {
  const { context, rollback, budget } = /** @type {any} */ (handoff);
  const { labels, ...about } = handoff.metadata ?? {};
  return html`<div class=${isWhole ? "asked whole" : "asked"}>
    <${Said} of=${handoff.target.reason} block />
    ${handoff.summary && handoff.summary !== handoff.target.reason && handoff.summary !== title && html`<${Said} of=${handoff.summary} block />`}
    <${Results} of=${handoff.results} />
    <${Criteria} handoff=${handoff} />
    <${Context} of=${context} isWhole=${isWhole} />
    ${handoff.snapshot && html`<section><h3>Memory taken along</h3><ul>${handoff.snapshot.summaries.map((each, at) => html`<li><${Said} of=${each} />${handoff.snapshot?.posted_by?.[at] && html` <span class="faint">by <${Said} of=${handoff.snapshot.posted_by[at]} /></span>`}</li>`)}</ul></section>`}
    <${Budget} of=${budget} />
    ${rollback && html`<section><h3>If it fails</h3><${Facts} of=${[
    ["Goes to", rollback.on_failure && html`<${Said} of=${rollback.on_failure} />`],
    ["With", rollback.failure_context && html`<${Said} of=${rollback.failure_context.join(", ")} />`],
    ["From", isOthers(rollback.checkpoint_id, handoff) && html`<${Said} of=${rollback.checkpoint_id} />`],
  ]} /></section>`}
    <${Data} of=${labels} title="Labels" open=${isWhole} />
    ${isWhole && html`<${Data} of=${{ ...alsoSaid(handoff), ...about }} title="Also said" open />`}
  </div>`;
}

/** A checkpoint that isn't that of the handoff's own beginning; a request that was stopped has none yet. @param {string | null | undefined} checkpoint @param {HandoffView} handoff */
const isOthers = (checkpoint, handoff) => checkpoint && checkpoint !== handoff.task_id?.replace("task_", "chk_");

/** @param {HandoffView} handoff */
function alsoSaid(handoff) {
  const { agent: _, ...source } = /** @type {any} */ (handoff.source ?? {});
  const { agent, reason, ...target } = /** @type {any} */ (handoff.target);
  return Object.fromEntries([...Object.entries(handoff).filter(([name, value]) => !ELSEWHERE.has(name) && name !== "source" && value !== null),
    ...Object.entries({ source, target }).filter(([, value]) => Object.keys(value).length > 0)]);
}

/** @param {{of: any[]}} props */
function Results({ of }) {
  if (!of.length) return null;
  return html`<section><h3>What was done so far</h3><ul class="results">${of.map((each) => html`<li>
    <span class=${`state ${each.status}`}>${each.status}</span> <${Said} of=${each.description} />
    ${each.artifacts?.length ? html`<p class="faint"><${Said} of=${each.artifacts.join(", ")} /></p>` : null}
    ${each.notes && html`<${Said} of=${each.notes} block />`}</li>`)}</ul></section>`;
}

/** The expectations as a list to check off, with the evidence that a completion gave.
 * @param {{handoff: HandoffView}} props */
export function Criteria({ handoff }) {
  const { deliverables = [], constraints = [], estimated_duration: estimated, deadline, fail_on_deadline: isFailing } = /** @type {any} */ (handoff.expectations ?? {});
  const reports = new Map((/** @type {any} */ (handoff.completion)?.verification?.acceptance_criteria_met ?? []).map((/** @type {any} */ each) => [each.criterion, each]));
  if (!deliverables.length && !constraints.length && !estimated && !deadline) return null;
  return html`<section class="criteria"><h3>What is expected</h3>
    ${deliverables.map((/** @type {any} */ each) => html`<div class="deliverable">
      <p><strong><${Said} of=${each.description} /></strong> <span class="faint">${each.type}</span></p>
      ${each.files?.length ? html`<p class="faint"><${Said} of=${each.files.join(", ")} /></p>` : null}
      <ul class="checks">${(each.acceptance_criteria ?? []).map((/** @type {string} */ criterion) => html`<${Check} criterion=${criterion} report=${reports.get(criterion)} />`)}</ul></div>`)}
    ${constraints.length > 0 && html`<h4>Constraints</h4><ul>${constraints.map((/** @type {string} */ each) => html`<li><${Said} of=${each} /></li>`)}</ul>`}
    <${Facts} of=${[["Estimated", estimated && html`<${Said} of=${estimated} />`], ["Deadline", deadline && html`<${Ago} at=${deadline} />${isFailing && "; the task fails then"}`]]} /></section>`;
}

/** @param {{criterion: string, report: any}} props */
function Check({ criterion, report }) {
  const [mark, word] = !report ? ["☐", "not reported yet"] : report.met ? ["☑", "met"] : ["☒", "not met"];
  return html`<li class=${!report ? "" : report.met ? "met" : "unmet"}><span role="img" aria-label=${word} title=${word}>${mark}</span>
    <span><${Said} of=${criterion} />${report?.evidence && html`<span class="evidence"><${Said} of=${report.evidence} /></span>`}</span></li>`;
}

/** @param {{of: any, isWhole: boolean}} props */
function Context({ of, isWhole }) {
  const { project, artifacts = [], state, variables, relevant_memories: memories = [], ...rest } = of ?? {};
  if (!of || Object.keys(of).length === 0) return null;
  return html`<section><h3>Context</h3>
    ${project && html`<${Facts} of=${[["Project", html`<${Said} of=${project.name} />`], ["Path", project.path && html`<${Said} of=${project.path} />`], ["Built with", project.tech_stack?.length && html`<${Said} of=${project.tech_stack.join(", ")} />`]]} />`}
    ${artifacts.map((/** @type {any} */ each) => html`<div class="artifact"><p><strong>${each.type}</strong> ${each.path && html`<code><${Said} of=${each.path} /></code>`}</p>
      ${each.description && html`<${Said} of=${each.description} block />`}${each.rationale && html`<p class="faint">because <${Said} of=${each.rationale} /></p>`}
      <${Data} of=${each.content} title="Content" open=${isWhole} /></div>`)}
    <${Data} of=${variables} title="Variables" open /><${Data} of=${state} title="State" open=${isWhole} />
    <${Data} of=${memories} title="Memories" open=${isWhole} /><${Data} of=${rest} title="More" open=${isWhole} /></section>`;
}

/** @param {{of: any}} props */
function Budget({ of }) {
  if (!of) return null;
  const { max_handoffs: handoffs, max_model_calls: calls, max_tokens: tokens, deadline } = of;
  return html`<section><h3>Budget</h3><${Facts} of=${[["Handoffs", handoffs], ["Model calls", calls], ["Tokens", tokens?.toLocaleString()],
    ["Until", deadline && html`<${Ago} at=${deadline} />`], ["Length", of.max_seconds && length(of.max_seconds)]]} /></section>`;
}
