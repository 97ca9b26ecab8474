/** One task that waits, whole: the text, the context, the criteria and the budget that an approval would let through. */
import { html, Fragment } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { Ago, Flags, Facts, Id, Key, Loading, Said, Trouble, Way } from "../../ui/parts.js";
import { Asked } from "../task/asked.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {Record<"approve" | "next" | "defer" | "dismiss" | "split", () => void>} Acts */

/** @param {{task: ListedTask, acts: Acts, onBack: () => void}} props */
export function Whole({ task, acts, onBack }) {
  const { data: handoff, problem } = useLive(`/handoffs/${task.handoff_id}`, { everyMs: 10_000 });
  return html`<article>
    <div class="row narrow-only"><button type="button" onClick=${onBack}>← Back to the list</button></div>
    <header>
      <p><${Way} from=${task.source_agent} to=${task.target_agent} /> <span class="faint">${task.kind} · <${Ago} at=${task.created_at} /></span>${" "}<${Flags} of=${task.flags} /></p>
      <h2 class="title"><${Said} of=${task.title} /></h2>
    </header>
    <div class="row acts" role="group" aria-label="Decide">
      <button type="button" class="primary" onClick=${acts.approve}>Approve <${Key}>a<//></button>
      <button type="button" onClick=${acts.next} title="Approved, but never dispatched: a worker claims it by its id">Next <${Key}>n<//></button>
      <button type="button" onClick=${acts.defer}>Defer <${Key}>d<//></button>
      <button type="button" onClick=${acts.split}>Split <${Key}>s<//></button>
      <button type="button" class="danger" onClick=${acts.dismiss}>Dismiss <${Key}>x<//></button>
    </div>
    <${Trouble} of=${problem} what="The handoff can't be read." />
    ${handoff ? html`<${Asked} handoff=${handoff} title=${task.title} />` : !problem && html`<${Loading} />`}
    <${Facts} of=${[
    ["Revision", html`<${Fragment}>${task.revision} <span class="faint">your approval is for this one</span><//>`],
    ["Priority", task.priority],
    ["Effort", task.effort],
    ["Due", task.due_date],
    ["Deadline", task.deadline && html`<${Ago} at=${task.deadline} />`],
    ["Attempts", task.attempt > 0 && `${task.attempt} of ${task.max_attempts}`],
    ["Workflow", html`<a href=${address(`/tasks/${task.parent_id ?? task.id}`)}>${task.parent_id === null ? "its beginning" : "what it came from"}</a>`],
    ["Task", html`<${Id} of=${task.id} />`],
  ]} />
  </article>`;
}
