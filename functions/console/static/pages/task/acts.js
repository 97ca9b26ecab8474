/** What a person may do with a task, by its state. */
import { html } from "../../lib.js";
import { post } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { go } from "../../core/router.js";
import { now } from "../../core/time.js";
import { failed, toast } from "../../core/toasts.js";
import { useKeys } from "../../core/keys.js";
import { ask } from "../../ui/ask.js";
import { Key, Said } from "../../ui/parts.js";
import { approve, defer, dismiss, next, split } from "../approvals/decisions.js";
import { below, isOpen } from "./tree.js";

/** @typedef {import("api").WholeTask} WholeTask */
/** @typedef {{key: string, name: string, run: () => void, kind?: "primary" | "danger", title?: string}} Act */

/** @param {{task: WholeTask, chain: any}} props */
export function Acts({ task, chain }) {
  const acts = possible(task, chain);
  useKeys("Task", Object.fromEntries(acts.map((act) => [act.key, { does: act.name.toLowerCase(), run: act.run }])));
  if (acts.length === 0) return null;
  return html`<div class="row acts" role="group" aria-label="What you can do">${acts.map((act) => html`<button key=${act.name} type="button"
    class=${act.kind ?? ""} title=${act.title} onClick=${act.run}>${act.name} <${Key}>${act.key}<//></button>`)}</div>`;
}

/** @param {WholeTask} task @param {any} chain @returns {Act[]} */
function possible(task, chain) {
  const stay = () => {};
  const isUndoable = task.state === "delegated" && task.ready_at !== null && Date.parse(task.ready_at) > now.value;
  /** @type {Act[]} */
  const acts = [];
  if (task.state === "needs") {
    acts.push({ key: "a", name: "Approve", kind: "primary", run: () => { void approve([task], stay); } },
      { key: "n", name: "Next", run: () => next([task], stay), title: "Approved, but never dispatched: a worker claims it by its id" },
      { key: "d", name: "Defer", run: () => defer([task], stay) },
      { key: "s", name: "Split", run: () => split(task, stay) },
      { key: "x", name: "Dismiss", kind: "danger", run: () => dismiss([task], stay) });
  }
  if (isUndoable) acts.push({ key: "b", name: "Take the approval back", run: () => { void undo(task); } });
  if (task.claim) acts.push({ key: "l", name: "Release", run: () => release(task), title: "Take it back from the worker that holds it" });
  if (isOpen(task.state)) {
    acts.push({ key: "r", name: "Resolve", run: () => resolve(task), title: "The work was done elsewhere" },
      { key: "c", name: "Cancel", kind: "danger", run: () => cancel(task, chain) });
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
    title: "Release this task",
    text: html`<p>It is taken back from <strong><${Said} of=${agent} /></strong> (<${Said} of=${worker} />), and the next claimer goes on from its last checkpoint. It loses no attempt.</p>
      <p>The worker is refused with its next request. Nothing that it does after this counts; a result that comes too late is kept aside.</p>
      <p><strong>The same agent may claim it again.</strong> To prevent that, switch it off first, on its page.</p>`,
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true, hint: "It stays in the trail." }],
    confirm: "Release",
    run: async ({ reason }) => {
      await post(`/tasks/${task.id}/release-claim`, { fence, reason });
      toast("Released: it waits for the next claimer.");
      lookAgain();
    },
  });
}

/** @param {WholeTask} task */
function resolve(task) {
  ask({
    title: "Resolve this task",
    text: "It ends as done: the work was done elsewhere. Whoever holds it is told with its next request.",
    fields: [{ name: "reason", label: "How was it done?", type: "textarea" }, { name: "output", label: "Output", type: "textarea", hint: "Text, or JSON." }],
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
      ${falling.length > 0 ? html`<p><strong>${falling.length === 1 ? "One task falls" : `${falling.length} tasks fall`} with it:</strong></p>
        <ul class="falling">${falling.map((node) => html`<li key=${node.task_id}><${Said} of=${node.title || node.task_id} /> <span class="faint">${node.agent ?? node.target_agent ?? "anyone"} · ${node.state}</span></li>`)}</ul>`
    : html`<p>Nothing else falls with it.</p>`}`,
    fields: [{ name: "reason", label: "Reason", type: "textarea" }],
    confirm: falling.length > 0 ? `Cancel all ${falling.length + 1}` : "Cancel it",
    danger: true,
    run: async ({ reason }) => {
      await post(`/tasks/${task.id}/cancel`, reason ? { reason } : {});
      toast(falling.length > 0 ? `Cancelled. ${falling.length} more are ending: the chain shows each.` : "Cancelled", { seconds: 8 });
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
    run: async () => {
      const made = /** @type {import("api").HandedOff} */ (await post(`/handoffs/${task.handoff_id}/retry`));
      toast(made.task.state === "needs" ? "Retried: the new task waits for approval." : "Retried");
      lookAgain();
      go(`/tasks/${made.task.id}`);
    },
  });
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
