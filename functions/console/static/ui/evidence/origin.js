/** What a handoff replaces, retries, goes on with or gives back: it comes with the handoff, so a decision waits for
 * it. And what became of the last handoffs of its direction. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { stateWord } from "../../core/states.js";
import { nodeOf } from "../../core/tree.js";
import { Failure } from "./attempts.js";
import { useSettled } from "./chain.js";
import { Ago, Facts, Id, Said, State, Trouble } from "../parts.js";
import { Copy, Text } from "../text.js";

/** @typedef {import("api").ChainView | null} Chain */

/** @param {{handoff: import("api").HandoffView, chain?: Chain}} props */
export function Origin({ handoff, chain = null }) {
  const { escalation, rolls_back: rollsBack, retries, continues, part_of: partOf } = /** @type {any} */ (handoff);
  /** A review's draft has both beside it. @type {any} */
  const failed = rollsBack?.failure ? rollsBack : handoff;
  const about = (/** @type {string} */ id) => html`<${Named} id=${id} chain=${chain} />`;
  return html`${escalation && html`<${Digest} of=${escalation} />`}
    ${rollsBack && html`<section class="origin">
      <h3>Gives back</h3>
      <p>
        ${about(rollsBack.task_id)} failed
        ${rollsBack.checkpoint_id && html`; its last checkpoint is <${Id} of=${rollsBack.checkpoint_id} short />`}.
      </p>
      <${Failure} of=${failed.failure ?? {}} request=${failed.rollback_request} isWhole />
    </section>`}
    ${retries && html`<section class="origin">
      <h3>Tries again</h3>
      <p>
        ${about(retries.handoff_id)} had ended: ${stateWord(retries.state)}
        ${retries.checkpoint_id
          && html`; its last checkpoint is <${Id} of=${retries.checkpoint_id} short />`}.
      </p>
      ${retries.checkpoint && html`<h3>Checkpoint of <${Said} of=${retries.checkpoint.by} /></h3>
        <${Text} of=${retries.checkpoint.state} title=${retries.checkpoint.step_name} isCode isWhole />`}
      ${retries.failure && html`<${Failure} of=${retries.failure} isWhole />`}
    </section>`}
    ${continues && html`<section class="origin">
      <h3>Goes on after</h3>
      <p>${about(continues.handoff_id)}, which was done.</p>
    </section>`}
    ${partOf && html`<section class="origin">
      <h3>Part</h3>
      <p>It is part ${partOf.number} of ${about(partOf.task_id)}, which a person split.</p>
    </section>`}`;
}

/** A task by its whole title, once that is known. `id`: its own, or its handoff's.
 * @param {{id: string, chain: Chain}} props */
export function Named({ id, chain }) {
  const node = nodeOf(chain, id);
  const title = node && !node.hidden ? node.title : "";
  return html`<a href=${address(`/tasks/${node?.task_id ?? id.replace(/^ho_/, "task_")}`)}>
    ${title ? html`<${Said} of=${title} />` : "the earlier task"}
  </a>`;
}

/** @param {{of: {text?: string, source_digest_url?: string, client_relation_ids?: string[],
 *   project_relation_ids?: string[]}}} props */
function Digest({ of }) {
  const ids = (/** @type {string[] | undefined} */ found) => found && found.length > 0 && found.map((each) =>
    html`<${Id} key=${each} of=${each} />${" "}`);
  return html`<${Facts} of=${[
    ["Text", of.text && html`<${Said} of=${of.text} />`],
    ["Digest", of.source_digest_url && html`<${Elsewhere} url=${of.source_digest_url} />`],
    ["Clients", ids(of.client_relation_ids)],
    ["Projects", ids(of.project_relation_ids)],
  ]} />`;
}

/** An address that an agent wrote: all of it is read before it is followed, and nothing is told to where it leads.
 * @param {{url: string}} props */
function Elsewhere({ url }) {
  const to = leadingTo(url);
  return html`<${Said} of=${url} />${" "}<${Copy} of=${url} />${to && html`${" "}
    <a href=${to.href} target="_blank" rel="noopener noreferrer external">Open ${to.host} ↗</a>`}`;
}

/** Where it leads as the browser spells it; null for what isn't a page of the web, or says whose it is otherwise
 * than it seems.
 * @param {string} url */
function leadingTo(url) {
  try {
    const to = new URL(url);
    return ["https:", "http:"].includes(to.protocol) && !to.username && !to.password ? to : null;
  } catch {
    return null;
  }
}

const SHOWN = 5;

/** @param {import("api").ListedTask} task
 * @returns {{items: import("api").ListedHandoff[] | null, isAll: boolean, problem: unknown}} */
export function useDirection(task) {
  const asked = new URLSearchParams({ source: task.source_agent, limit: String(2 * SHOWN) });
  if (task.target_agent) asked.set("target", task.target_agent);
  const path = useSettled(`/handoffs?${asked}`);
  const { data, problem } = useLive(path, { everyMs: 60_000 });
  const page = /** @type {{items: import("api").ListedHandoff[], next_cursor: string | null} | null} */ (data);
  const items = page?.items.filter((each) => each.task_id !== task.id
    && each.target_agent === task.target_agent) ?? null;
  return { items: items?.slice(0, SHOWN) ?? null, isAll: page?.next_cursor === null, problem };
}

/** @param {{of: ReturnType<typeof useDirection>}} props */
export function Direction({ of: { items, isAll, problem } }) {
  return html`<section>
    <h3>The last of this direction</h3>
    <${Trouble} of=${problem} what="What became of earlier ones can't be read." />
    ${items === null && !problem && html`<p class="faint" role="status">Looking for earlier ones …</p>`}
    ${items?.length === 0 && html`<p class="faint">
      ${isAll ? "It is the first one." : "None among the newest that were looked at."}
    </p>`}
    <ul class="lines">${(items ?? []).map((each) => html`<li key=${each.task_id}>
      <${State} of=${each.state} />${" "}
      <a href=${address(`/tasks/${each.task_id}`)}><${Said} of=${each.title || each.task_id} /></a>${" "}
      <span class="faint">${each.kind} · <${Ago} at=${each.created_at} /></span>
    </li>`)}</ul>
  </section>`;
}

/** In a few words. @param {{items: import("api").ListedHandoff[] | null, problem: unknown}} of */
export function inWords({ items, problem }) {
  if (problem) return "can't be read";
  if (items === null) return "…";
  if (items.length === 0) return "none";
  const counts = new Map();
  for (const { state } of items) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${stateWord(state)}`).join(", ");
}
