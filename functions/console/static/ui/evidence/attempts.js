/** Earlier attempts at the same work: workers that were lost, tasks that failed and are tried again, and what
 * differs. And why something failed, as its worker said it. */
import { html, useEffect, useRef, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { length } from "../../core/time.js";
import { triesOf } from "../../core/tree.js";
import { Changes, changesOf } from "../changed.js";
import { Ago, Id, Said, State, Trouble } from "../parts.js";
import { Text } from "../text.js";

/** @typedef {import("api").ChainNode} ChainNode */

/** What two attempts may differ in, as their handoffs say it. */
const COMPARED = ["target", "summary", "results", "context", "expectations", "rollback", "budget", "metadata"];

/** So many of the latest stand side by side. */
const MOST = 4;

/** `whole`: the task, where the page has read it.
 * @param {{task: import("api").ListedTask, whole?: import("api").WholeTask | null,
 *   chain: import("api").ChainView | null}} props */
export function Attempts({ task, whole = null, chain }) {
  const path = !whole && (task.attempt > 0 || task.flags.length > 0) ? `/tasks/${task.id}` : null;
  const { data, problem } = useLive(path, { everyMs: 30_000, when: task.version });
  const read = /** @type {import("api").WholeTask | null} */ (whole ?? data);
  const tries = triesOf(chain, task.id);
  const recoveries = read?.recoveries ?? [];
  if (tries.length < 2 && recoveries.length === 0 && !problem) return null;
  return html`<section>
    <h3>Earlier attempts</h3>
    <${Trouble} of=${problem} what="Its earlier attempts can't be read." />
    ${tries.length > 1 && html`<${Beside} tries=${tries.slice(-MOST)} before=${Math.max(0, tries.length - MOST)} />`}
    ${recoveries.length > 0 && html`<ol class="lines">
      ${recoveries.map((each) => html`<${Lost} key=${each.at} of=${each} />`)}
    </ol>`}
  </section>`;
}

/** @param {{of: import("api").RecoveryView}} props */
function Lost({ of }) {
  const from = of.last_checkpoint_id && html` from <${Id} of=${of.last_checkpoint_id} short />`;
  return html`<li>
    <strong><${Said} of=${of.prior_agent} /></strong>${" "}
    (<${Said} of=${of.prior_worker} />, claim ${of.prior_fence}): <${Said} of=${of.reason} />${" "}
    <span class="faint">· <${Ago} at=${of.at} /> · <${Said} of=${of.action} />${from}</span>
  </li>`;
}

/** @type {[string, (node: ChainNode) => unknown][]} */
const ROWS = [
  ["State", (node) => html`<${State} of=${node.state} />`],
  ["Who", (node) => html`<${Said} of=${node.agent ?? node.target_agent ?? "anyone"} />`],
  ["Began", (node) => html`<${Ago} at=${node.started_at} none="not yet" />`],
  ["Took", (node) => (node.duration_seconds === null ? "–" : length(node.duration_seconds))],
  ["Attempts", (node) => node.attempts],
  ["Failure", (node) => node.failure
    && html`<span class="flag">${node.failure.type}</span> <${Said} of=${node.failure.description} />`],
  ["Files", (node) => Object.values(node.files).flat().length || ""],
];

/** Attempts side by side, and what each asks otherwise than the one before. `before`: earlier ones, not shown.
 * @param {{tries: ChainNode[], before: number}} props */
function Beside({ tries, before }) {
  const name = (/** @type {number} */ at) => `Try ${before + at + 1}`;
  return html`<div class="numbers beside" tabindex="0" role="region" aria-label="Tries side by side"><table>
      <thead><tr>
        <td></td>
        ${tries.map((node, at) => html`<th key=${node.task_id} scope="col">
          <a href=${address(`/tasks/${node.task_id}`)}>${name(at)}</a>
        </th>`)}
      </tr></thead>
      <tbody>${ROWS.filter(([, of]) => tries.some(of)).map(([what, of]) => html`<tr key=${what}>
        <th scope="row">${what}</th>
        ${tries.map((node) => html`<td key=${node.task_id}>${node.hidden ? "not yours to read" : of(node)}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    ${tries.slice(1).map((node, at) => html`<${Otherwise} key=${node.task_id} was=${tries[at]} is=${node}
      name=${name(at + 1)} />`)}`;
}

/** @param {{was: ChainNode | undefined, is: ChainNode, name: string}} props */
function Otherwise({ was, is, name }) {
  const [found, setFound] = useState(/** @type {{was: any, is: any} | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const said = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => said.current?.focus(), [found]); // its button, which had the focus, is gone
  const compare = () => {
    setTrouble(null);
    Promise.all([was, is].map((each) => get(`/handoffs/${each?.handoff_id}`).then(asked)))
      .then(([before, now]) => setFound({ was: before, is: now }), setTrouble);
  };
  if (!found) {
    return html`<p>
        <button type="button" class="quiet" onClick=${compare}>What ${name.toLowerCase()} asks otherwise</button>
      </p>
      <${Trouble} of=${trouble} what="They can't be compared." />`;
  }
  const isSame = changesOf(found.was, found.is).length === 0;
  return html`<p class="faint" tabindex="-1" ref=${said}>${name} asks ${isSame ? "the same" : "otherwise"}.</p>
    <${Changes} ...${found} />`;
}

/** @param {any} handoff */
function asked(handoff) {
  return Object.fromEntries(COMPARED.map((name) => [name, handoff[name] ?? undefined]));
}

/** `request`: what a rollback asks for, where it stands beside the failure.
 * @param {{of: any, request?: any, isWhole?: boolean}} props */
export function Failure({ of, request = of.rollback_request, isWhole = false }) {
  const { completed, incomplete, ...progress } = of.partial_progress ?? {};
  const said = (/** @type {string} */ each) => html`<${Said} of=${each} />`;
  return html`<div class="failure">
    <p><span class="flag">${of.type}</span></p>
    <${Text} of=${of.description} title="What failed" isWhole=${isWhole} />
    <${List} title="Blockers" of=${of.blockers} show=${(/** @type {any} */ each) => html`
      <strong><${Said} of=${each.type} /></strong>${" "}<${Said} of=${each.description} />
      ${each.required_to_proceed && html` <span class="flag">needed to go on</span>`}`} />
    <${List} title="Questions" of=${request?.questions} show=${said} />
    <${List} title="Completed" of=${completed} show=${said} />
    <${List} title="Left to do" of=${incomplete} show=${said} />
    ${Object.keys(progress).length > 0 && html`<h3>So far</h3>
      <${Text} of=${progress} title="What was reached so far" isCode isWhole=${isWhole} />`}
    ${request?.target_agent && html`<p>
      Rolled back to <${Said} of=${request.target_agent} />. <${Said} of=${request.reason} />
    </p>`}
    ${of.rollback?.task_id && html`<p>
      <a href=${address(`/tasks/${of.rollback.task_id}`)}>The task that it was rolled back to</a>
    </p>`}
  </div>`;
}

/** @param {{title: string, of: any[] | undefined, show: (each: any) => unknown}} props */
function List({ title, of, show }) {
  return of?.length ? html`<h3>${title}</h3><ul>${of.map((each) => html`<li>${show(each)}</li>`)}</ul>` : null;
}
