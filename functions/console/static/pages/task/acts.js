/** What a person may do with a task, by its state. */
import { html } from "../../lib.js";
import { post } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { go } from "../../core/router.js";
import { stateWord } from "../../core/states.js";
import { now } from "../../core/time.js";
import { failed, toast } from "../../core/toasts.js";
import { useKeys } from "../../core/keys.js";
import { ask } from "../../ui/ask.js";
import { Key, Said } from "../../ui/parts.js";
import { askOfChanged } from "../approvals/changed.js";
import { approve, defer, dismiss, next, split } from "../approvals/decisions.js";
import { below, isOpen } from "../../core/tree.js";

/** @typedef {import("api").WholeTask} WholeTask */
/** `isDead`: it waits until what it decides on is on the screen.
 * @typedef {{key: string, name: string, run: () => void, kind?: "primary" | "danger", title?: string,
 *   isDead?: boolean}} Act */

/** `shown`: what is asked for, as it is on the screen; null while it isn't.
 * @param {{task: WholeTask, chain: any, shown: import("api").HandoffView | null}} props */
export function Acts({ task, chain, shown }) {
  const acts = possible(task, chain, shown);
  useKeys("Task", Object.fromEntries(acts.map((act) =>
    [act.key, { does: act.name.toLowerCase(), run: act.isDead ? wait : act.run }])));
  if (acts.length === 0) return null;
  return html`<div class="row acts" role="group" aria-label="What you can do">
    ${acts.map((act) => html`<button key=${act.name} type="button" disabled=${act.isDead} class=${act.kind ?? ""}
      title=${act.title} onClick=${act.run}>${act.name} <${Key}>${act.key}<//></button>`)}
  </div>`;
}

const wait = () => { toast("Nothing is decided yet: it isn't whole on the screen."); };

/** @param {WholeTask} task @param {any} chain @param {import("api").HandoffView | null} shown @returns {Act[]} */
function possible(task, chain, shown) {
  const stay = () => {};
  const isDead = shown === null;
  const seen = {
    id: task.id, title: task.title, revision: shown?.revision ?? task.revision, digest: shown?.digest ?? null,
  };
  const isUndoable = task.state === "delegated" && task.ready_at !== null && Date.parse(task.ready_at) > now.value;
  /** @type {Act[]} */
  const acts = [];
  if (task.state === "needs") {
    acts.push({ key: "a", name: "Approve", kind: "primary", isDead, run: () => { void approve([seen], stay); } },
      { key: "n", name: "Next", isDead, run: () => next([seen], stay),
        title: "Approved, but never dispatched: a worker claims it by its id" },
      { key: "d", name: "Defer", isDead, run: () => defer([seen], stay) },
      { key: "s", name: "Split", isDead, run: () => split(seen, stay) },
      { key: "x", name: "Dismiss", kind: "danger", isDead, run: () => dismiss([seen], stay),
        title: "Not wanted: whoever asked is told why" });
  }
  if (isUndoable) acts.push({ key: "b", name: "Take the approval back", run: () => { void undo(task); } });
  if (task.claim) acts.push({ key: "l", name: "Take back", run: () => release(task),
    title: "From the worker that holds it" });
  if (isOpen(task.state)) {
    acts.push({ key: "r", name: "Resolve", run: () => resolve(task), title: "The work was done elsewhere" },
      { key: "c", name: "Cancel", kind: "danger", title: "It ends, and what came of it with it",
        run: () => cancel(task, chain) });
  } else if (task.state !== "done") {
    acts.push({ key: "r", name: "Retry", kind: "primary", run: () => retry(task) });
  }
  return acts;
}

/** @param {WholeTask} task */
async function undo(task) {
  try {
    await post(`/tasks/${task.id}/undo`);
    toast("Taken back: it waits for approval again.");
  } catch (error) {
    failed("It can't be taken back any more", error);
  }
  lookAgain();
}

/** The claim is named by its fence, as it was seen: one that is taken meanwhile isn't hit. @param {WholeTask} task */
function release(task) {
  const { agent, worker, fence } = /** @type {NonNullable<WholeTask["claim"]>} */ (task.claim);
  ask({
    title: "Take this task back",
    text: html`<p>It is taken back from <strong><${Said} of=${agent} /></strong> (<${Said} of=${worker} />), and the
        next claimer goes on from its last checkpoint. It loses no attempt.</p>
      <p>The worker is refused with its next request. Nothing that it does after this counts; a result that comes too
        late is kept aside.</p>
      <p><strong>The same agent may claim it again.</strong> To prevent that, switch it off first, on its page.</p>`,
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true, hint: "It stays in the trail." }],
    confirm: "Take back",
    run: async ({ reason }) => {
      await post(`/tasks/${task.id}/release-claim`, { fence, reason });
      toast("Taken back: it waits for the next claimer.");
      lookAgain();
    },
  });
}

/** @param {WholeTask} task */
function resolve(task) {
  ask({
    title: "Resolve this task",
    text: "It ends as done: the work was done elsewhere. Whoever holds it is told with its next request.",
    fields: [{ name: "reason", label: "How was it done?", type: "textarea" },
      { name: "output", label: "Output", type: "textarea", hint: "Text, or JSON." }],
    confirm: "Resolve",
    run: async ({ reason, output }) => {
      await post(`/tasks/${task.id}/resolve`, { ...(reason && { reason }), ...(output && { output: parsed(output) }) });
      toast("Resolved");
      lookAgain();
    },
  });
}

/** @param {WholeTask} task @param {any} chain */
function cancel(task, chain) {
  const falling = below(chain, task.id).filter((node) => isOpen(node.state));
  ask({
    title: "Cancel this task",
    text: html`<p>It ends now, and can't be taken back. A worker that holds it is refused with its next request.</p>
      ${falling.length > 0
        ? html`<p><strong>
            ${falling.length === 1 ? "One task falls" : `${falling.length} tasks fall`} with it:</strong></p>
          <ul class="falling">${falling.map((node) => html`<li key=${node.task_id}>
            <${Said} of=${node.title || node.task_id} />${" "}
            <span class="faint">${node.agent ?? node.target_agent ?? "anyone"} · ${stateWord(node.state)}</span>
          </li>`)}</ul>`
        : html`<p>Nothing else falls with it.</p>`}`,
    fields: [{ name: "reason", label: "Reason", type: "textarea" }],
    confirm: falling.length > 0 ? `Cancel all ${falling.length + 1}` : "Cancel it",
    danger: true,
    run: async ({ reason }) => {
      await post(`/tasks/${task.id}/cancel`, reason ? { reason } : {});
      toast(falling.length > 0 ? `Cancelled. ${falling.length} more are ending: the chain shows each.` : "Cancelled",
        { seconds: 8 });
      lookAgain();
    },
  });
}

/** @param {WholeTask} task */
function retry(task) {
  ask({
    title: "Try this again",
    text: "A new task is made of it, linked to this one, with what was asked and what is known of the failure.",
    confirm: "Retry",
    run: () => retried(task, {}),
  });
}

/** @param {WholeTask} task @param {object} seen the versions of agents that the person has read */
async function retried(task, seen) {
  try {
    const made = /** @type {import("api").HandedOff} */ (await post(`/handoffs/${task.handoff_id}/retry`, seen));
    toast(made.task.state === "needs" ? "Retried: the new task waits for approval." : "Retried");
    lookAgain();
    go(`/tasks/${made.task.id}`);
  } catch (error) {
    await askOfChanged(error, "this task", "Retry", (known) => retried(task, known));
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
