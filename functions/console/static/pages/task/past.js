/** What earlier attempts left behind. */
import { html, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { decided } from "../../core/pending.js";
import { Ago, Said } from "../../ui/parts.js";
import { Json, Text } from "../../ui/text.js";
import { takeLate } from "../approvals/decisions.js";
import { isOpen } from "../../core/tree.js";

/** What was kept is whole, and is a result. @param {LateResult} late */
const isResult = (late) => late.verb === "complete" && late.content !== null && !("left_out" in late.content)
  && ("output" in late.content || "completion" in late.content);

const FEW = 25, MOST = 100;
/** Steps of a worker are many: the trail stands below them. */
const FEWEST = 5;

/** The newest of what a task has kept, and what shows more of it.
 * @param {string} path @param {number} when @param {boolean} [isUntold] @param {number} [first] */
function useNewest(path, when, isUntold = false, first = FEW) {
  const [most, setMost] = useState(first);
  const how = { everyMs: 15_000, when, isUntold: () => isUntold };
  const few = useLive(`${path}?limit=${first}`, how);
  const many = useLive(most > first ? `${path}?limit=${MOST}` : null, how);
  const page = /** @type {{items: any[], next_cursor: string | null} | null} */ (many.data ?? few.data);
  const rest = page?.next_cursor ? html`<p class="row">
    <span class="faint">These are the newest ${page.items.length}.</span>
    ${page.items.length <= first
      ? html`<button type="button" onClick=${() => setMost(MOST)}>Show up to ${MOST}</button>`
      : html`<span class="faint">Older ones: <code>GET ${path}</code></span>`}
  </p>` : null;
  return { items: page?.items ?? [], rest };
}

/** What Baton keeps of each handoff's beginning says nothing that isn't on the page. */
const OF_THE_HANDOFF = "pre_handoff_";

/** @param {{id: string, when: number}} props */
export function Checkpoints({ id, when }) {
  const { items: all, rest } = useNewest(`/tasks/${id}/checkpoints`, when, false, FEWEST);
  const items = all.filter((each) => !each.step_name.startsWith(OF_THE_HANDOFF));
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="checkpoints">
    <h2 id="checkpoints">Checkpoints</h2>
    <ul class="log">
      ${items.map((/** @type {import("api").CheckpointPage["items"][number]} */ each) => html`
        <li key=${each.checkpoint_id}>
          <p><strong><${Said} of=${each.step_name} /></strong> · <${Ago} at=${each.at} />${" "}
            · <${Said} of=${each.by} /></p>
          <${Json} of=${each.state} title="State" />
        </li>`)}
    </ul>
    ${rest}
  </section>`;
}

/** @typedef {import("api").LateResults["items"][number]} LateResult */

/** What workers said under claims that were over. A result is taken by a click: the task ends as done with it.
 * @param {{task: Pick<import("api").ListedTask, "id" | "title" | "state" | "version">, onTaken?: () => void}} props */
export function LateResults({ task, onTaken = () => {} }) {
  const { items, rest } = useNewest(`/tasks/${task.id}/late-results`, task.version);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="late">
    <h2 id="late">Came too late</h2>
    <ul class="log">
      ${items.map((/** @type {LateResult} */ each) => html`<li key=${each.fence}>
        <p><strong>${each.verb}</strong> by <${Said} of=${each.agent} /> · <${Ago} at=${each.at} />${" "}
          · fence ${each.fence}</p>
        <${Json} of=${each.content} title="What it said" isOpen=${isResult(each)} />
        ${isOpen(task.state) && isResult(each) && !decided.value.has(task.id) && html`<p class="row">
          <button type="button"
            title="The task ends as done with it; whoever holds it now is refused with the next request"
            onClick=${() => takeLate(task, each, onTaken)}>Take this result</button>
        </p>`}
      </li>`)}
    </ul>
    ${rest}
  </section>`;
}

/** Who holds the task may add one, of which nothing rings.
 * @param {{id: string, when: number, isHeld: boolean}} props */
export function Notes({ id, when, isHeld }) {
  const { items, rest } = useNewest(`/tasks/${id}/notes`, when, isHeld);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="notes">
    <h2 id="notes">Notes</h2>
    <ul class="log">
      ${items.map((/** @type {import("api").NotePage["items"][number]} */ each) => html`<li key=${each.id}>
        <p><${Ago} at=${each.at} /> · <${Said} of=${each.by} /></p>
        ${typeof each.content.text === "string"
          ? html`<${Text} of=${each.content.text} title="Note" />`
          : html`<${Json} of=${each.content} title="Content" isOpen />`}
      </li>`)}
    </ul>
    ${rest}
  </section>`;
}
