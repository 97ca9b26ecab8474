/** Earlier attempts at the same work: workers that were lost, tasks that failed and are tried again, and what
 * differs. */
import { html, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { length } from "../../core/time.js";
import { triesOf } from "../../core/tree.js";
import { Changes, changesOf } from "../changed.js";
import { Ago, Id, Said, State, Trouble } from "../parts.js";

/** @typedef {import("api").ChainNode} ChainNode */

/** What two attempts may differ in, as their handoffs say it. */
const COMPARED = ["target", "summary", "results", "context", "expectations", "rollback", "budget", "metadata"];

/** `whole`: the task, where the page has read it.
 * @param {{task: import("api").ListedTask, whole?: import("api").WholeTask | null,
 *   chain: import("api").ChainView | null}} props */
export function Attempts({ task, whole = null, chain }) {
  const wasTried = task.attempt > 0 || task.flags.length > 0;
  const { data, problem } = useLive(wasTried && !whole ? `/tasks/${task.id}` : null, { everyMs: 30_000,
    when: task.version });
  const read = /** @type {import("api").WholeTask | null} */ (whole ?? data);
  const tries = triesOf(chain, task.id);
  const recoveries = read?.recoveries ?? [];
  if (tries.length < 2 && recoveries.length === 0 && !problem) return null;
  return html`<section><h3>Earlier attempts</h3>
    <${Trouble} of=${problem} what="Its earlier attempts can't be read." />
    <ol class="lines">${tries.slice(0, -1).map((each, at) => html`<${Try} key=${each.task_id} of=${each}
      next=${/** @type {ChainNode} */ (tries[at + 1])} />`)}</ol>
    ${recoveries.length > 0 && html`<ol class="lines">${recoveries.map((each) => html`<li key=${each.at}>
      <strong><${Said} of=${each.prior_agent} /></strong> (<${Said}
        of=${each.prior_worker} />, claim ${each.prior_fence}):${" "}
      <${Said} of=${each.reason} /> <span class="faint">· <${Ago} at=${each.at} /> · <${Said}
        of=${each.action} />${each.last_checkpoint_id
    && html` from <${Id} of=${each.last_checkpoint_id} short />`}</span></li>`)}</ol>`}</section>`;
}

/** @param {{of: ChainNode, next: ChainNode}} props */
function Try({ of, next }) {
  const [found, setFound] = useState(/** @type {{was: any, is: any} | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const compare = () => {
    setTrouble(null);
    Promise.all([of, next].map((each) => get(`/handoffs/${each.handoff_id}`).then(asked)))
      .then(([was, is]) => setFound({ was, is }), setTrouble);
  };
  return html`<li><${State} of=${of.state} /> <a href=${address(`/tasks/${of.task_id}`)}><${Said} of=${of.hidden
    ? "not yours to read" : of.title} /></a>${" "}
    <span class="faint">${of.duration_seconds === null ? "" : `${length(of.duration_seconds)} · `}<${Said}
      of=${of.agent ?? of.target_agent ?? "anyone"} /></span>
    ${of.failure && html`<p><span class="flag">${of.failure.type}</span> <${Said} of=${of.failure.description} /></p>`}
    ${found ? changesOf(found.was, found.is).length > 0
      ? html`<p class="faint">The next one asks otherwise:</p><${Changes} ...${found} />`
    : html`<p class="faint">The next one asks the same.</p>`
    : html`<button type="button" class="quiet" onClick=${compare}>What the next one changes</button>`}
    <${Trouble} of=${trouble} what="They can't be compared." /></li>`;
}

/** @param {any} handoff */
function asked(handoff) {
  return Object.fromEntries(COMPARED.map((name) => [name, handoff[name] ?? undefined]));
}
