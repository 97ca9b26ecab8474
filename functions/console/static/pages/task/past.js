/** What earlier attempts left behind. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { Ago, Data, Id, Said } from "../../ui/parts.js";

/** @param {{of: import("api").RecoveryView[]}} props */
export function Recoveries({ of }) {
  if (of.length === 0) return null;
  return html`<section class="card" aria-labelledby="recoveries"><h2 id="recoveries">Recoveries</h2><ul class="log">${of.map((each) => html`<li key=${each.at}>
    <p><${Ago} at=${each.at} /> · <${Said} of=${each.reason} /></p><p class="faint"><${Said} of=${each.action} /></p>
    ${each.last_checkpoint_id && html`<p class="faint">went on from <${Id} of=${each.last_checkpoint_id} short /></p>`}</li>`)}</ul></section>`;
}

/** @param {{id: string, when: number}} props */
export function Checkpoints({ id, when }) {
  const { data } = useLive(`/tasks/${id}/checkpoints?limit=25`, { everyMs: 15_000, when });
  const items = /** @type {import("api").CheckpointPage | null} */ (data)?.items ?? [];
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="checkpoints"><h2 id="checkpoints">Checkpoints</h2><ul class="log">${items.map((each) => html`<li key=${each.checkpoint_id}>
    <p><strong><${Said} of=${each.step_name} /></strong> · <${Ago} at=${each.at} /> · <${Said} of=${each.by} /></p><${Data} of=${each.state} title="State" /></li>`)}</ul></section>`;
}

/** What workers said under claims that were over. @param {{id: string, when: number}} props */
export function LateResults({ id, when }) {
  const { data } = useLive(`/tasks/${id}/late-results?limit=25`, { everyMs: 30_000, when });
  const items = /** @type {import("api").LateResults | null} */ (data)?.items ?? [];
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="late"><h2 id="late">Came too late</h2><ul class="log">${items.map((each) => html`<li key=${each.fence}>
    <p><strong>${each.verb}</strong> by <${Said} of=${each.agent} /> · <${Ago} at=${each.at} /> · fence ${each.fence}</p><${Data} of=${each.content} title="What it said" /></li>`)}</ul></section>`;
}

/** @param {{id: string, when: number}} props */
export function Notes({ id, when }) {
  const { data } = useLive(`/tasks/${id}/notes?limit=25`, { everyMs: 15_000, when });
  const items = /** @type {import("api").NotePage | null} */ (data)?.items ?? [];
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="notes"><h2 id="notes">Notes</h2><ul class="log">${items.map((each) => html`<li key=${each.id}>
    <p><${Ago} at=${each.at} /> · <${Said} of=${each.by} /></p>${typeof each.content.text === "string"
  ? html`<${Said} of=${each.content.text} block />` : html`<${Data} of=${each.content} title="Content" open />`}</li>`)}</ul></section>`;
}
