/** How a task ended: its output, or its failure with what is needed to go on. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Data, Facts, Said } from "../../ui/parts.js";

/** @param {{task: import("api").WholeTask, handoff: any}} props */
export function Outcome({ task, handoff }) {
  const completion = handoff?.completion ?? null;
  const failure = handoff?.failure ?? task.failure;
  if (!completion && !failure && task.output === null) return null;
  return html`<section class="card" aria-labelledby="outcome"><h2 id="outcome">What came of it</h2>
    ${completion && html`<${Completion} of=${completion} />`}
    ${failure && html`<${Failure} of=${failure} />`}
    ${typeof task.output === "string" ? html`<${Said} of=${task.output} block />` : html`<${Data} of=${task.output} title="Output" open />`}
  </section>`;
}

/** @param {{of: any}} props */
function Completion({ of }) {
  const checks = Object.entries(of.verification ?? {}).filter(([, value]) => typeof value === "boolean");
  return html`<div>
    ${of.status === "partial" && html`<p class="flag">partial</p>`}
    ${checks.length > 0 && html`<ul class="checks">${checks.map(([name, isGood]) => html`<li class=${isGood ? "met" : "unmet"}><span role="img" aria-label=${isGood ? "yes" : "no"}>${isGood ? "☑" : "☒"}</span> ${name.replaceAll("_", " ")}</li>`)}</ul>`}
    ${(of.deliverables ?? []).map((/** @type {any} */ each) => html`<div class="deliverable"><p><strong>${each.type}</strong> <${Said} of=${each.description} /></p>
      <${Facts} of=${[["Created", files(each.files_created)], ["Changed", files(each.files_modified)], ["Tests", files(each.tests_created)]]} /></div>`)}
    ${(of.notes ?? []).map((/** @type {string} */ note) => html`<${Said} of=${note} block />`)}
    <${Data} of=${of.results} title="Results" />
    ${of.continuation && html`<p>It suggests <${Said} of=${of.continuation.suggested_next} /> next${of.continuation.task_id
    ? html`: <a href=${address(`/tasks/${of.continuation.task_id}`)}>the task</a>` : ` (${of.continuation.status ?? "not made"})`}. <${Said} of=${of.continuation.reason} /></p>`}
  </div>`;
}

/** @param {{of: any}} props */
function Failure({ of }) {
  const request = of.rollback_request;
  return html`<div class="failure"><p><span class="flag">${of.type}</span></p><${Said} of=${of.description} block />
    <${List} title="Blockers" of=${of.blockers} show=${(/** @type {any} */ each) => html`<strong>${each.type}</strong> <${Said} of=${each.description} />${each.required_to_proceed && html` <span class="flag">needed to go on</span>`}`} />
    <${List} title="Questions" of=${request?.questions} show=${(/** @type {string} */ each) => html`<${Said} of=${each} />`} />
    <${List} title="Completed" of=${of.partial_progress?.completed} show=${(/** @type {string} */ each) => html`<${Said} of=${each} />`} />
    <${List} title="Left to do" of=${of.partial_progress?.incomplete} show=${(/** @type {string} */ each) => html`<${Said} of=${each} />`} />
    ${request?.target_agent && html`<p>Rolled back to <${Said} of=${request.target_agent} />. <${Said} of=${request.reason} /></p>`}
    ${of.rollback?.task_id && html`<p><a href=${address(`/tasks/${of.rollback.task_id}`)}>The task that it was rolled back to</a></p>`}</div>`;
}

/** @param {{title: string, of: any[] | undefined, show: (each: any) => unknown}} props */
function List({ title, of, show }) {
  return of?.length ? html`<h3>${title}</h3><ul>${of.map((each) => html`<li>${show(each)}</li>`)}</ul>` : null;
}

/** @param {string[] | undefined} names */
const files = (names) => (names?.length ? html`<${Said} of=${names.join("\n")} block />` : null);
