/** How one message is shown, by its type. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Ago, Data, Said } from "../../ui/parts.js";

/** @param {{of: import("api").MessageView}} props */
export function Message({ of }) {
  const data = /** @type {any} */ (of.data);
  if (of.type === "handoff" || of.type === "subtask_created") {
    return html`<div class="routed">
      <p>
        <strong><${Said} of=${of.text} /></strong> <span class="faint"><${Ago} at=${of.at} /></span>
        ${data.new_task_id && html` <a href=${address(`/tasks/${data.new_task_id}`)}>its task</a>`}
      </p>
      <${Data} of=${data.variables} title="What was passed" open />
    </div>`;
  }
  if (of.type === "status_change") return html`<p class="faint aside">
    <${Said} of=${of.text} /> · <${Ago} at=${of.at} />
  </p>`;
  if (of.type === "user_message" || of.type === "assistant_message" || of.type === "error") {
    return html`<div class=${`message ${of.type}`}>
      <p class="faint"><${Said} of=${of.agent} /> · <${Ago} at=${of.at} /></p>
      <${Said} of=${of.text} block />
    </div>`;
  }
  const what = JSON.stringify(of.data, null, 2);
  return html`<details class="data aside">
    <summary>${of.type.replaceAll("_", " ")} · <${Said} of=${of.agent} /></summary>
    ${of.text && html`<${Said} of=${of.text} block />`}
    ${what !== "{}" && html`<pre tabindex="0" aria-label=${of.type}><${Said} of=${what} /></pre>`}
  </details>`;
}
