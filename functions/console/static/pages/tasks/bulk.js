/** What is done to many tasks at once: one request for each, and what came of each. */
import { html } from "../../lib.js";
import { post } from "../../core/api.js";
import { go } from "../../core/router.js";
import { carry } from "../../core/selection.js";
import { stateWord } from "../../core/states.js";
import { asField, fromField } from "../../core/time.js";
import { ask } from "../../ui/ask.js";
import { sendAll } from "../../ui/batch.js";
import { Said } from "../../ui/parts.js";
import { isOpen } from "../../core/tree.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("../../ui/ask.js").FieldOf} FieldOf */
/** `fits`: those that it can be done to. `means`: what it does. `path`, `body`: of a task's request.
 * @typedef {{name: string, done: string, means: string, fits: (task: ListedTask) => boolean, danger?: boolean,
 *   fields: () => FieldOf[], path: (task: ListedTask) => string,
 *   body: (task: ListedTask, values: Record<string, string>) => object}} Verb */

const REASON = { name: "reason", label: "Reason", type: "textarea", hint: "It stays in each trail." };

/** @param {Record<string, string>} values */
const reasonOf = ({ reason }) => (reason ? { reason } : {});

/** @type {Verb[]} */
const VERBS = [
  {
    name: "Take back", done: "Taken back", fits: (task) => task.claim !== null,
    fields: () => [{ ...REASON, required: true }],
    means: "Each is taken from the worker that holds it now, and the next claimer goes on from its last checkpoint.",
    path: (task) => `/tasks/${task.id}/release-claim`,
    body: (task, values) => ({ fence: task.claim?.fence, ...reasonOf(values) }),
  },
  {
    name: "Retry", done: "Retried", fits: (task) => !isOpen(task.state) && task.state !== "done", fields: () => [],
    means: "A new task is made of each, linked to it, with what was asked and what is known of the failure.",
    path: (task) => `/handoffs/${task.handoff_id}/retry`, body: () => ({}),
  },
  {
    name: "Defer", done: "Deferred", fits: (task) => task.state === "needs",
    fields: () => [{ name: "until", label: "Until", type: "datetime-local", required: true, min: asField(new Date()),
      value: asField(new Date(Date.now() + 86_400_000)) }],
    means: "They leave the approvals, and come back by themselves.",
    path: (task) => `/tasks/${task.id}/defer`,
    body: (task, { until = "" }) => ({ until: fromField(until), revision: task.revision }),
  },
  {
    name: "Cancel", done: "Cancelled", danger: true, fits: (task) => isOpen(task.state), fields: () => [REASON],
    means: "They end now, with what was split off from them, and can't be taken back.",
    path: (task) => `/tasks/${task.id}/cancel`, body: (_, values) => reasonOf(values),
  },
];

/** @param {{tasks: ListedTask[], clear: () => void}} props */
export function Bulk({ tasks, clear }) {
  if (tasks.length === 0) return null;
  const waiting = tasks.filter((task) => task.state === "needs");
  const decide = () => {
    carry(waiting.map((task) => task.id));
    go("/approvals");
  };
  return html`<div class="row many" role="group" aria-label="Marked">
    <strong>${tasks.length} marked</strong>
    <button type="button" disabled=${waiting.length === 0} onClick=${decide}>Read and approve ${waiting.length}</button>
    ${VERBS.map((verb) => {
      const count = tasks.filter(verb.fits).length;
      return html`<button key=${verb.name} type="button" class=${verb.danger ? "danger" : ""} disabled=${count === 0}
        onClick=${() => offer(verb, tasks, clear)}>${verb.name} ${count}</button>`;
    })}
    <button type="button" class="quiet" onClick=${clear}>Unmark</button>
  </div>`;
}

/** @param {Verb} verb @param {ListedTask[]} tasks @param {() => void} clear */
function offer(verb, tasks, clear) {
  const fitting = tasks.filter(verb.fits);
  const others = tasks.length - fitting.length;
  ask({
    title: `${verb.name} ${fitting.length === 1 ? "one task" : `${fitting.length} tasks`}`,
    text: html`<p>${verb.means}</p>
      ${others > 0 && html`<p>It isn't for the state of ${others} of those marked: left as it is.</p>`}
      <ul class="falling" tabindex="0" aria-label="Which ones">${fitting.map((task) => html`<li key=${task.id}>
        <${Said} of=${task.title || task.id} />
        <span class="faint">${" "}${task.target_agent ?? "anyone"} · ${stateWord(task.state)}</span>
      </li>`)}</ul>`,
    fields: verb.fields(),
    confirm: `${verb.name} ${fitting.length}`,
    danger: verb.danger === true,
    run: (values) => {
      sendAll(`${verb.name}: what came of each`, verb.done, tasks.map((task) => ({
        id: task.id,
        title: task.title,
        ...(verb.fits(task) ? {} : { said: `It is ${stateWord(task.state)}.` }),
        send: verb.fits(task) ? (how) => post(verb.path(task), verb.body(task, values), how) : null,
      })));
      clear();
    },
  });
}
