/** The chain that a handoff belongs to: how it came to this, what it has cost, what is left of its budget. */
import { html, useEffect, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { length } from "../../core/time.js";
import { flat, wayTo } from "../../core/tree.js";
import { Facts, Said, State } from "../parts.js";

/** @typedef {import("api").ChainNode} ChainNode */
/** @typedef {import("api").ListedTask} ListedTask */

/** Who goes through a list with a held key asks for nothing. */
const SETTLED_MS = 300;
const RECENT_MS = 30_000, LIVE_MS = 4000;
/** Of a way from the beginning, so many stand in sight at each end. */
const ENDS = 3;

/** The same path, once the reader stays with it. @param {string | null} path */
export function useSettled(path) {
  const [settled, setSettled] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => setSettled(path), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [path]);
  return settled === path ? path : null;
}

/** A workflow's first task that nobody has worked on is the whole of its chain. @param {ListedTask} task */
const isAlone = (task) => task.state === "needs" && task.attempt === 0 && task.successors.length === 0
  && task.master_task_id === task.id && task.workflow_id === task.id.replace("task_", "wf_t") && !task.retry_of;

/** @param {ListedTask} task @param {boolean} isPage
 * @returns {{chain: import("api").ChainView | null, problem: unknown, isAlone: boolean}} */
export function useChain(task, isPage) {
  const alone = isAlone(task);
  const path = alone ? null : `/workflows/${task.workflow_id}/chain`;
  const settled = useSettled(path);
  const { data, problem } = useLive(isPage ? path : settled, { everyMs: isPage ? LIVE_MS : RECENT_MS,
    when: task.version, isFirst: isPage });
  return { chain: /** @type {any} */ (data), problem, isAlone: alone };
}

/** How it came to this task, step by step, with whole titles.
 * @param {{chain: import("api").ChainView, here: string}} props */
export function Strip({ chain, here }) {
  const [isWhole, setWhole] = useState(false);
  const way = wayTo(chain.nodes, here);
  const cut = isWhole || way.length <= 2 * ENDS + 1 ? 0 : way.length - 2 * ENDS;
  const shown = cut ? [...way.slice(0, ENDS), null, ...way.slice(-ENDS)] : way;
  const others = flat(chain.nodes).length - way.length;
  if (way.length < 2 && others === 0) return null;
  return html`<section class="strip">
    <h3>How it came to this</h3>
    <ol>${way.length > 1 && shown.map((node) => (node
    ? html`<${Step} key=${node.task_id} of=${node} isHere=${node.task_id === here} />`
    : html`<li key="cut" class="cut">
        <button type="button" class="quiet" onClick=${() => setWhole(true)}>${cut} more between</button>
      </li>`))}</ol>
    ${others > 0 && html`<p class="faint">
      <a href=${address(`/tasks/${here}`)}>${others} more in this chain</a>
    </p>`}
  </section>`;
}

/** @param {{of: ChainNode, isHere: boolean}} props */
function Step({ of, isHere }) {
  const title = of.hidden ? "not yours to read" : html`<${Said} of=${of.title || of.task_id} />`;
  const took = of.duration_seconds === null ? "" : ` · ${length(of.duration_seconds)}`;
  return html`<li class=${isHere ? "here" : ""} aria-current=${isHere ? "step" : undefined}>
    <${State} of=${of.state} />${" "}
    ${isHere ? html`<strong>this one</strong>` : html`<a href=${address(`/tasks/${of.task_id}`)}>${title}</a>`}${" "}
    <span class="faint">${of.kind} · <${Said} of=${of.agent ?? of.target_agent ?? "anyone"} />${took}</span>
  </li>`;
}

/** @param {{model_calls: number, input_tokens: number, output_tokens: number}} usage */
export const spent = ({ model_calls: calls, input_tokens: read, output_tokens: written }) =>
  `${calls.toLocaleString()} model ${calls === 1 ? "call" : "calls"}, ${(read + written).toLocaleString()} tokens`;

/** What the chain has spent, and what is left; a budget that nothing was taken of stands with what is asked.
 * @param {{chain: import("api").ChainView | null, isAlone: boolean}} props */
export function Cost({ chain, isAlone }) {
  if (!chain && !isAlone) return null;
  const { budget } = chain ?? {};
  const of = (/** @type {number | null | undefined} */ left, /** @type {number | null | undefined} */ most) =>
    most && (left ?? most) !== most && `${left?.toLocaleString()} of ${most.toLocaleString()} left`;
  const handoffs = budget?.max_handoffs;
  return html`<h3>Cost of the chain</h3><${Facts} of=${[
    ["So far", chain && chain.usage.model_calls > 0 ? spent(chain.usage) : "nothing that Baton counts"],
    ["Handoffs", of(handoffs && Math.max(0, handoffs - (chain?.handoffs ?? 0)), handoffs)],
    ["Model calls", of(budget?.model_calls_left, budget?.max_model_calls)],
    ["Tokens", of(budget?.tokens_left, budget?.max_tokens)],
  ]} />`;
}
