/** What a handoff asks for: where it comes from, text, results, context, expectations, limits. */
import { html } from "../../lib.js";
import { length } from "../../core/time.js";
import { Labels } from "../../ui/evidence.js";
import { Conversation } from "../../ui/evidence/before.js";
import { Origin } from "../../ui/evidence/origin.js";
import { Ago, Facts, Said } from "../../ui/parts.js";
import { Json, Text } from "../../ui/text.js";

/** @typedef {import("api").HandoffView} HandoffView */

/** What has a place of its own on the page, or only says which handoff it is. */
const ELSEWHERE = new Set(["handoff_id", "task_id", "kind", "status", "state", "revision", "digest", "timestamp",
  "target", "summary", "results", "context", "expectations", "rollback", "metadata", "budget", "snapshot",
  "completion", "failure", "escalation", "rolls_back", "retries", "continues", "part_of", "url", "task_url",
  "input", "conversation"]);

/** What the page says beside it, of the task. */
const SAID_BESIDE = new Set(["priority", "effort", "workflow_id", "parent_handoff", "depth"]);

/** `title`: what stands above it, and needn't be said twice. `isWhole`: nothing is folded or left out, as somebody
 * decides on it.
 * @param {{handoff: HandoffView, title?: string, isWhole?: boolean, chain?: import("api").ChainView | null}} props */
export function Asked({ handoff, title = "", isWhole = false, chain = null }) {
  const { context, rollback, budget, summary } = /** @type {any} */ (handoff);
  const { reason } = handoff.target;
  const { labels, ...others } = /** @type {any} */ (handoff.metadata ?? {});
  const about = Object.fromEntries(Object.entries(others).filter(([name]) => !SAID_BESIDE.has(name)));
  return html`<div class=${isWhole ? "asked whole" : "asked"}>
    <${Labels} of=${labels} />
    <${Origin} handoff=${handoff} chain=${chain} />
    ${!isWhole && reason === title && !summary && html`<p class="faint">What its title says.</p>`}
    ${reason !== title && html`<${Text} of=${reason} title="Reason" isWhole=${isWhole} />`}
    ${summary && summary !== reason && summary !== title
      && html`<${Text} of=${summary} title="Summary" isWhole=${isWhole} />`}
    <${Conversation} handoff=${handoff} isWhole=${isWhole} />
    <${Results} of=${handoff.results} isWhole=${isWhole} />
    <${Criteria} handoff=${handoff} />
    <${Context} of=${context} isWhole=${isWhole} />
    <${Memory} of=${handoff.snapshot} />
    <${Budget} of=${budget} />
    ${rollback && html`<section>
      <h3>If it fails</h3>
      <${Facts} of=${[
        ["Goes to", rollback.on_failure && html`<${Said} of=${rollback.on_failure} />`],
        ["With", rollback.failure_context && html`<${Said} of=${rollback.failure_context.join(", ")} />`],
        ["From", isOthers(rollback.checkpoint_id, handoff) && html`<${Said} of=${rollback.checkpoint_id} />`],
      ]} />
    </section>`}
    ${isWhole && html`<${Json} of=${{ ...alsoSaid(handoff), ...about }} title="Also said" isWhole />`}
  </div>`;
}

/** A checkpoint that isn't that of the handoff's own beginning; a request that was stopped has none yet.
 * @param {string | null | undefined} checkpoint @param {HandoffView} handoff */
const isOthers = (checkpoint, handoff) => checkpoint && checkpoint !== handoff.task_id?.replace("task_", "chk_");

/** @param {HandoffView} handoff */
function alsoSaid(handoff) {
  const { agent: _, ...source } = /** @type {any} */ (handoff.source ?? {});
  const { agent, reason, ...target } = /** @type {any} */ (handoff.target);
  const others = Object.entries(handoff)
    .filter(([name, value]) => !ELSEWHERE.has(name) && name !== "source" && value !== null);
  return Object.fromEntries([...others,
    ...Object.entries({ source, target }).filter(([, value]) => Object.keys(value).length > 0)]);
}

/** @param {{of: HandoffView["snapshot"]}} props */
function Memory({ of }) {
  if (!of) return null;
  return html`<section>
    <h3>Memory taken along</h3>
    <ul>${of.summaries.map((each, at) => html`<li>
      <${Said} of=${each} />
      ${of.posted_by?.[at] && html` <span class="faint">by <${Said} of=${of.posted_by[at]} /></span>`}
    </li>`)}</ul>
  </section>`;
}

/** @param {{of: any[], isWhole: boolean}} props */
function Results({ of, isWhole }) {
  if (!of.length) return null;
  return html`<section>
    <h3>What was done so far</h3>
    <ul class="results">${of.map((each) => html`<li>
      <span class=${`state ${each.status}`}>${each.status}</span> <${Said} of=${each.description} />
      ${each.artifacts?.length ? html`<p class="faint"><${Said} of=${each.artifacts.join(", ")} /></p>` : null}
      ${each.notes && html`<${Text} of=${each.notes} title="Notes" isWhole=${isWhole} />`}
    </li>`)}</ul>
  </section>`;
}

/** The expectations as a list to check off, with the evidence that a completion gave.
 * @param {{handoff: HandoffView}} props */
export function Criteria({ handoff }) {
  const { deliverables = [], constraints = [], estimated_duration: estimated, deadline, fail_on_deadline: isFailing } =
    /** @type {any} */ (handoff.expectations ?? {});
  const met = /** @type {any} */ (handoff.completion)?.verification?.acceptance_criteria_met ?? [];
  const reports = new Map(met.map((/** @type {any} */ each) => [each.criterion, each]));
  if (!deliverables.length && !constraints.length && !estimated && !deadline) return null;
  return html`<section class="criteria">
    <h3>What is expected</h3>
    ${deliverables.map((/** @type {any} */ each) => html`<div class="deliverable">
      <p><strong><${Said} of=${each.description} /></strong> <span class="faint"><${Said} of=${each.type} /></span></p>
      ${each.files?.length ? html`<p class="faint"><${Said} of=${each.files.join(", ")} /></p>` : null}
      <ul class="checks">${(each.acceptance_criteria ?? []).map((/** @type {string} */ criterion) =>
        html`<${Check} criterion=${criterion} report=${reports.get(criterion)} />`)}</ul>
    </div>`)}
    ${constraints.length > 0 && html`<h4>Constraints</h4>
      <ul>${constraints.map((/** @type {string} */ each) => html`<li><${Said} of=${each} /></li>`)}</ul>`}
    <${Facts} of=${[
      ["Estimated", estimated && html`<${Said} of=${estimated} />`],
      ["Deadline", deadline && html`<${Ago} at=${deadline} />${isFailing && "; the task fails then"}`],
    ]} />
  </section>`;
}

/** @param {{criterion: string, report: any}} props */
function Check({ criterion, report }) {
  const [mark, word] = !report ? ["☐", "not reported yet"] : report.met ? ["☑", "met"] : ["☒", "not met"];
  return html`<li class=${!report ? "" : report.met ? "met" : "unmet"}>
    <span role="img" aria-label=${word} title=${word}>${mark}</span>
    <span>
      <${Said} of=${criterion} />
      ${report?.evidence && html`<span class="evidence"><${Said} of=${report.evidence} /></span>`}
    </span>
  </li>`;
}

/** @param {{of: any, isWhole: boolean}} props */
function Context({ of, isWhole }) {
  const { project, artifacts = [], state, variables, relevant_memories: memories = [], ...rest } = of ?? {};
  if (!of || Object.keys(of).length === 0) return null;
  return html`<section>
    <h3>Context</h3>
    ${project && html`<${Facts} of=${[
      ["Project", html`<${Said} of=${project.name} />`],
      ["Path", project.path && html`<${Said} of=${project.path} />`],
      ["Built with", project.tech_stack?.length && html`<${Said} of=${project.tech_stack.join(", ")} />`],
    ]} />`}
    ${artifacts.map((/** @type {any} */ each) => html`<div class="artifact">
      <p><strong><${Said} of=${each.type} /></strong> ${each.path && html`<code><${Said} of=${each.path} /></code>`}</p>
      ${each.description && html`<${Text} of=${each.description} title="Description" isWhole=${isWhole} />`}
      ${each.rationale && html`<p class="faint">because <${Said} of=${each.rationale} /></p>`}
      <${Json} of=${each.content} title="Content" isWhole=${isWhole} />
    </div>`)}
    <${Json} of=${variables} title="Variables" isWhole=${isWhole} isOpen />
    <${Json} of=${state} title="State" isWhole=${isWhole} />
    <${Json} of=${memories} title="Memories" isWhole=${isWhole} />
    <${Json} of=${rest} title="More" isWhole=${isWhole} />
  </section>`;
}

/** @param {{of: any}} props */
function Budget({ of }) {
  if (!of) return null;
  const { max_handoffs: handoffs, max_model_calls: calls, max_tokens: tokens, deadline } = of;
  return html`<section>
    <h3>Budget</h3>
    <${Facts} of=${[
      ["Handoffs", handoffs],
      ["Model calls", calls],
      ["Tokens", tokens?.toLocaleString()],
      ["Until", deadline && html`<${Ago} at=${deadline} />`],
      ["Length", of.max_seconds && length(of.max_seconds)],
    ]} />
  </section>`;
}
