/** Short messages at the page's foot: what was done, with a way back while there is one. */
import { signal } from "../lib.js";
import { Problem } from "./api.js";
import { isLeaving, isSignedIn, lost, onSignOut } from "./session.js";

/** @typedef {{id: number, text: string, kind: "done" | "failed", until: number, undo: (() => unknown) | null,
 *   hint: string}} Toast */
/** @typedef {{seconds?: number, undo?: (() => unknown) | null, kind?: "done" | "failed", hint?: string}} How */

/** @type {import("../vendor/signals.js").Signal<Toast[]>} */
export const toasts = signal([]);
/** Of those without a way back. */
const MOST = 4;
let last = 0;

onSignOut(() => { toasts.value = []; });

/** Those with a way back stay while there is one, however many they are.
 * @param {string} text @param {How} [how] @returns {number} its id */
export function toast(text, how = {}) {
  const id = (last += 1);
  if (!isSignedIn.value || isLeaving.value) return id;
  const seconds = how.seconds ?? 4;
  const made = {
    id, text, kind: how.kind ?? "done", until: Date.now() + seconds * 1000,
    undo: how.undo ?? null, hint: how.hint ?? "",
  };
  const others = toasts.value.filter((each) => !each.undo).slice(1 - MOST);
  toasts.value = [...toasts.value.filter((each) => each.undo || others.includes(each)), made];
  setTimeout(() => drop(id), seconds * 1000);
  return id;
}

/** Whether a change was made that nothing answered isn't known: nobody is told that it wasn't.
 * @param {unknown} error */
export const isUnknown = (error) => error instanceof Problem && error.code === "unclear";

/** Who is about to sign out reads it there.
 * @param {string} what wasn't done, in words @param {unknown} error @param {string} [about] what it was about */
export function failed(what, error, about = "") {
  const hint = error instanceof Problem ? advice(error) : "";
  const said = isUnknown(error) ? `${about && `${about}: `}${UNKNOWN}` : what;
  const text = `${said}: ${error instanceof Error ? error.message : String(error)}`;
  if (isLeaving.value) lost.value = [...lost.value, `${text} ${hint}`.trim()];
  else toast(text, { kind: "failed", seconds: 10, hint });
}

/** @param {number} id */
export function drop(id) {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** The newest way back. */
export function undoLast() {
  const found = toasts.value.findLast((each) => each.undo);
  if (!found) return;
  drop(found.id);
  found.undo?.();
}

export const UNKNOWN = "Whether it was done isn't known";

/** @type {Record<string, string>} */
const ADVICE = {
  offline: "Nothing is lost: the page tries again by itself.",
  unclear: "Once it answers, look how it is before you try again.",
  revision_changed: "It was changed after you opened it. Read it again, then decide.",
  agent_changed: "Its agent was changed. Look at the agent, then decide.",
  version_conflict: "Somebody changed it first. Your fields are kept: compare, then save again.",
  not_allowed: "Somebody was first, or it has moved on. The page shows how it is now.",
  claim_changed: "Another worker has it since you looked. The page shows who.",
  nobody_holds: "The page shows how it is now.",
  review_closed: "The page shows what was decided.",
  question_over: "Somebody was first, or its time is over. The page shows how it is now.",
  not_asked: "Others may answer it: the page names them.",
  approval_counted: "Others have to approve it, too.",
  receipt_refused: "The page shows how it is now.",
  task_ended: "It has ended. A retry makes a new task of it.",
  undo_window_over: "An agent may have it already. Cancel the task to stop it.",
  human_required: "Only a person may do this.",
  token_refused: "Sign in again.",
  rate_limited: "Too many requests. Wait a moment, then try again.",
  busy: "Several changes came at once. Try again.",
  not_found: "It isn't there, or you may not read it.",
  already_retried: "A retry is under way: open it from the chain.",
};

/** What to do about a refusal. @param {Problem} problem */
export function advice(problem) {
  const noRight = problem.status === 403 ? "You don't have the right to it; who manages the workspace can give it."
    : "";
  return ADVICE[problem.code] ?? noRight;
}
