/** Short messages at the page's foot: what was done, with a way back while there is one. */
import { signal } from "../lib.js";
import { Problem } from "./api.js";

/** @typedef {{id: number, text: string, kind: "done" | "failed", until: number, undo: (() => unknown) | null, hint: string}} Toast */

/** @type {import("../vendor/signals.js").Signal<Toast[]>} */
export const toasts = signal([]);
let last = 0;

/** @param {string} text @param {{seconds?: number, undo?: (() => unknown) | null, kind?: "done" | "failed", hint?: string}} [how]
 * @returns {number} its id */
export function toast(text, how = {}) {
  const id = (last += 1);
  const seconds = how.seconds ?? 4;
  const made = { id, text, kind: how.kind ?? "done", until: Date.now() + seconds * 1000, undo: how.undo ?? null, hint: how.hint ?? "" };
  toasts.value = [...toasts.value.slice(-3), made];
  setTimeout(() => drop(id), seconds * 1000);
  return id;
}

/** @param {string} what was tried @param {unknown} error */
export function failed(what, error) {
  const hint = error instanceof Problem ? advice(error) : "";
  toast(`${what}: ${error instanceof Error ? error.message : String(error)}`, { kind: "failed", seconds: 10, hint });
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

/** @type {Record<string, string>} */
const ADVICE = {
  offline: "Nothing is lost: the page tries again by itself.",
  unclear: "It may have been done all the same. Once the API answers, look how it is, then try again.",
  revision_changed: "It was changed after you opened it. Read it again, then decide.",
  version_conflict: "Somebody changed it first. Your fields are kept: compare, then save again.",
  not_allowed: "Somebody was first, or it has moved on. The page shows how it is now.",
  claim_changed: "Another worker has it since you looked. The page shows who.",
  nobody_holds: "The page shows how it is now.",
  review_closed: "The page shows what was decided.",
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
  return ADVICE[problem.code] ?? "";
}
