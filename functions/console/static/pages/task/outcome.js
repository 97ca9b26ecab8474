/** How a task ended: its output, or its failure with what is needed to go on. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Failure } from "../../ui/evidence/attempts.js";
import { Facts, Said } from "../../ui/parts.js";
import { Json, Text } from "../../ui/text.js";

/** @param {{task: import("api").WholeTask, handoff: any}} props */
export function Outcome({ task, handoff }) {
  const completion = handoff?.completion ?? null;
  const failure = handoff?.failure ?? task.failure;
  if (!completion && !failure && task.output === null) return null;
  return html`<section class="card" aria-labelledby="outcome">
    <h2 id="outcome">What came of it</h2>
    ${completion && html`<${Completion} of=${completion} />`}
    ${failure && html`<${Failure} of=${failure} />`}
    ${typeof task.output === "string"
      ? html`<${Text} of=${task.output} title="Output" />`
      : html`<${Json} of=${task.output} title="Output" isOpen />`}
  </section>`;
}

/** @param {{of: any}} props */
function Completion({ of }) {
  const checks = Object.entries(of.verification ?? {}).filter(([, value]) => typeof value === "boolean");
  return html`<div>
    ${of.status === "partial" && html`<p class="flag">partial</p>`}
    ${checks.length > 0 && html`<ul class="checks">
      ${checks.map(([name, isGood]) => html`<li class=${isGood ? "met" : "unmet"}>
        <span role="img" aria-label=${isGood ? "yes" : "no"}>${isGood ? "☑" : "☒"}</span>${" "}
        ${name.replaceAll("_", " ")}
      </li>`)}
    </ul>`}
    ${(of.deliverables ?? []).map((/** @type {any} */ each) => html`<div class="deliverable">
      <p><strong><${Said} of=${each.type} /></strong> <${Said} of=${each.description} /></p>
      <${Facts} of=${[
        ["Created", files(each.files_created)],
        ["Changed", files(each.files_modified)],
        ["Tests", files(each.tests_created)],
      ]} />
    </div>`)}
    ${(of.notes ?? []).map((/** @type {string} */ note) => html`<${Text} of=${note} title="Note" />`)}
    <${Json} of=${of.results} title="Results" />
    ${of.continuation && html`<${Next} of=${of.continuation} />`}
  </div>`;
}

/** @param {{of: any}} props */
function Next({ of }) {
  const made = of.task_id ? html`: <a href=${address(`/tasks/${of.task_id}`)}>the task</a>`
    : ` (${of.status ?? "not made"})`;
  return html`<p>It suggests <${Said} of=${of.suggested_next} /> next${made}. <${Said} of=${of.reason} /></p>`;
}

/** @param {string[] | undefined} names */
const files = (names) => (names?.length ? html`<${Said} of=${names.join("\n")} block />` : null);
