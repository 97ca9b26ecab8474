/** Evidence beside a decision, from what Baton knows: who really asked, how it came to this, what was tried, how this
 * direction goes. What the handoff itself says (ui/evidence/origin.js) is part of what is decided on; the rest comes
 * after, and says so while it isn't there. */
import { html } from "../lib.js";
import { useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { plain } from "../core/said.js";
import { flat, wayTo } from "../core/tree.js";
import { Attempts } from "./evidence/attempts.js";
import { Cost, spent, Strip, useChain } from "./evidence/chain.js";
import { Direction, inWords, Named, useDirection } from "./evidence/origin.js";
import { Said, Trouble, Way } from "./parts.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {ReturnType<typeof useEvidence>} Evidence */

/** What is known beside a task. `isPage`: it is what the page is about, so its chain is read at once, and more often.
 * @param {ListedTask} task @param {boolean} [isPage] */
export function useEvidence(task, isPage = false) {
  return { ...useChain(task, isPage), direction: useDirection(task) };
}

/** Before what is asked: in two lines, what one needs to know of it. @param {{task: ListedTask, of: Evidence}} props */
export function Glance({ task, of }) {
  const way = of.chain ? wayTo(of.chain.nodes, task.id).length : of.isAlone ? 1 : 0;
  const all = of.chain ? flat(of.chain.nodes).length : 1;
  const facts = [
    task.attempt > 0 && `attempt ${task.attempt} of ${task.max_attempts}`,
    way > 1 && `step ${way} of a chain of ${all}`,
    of.chain && of.chain.usage.model_calls > 0 && `${spent(of.chain.usage)} so far`,
    `last of this direction: ${inWords(of.direction)}`,
  ].filter(Boolean);
  return html`<p class="glance"><${Asker} of=${task} chain=${of.chain} /><br /><span
    class="faint">${sentence(facts.join(" · "))}</span></p>`;
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Who asked, and for whom: a service or a person may ask in an agent's name.
 * @param {{of: ListedTask, chain?: import("api").ChainView | null}} props */
export function Asker({ of: { created_by: by, source_agent: source, parent_id: parent }, chain = null }) {
  const isItself = by === source || by === `agent:${source}`;
  return html`Asked by <strong><${Said} of=${isItself ? source : by} /></strong>
    ${!isItself && html`, on behalf of${" "}<strong><${Said} of=${source} /></strong>`}
    ${parent && html`, while it worked on${" "}<${Named} id=${parent} chain=${chain} />`}`;
}

/** After what is asked. `whole`: the task, where the page has read it.
 * @param {{task: ListedTask, whole?: import("api").WholeTask | null, of: Evidence,
 * hasChain?: boolean}} props */
export function Around({ task, whole = null, of, hasChain = true }) {
  const { chain, problem, isAlone, direction } = of;
  return html`<section class="around" aria-label="What Baton knows beside it">
    <${Trouble} of=${problem} what="The chain that it belongs to can't be read." />
    ${!chain && !isAlone && !problem && html`<p class="faint" role="status">
      Reading the chain that it belongs to …
    </p>`}
    <${Attempts} task=${task} whole=${whole} chain=${chain} />
    ${chain && hasChain && html`<${Strip} chain=${chain} here=${task.id} />`}
    <${Cost} chain=${chain} isAlone=${isAlone} />
    <${Direction} of=${direction} />
  </section>`;
}

/** Around a question: the task that it comes from. @param {{id: string}} props */
export function OfTask({ id }) {
  const { data, problem } = useLive(`/tasks/${id}`, { everyMs: 30_000 });
  const task = /** @type {import("api").WholeTask | null} */ (data);
  if (!task) return html`<${Trouble} of=${problem} what="The task that it comes from can't be read." />`;
  return html`<${AroundTask} task=${task} />`;
}

/** @param {{task: import("api").WholeTask}} props */
function AroundTask({ task }) {
  const of = useEvidence(task);
  return html`<section class="of-task">
    <h3>The task that it works on</h3>
    <p>
      <a href=${address(`/tasks/${task.id}`)}><${Said} of=${task.title || task.id} /></a>${" "}
      <span class="faint"><${Way} from=${task.source_agent} to=${task.target_agent} /></span>
    </p>
    <${Glance} task=${task} of=${of} />
    <${Around} task=${task} whole=${task} of=${of} />
  </section>`;
}

/** A title says why. One of a release before said only who hands to whom.
 * @param {{title: string, kind: string}} task @param {HandoffView | null} [handoff] */
export const titleOf = (task, handoff = null) =>
  (task.kind === "escalation" && task.title.startsWith("Handoff: ") && handoff?.target.reason) || task.title;

/** @param {{of: Record<string, string> | undefined}} props */
export function Labels({ of }) {
  const found = Object.entries(of ?? {});
  if (found.length === 0) return null;
  return html`<ul class="labels" aria-label="Labels">${found.map(([name, value]) => html`<li
    key=${name} title=${plain(`${name}: ${value}`)}>
    <span class="faint"><${Said} of=${name} /></span> <${Said} of=${value} />
  </li>`)}</ul>`;
}
