/** Why something failed, and what is needed to go on: as its worker said it. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Said } from "../parts.js";
import { Text } from "../text.js";

/** `request`: what a rollback asks for, where it stands beside the failure.
 * @param {{of: any, request?: any, isWhole?: boolean}} props */
export function Failure({ of, request = of.rollback_request, isWhole = false }) {
  const { completed, incomplete, ...progress } = of.partial_progress ?? {};
  const said = (/** @type {string} */ each) => html`<${Said} of=${each} />`;
  return html`<div class="failure">
    <p><span class="flag">${of.type}</span></p>
    <${Text} of=${of.description} title="What failed" isWhole=${isWhole} />
    <${List} title="Blockers" of=${of.blockers} show=${(/** @type {any} */ each) => html`
      <strong><${Said} of=${each.type} /></strong>${" "}<${Said} of=${each.description} />
      ${each.required_to_proceed && html` <span class="flag">needed to go on</span>`}`} />
    <${List} title="Questions" of=${request?.questions} show=${said} />
    <${List} title="Completed" of=${completed} show=${said} />
    <${List} title="Left to do" of=${incomplete} show=${said} />
    ${Object.keys(progress).length > 0 && html`<h3>So far</h3>
      <${Text} of=${progress} title="What was reached so far" isCode isWhole=${isWhole} />`}
    ${request?.target_agent && html`<p>
      Rolled back to <${Said} of=${request.target_agent} />. <${Said} of=${request.reason} />
    </p>`}
    ${of.rollback?.task_id && html`<p>
      <a href=${address(`/tasks/${of.rollback.task_id}`)}>The task that it was rolled back to</a>
    </p>`}
  </div>`;
}

/** @param {{title: string, of: any[] | undefined, show: (each: any) => unknown}} props */
function List({ title, of, show }) {
  return of?.length ? html`<h3>${title}</h3><ul>${of.map((each) => html`<li>${show(each)}</li>`)}</ul>` : null;
}
