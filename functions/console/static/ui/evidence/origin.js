/** What a handoff replaces, retries, goes on with or gives back: it comes with the handoff, so a decision waits for
 * it. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { stateWord } from "../../core/states.js";
import { nodeOf } from "../../core/tree.js";
import { Facts, Id, Said } from "../parts.js";
import { Copy } from "../text.js";
import { Failure } from "./failure.js";

/** @typedef {import("api").ChainView | null} Chain */

/** @param {{handoff: import("api").HandoffView, chain?: Chain}} props */
export function Origin({ handoff, chain = null }) {
  const { escalation, rolls_back: rollsBack, retries, continues, part_of: partOf } = /** @type {any} */ (handoff);
  const about = (/** @type {string} */ id) => html`<${Named} id=${id} chain=${chain} />`;
  return html`${escalation && html`<${Digest} of=${escalation} />`}
    ${rollsBack && html`<section class="origin">
      <h3>Gives back</h3>
      <p>
        ${about(rollsBack.task_id)} failed
        ${rollsBack.checkpoint_id && html`; its last checkpoint is <${Id} of=${rollsBack.checkpoint_id} short />`}.
      </p>
      <${Failure} of=${rollsBack.failure} request=${rollsBack.rollback_request} isWhole />
    </section>`}
    ${retries && html`<section class="origin">
      <h3>Tries again</h3>
      <p>
        ${about(retries.handoff_id)} had ended: ${stateWord(retries.state)}
        ${retries.checkpoint_id
          && html`; this goes on from its checkpoint <${Id} of=${retries.checkpoint_id} short />`}.
      </p>
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

/** @param {{of: {source_digest_url?: string, client_relation_ids?: string[], project_relation_ids?: string[]}}}
 * props */
function Digest({ of }) {
  const ids = (/** @type {string[] | undefined} */ found) => found && found.length > 0 && found.map((each) =>
    html`<${Id} key=${each} of=${each} />${" "}`);
  return html`<${Facts} of=${[
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
