/** What earlier attempts left behind. */
import { html, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { decided } from "../../core/pending.js";
import { Ago, Data, Id, Said } from "../../ui/parts.js";
import { takeLate } from "../approvals/decisions.js";
import { isOpen } from "./tree.js";

/** What was kept is whole, and is a result. @param {LateResult} late */
const isResult = (late) => late.verb === "complete" && late.content !== null && !("left_out" in late.content) && ("output" in late.content || "completion" in late.content);

const FEW = 25, MOST = 100;

/** The newest of what a task has kept, and what shows more of it. @param {string} path @param {number} when @param {boolean} [isUntold] */
function useNewest(path, when, isUntold = false) {
  const [most, setMost] = useState(FEW);
  const how = { everyMs: 15_000, when, isUntold: () => isUntold };
  const few = useLive(`${path}?limit=${FEW}`, how);
  const many = useLive(most > FEW ? `${path}?limit=${MOST}` : null, how);
  const page = /** @type {{items: any[], next_cursor: string | null} | null} */ (many.data ?? few.data);
  const rest = page?.next_cursor ? html`<p class="row"><span class="faint">These are the newest ${page.items.length}.</span>
    ${page.items.length <= FEW ? html`<button type="button" onClick=${() => setMost(MOST)}>Show up to ${MOST}</button>` : html`<span class="faint">Older ones: <code>GET ${path}</code></span>`}</p>` : null;
  return { items: page?.items ?? [], rest };
}

/** @param {{of: import("api").RecoveryView[]}} props */
export function Recoveries({ of }) {
  if (of.length === 0) return null;
  return html`<section class="card" aria-labelledby="recoveries"><h2 id="recoveries">Recoveries</h2><ul class="log">${of.map((each) => html`<li key=${each.at}>
    <p><${Ago} at=${each.at} /> · <${Said} of=${each.reason} /></p><p class="faint"><${Said} of=${each.action} /></p>
    ${each.last_checkpoint_id && html`<p class="faint">went on from <${Id} of=${each.last_checkpoint_id} short /></p>`}</li>`)}</ul></section>`;
}

/** @param {{id: string, when: number}} props */
export function Checkpoints({ id, when }) {
  const { items, rest } = useNewest(`/tasks/${id}/checkpoints`, when);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="checkpoints"><h2 id="checkpoints">Checkpoints</h2><ul class="log">${items.map((/** @type {import("api").CheckpointPage["items"][number]} */ each) => html`<li key=${each.checkpoint_id}>
    <p><strong><${Said} of=${each.step_name} /></strong> · <${Ago} at=${each.at} /> · <${Said} of=${each.by} /></p><${Data} of=${each.state} title="State" /></li>`)}</ul>${rest}</section>`;
}

/** @typedef {import("api").LateResults["items"][number]} LateResult */

/** What workers said under claims that were over. A result is taken by a click: the task ends as done with it.
 * @param {{task: Pick<import("api").ListedTask, "id" | "title" | "state" | "version">, onTaken?: () => void}} props */
export function LateResults({ task, onTaken = () => {} }) {
  const { items, rest } = useNewest(`/tasks/${task.id}/late-results`, task.version);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="late"><h2 id="late">Came too late</h2><ul class="log">${items.map((/** @type {LateResult} */ each) => html`<li key=${each.fence}>
    <p><strong>${each.verb}</strong> by <${Said} of=${each.agent} /> · <${Ago} at=${each.at} /> · fence ${each.fence}</p><${Data} of=${each.content} title="What it said" open=${isResult(each)} />
    ${isOpen(task.state) && isResult(each) && !decided.value.has(task.id) && html`<p class="row"><button type="button" title="The task ends as done with it; whoever holds it now is refused with the next request"
      onClick=${() => takeLate(task, each, onTaken)}>Take this result</button></p>`}</li>`)}</ul>${rest}</section>`;
}

/** Who holds the task may add one, of which nothing rings. @param {{id: string, when: number, isHeld: boolean}} props */
export function Notes({ id, when, isHeld }) {
  const { items, rest } = useNewest(`/tasks/${id}/notes`, when, isHeld);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="notes"><h2 id="notes">Notes</h2><ul class="log">${items.map((/** @type {import("api").NotePage["items"][number]} */ each) => html`<li key=${each.id}>
    <p><${Ago} at=${each.at} /> · <${Said} of=${each.by} /></p>${typeof each.content.text === "string"
  ? html`<${Said} of=${each.content.text} block />` : html`<${Data} of=${each.content} title="Content" open />`}</li>`)}</ul>${rest}</section>`;
}
