/** Keys of the page at hand. `?` lists them (ui/help.js). */
import { useEffect, useRef, signal } from "../lib.js";

/** `does` says what a key is for, in the list. `repeats`: it goes on while the key is held; nothing that decides may.
 * @typedef {{does: string, run: (event: KeyboardEvent) => void, repeats?: boolean}} Binding */
/** @typedef {Record<string, Binding>} Bindings */

/** @type {import("../vendor/signals.js").Signal<{name: string, bindings: {current: Bindings}}[]>} */
export const active = signal([]);
const SEQUENCE_MS = 1200;
let first = { key: "", at: 0 };

/** Keys while a part of the page is there; the part that came last has the say.
 * A key is what `event.key` says, or two in a row, such as `g a`.
 * @param {string} name @param {Bindings} bindings */
export function useKeys(name, bindings) {
  const current = useRef(bindings);
  current.current = bindings;
  useEffect(() => {
    const entry = { name, bindings: current };
    active.value = [...active.value, entry];
    return () => { active.value = active.value.filter((each) => each !== entry); };
  }, [name]);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const pair = Date.now() - first.at < SEQUENCE_MS ? `${first.key} ${event.key}` : "";
  if (!event.repeat) first = { key: event.key, at: Date.now() };
  const binding = bound(pair) ?? bound(event.key);
  if (!binding) return;
  event.preventDefault();
  if (event.repeat && !binding.repeats) return;
  first = { key: "", at: 0 };
  binding.run(event);
});

/** Out of a field of the page: Escape leads back to the page and its keys, and empties a field of search; Enter in one
 * that filters leads to its first one. */
addEventListener("keydown", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLElement) || event.isComposing || event.defaultPrevented || !field.closest("main")) return;
  if (event.key === "Escape" && isTyping(field)) {
    if (field instanceof HTMLInputElement && field.type === "search") {
      event.preventDefault(); // a browser empties one that has lost the focus without a word to the page
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    leave(field, null);
  }
  if (event.key !== "Enter" || !field.matches("[type=search]") || field.closest("form")) return;
  event.preventDefault();
  leave(field, document.querySelector("main .table tbody a, main .item .open"));
});

/** @param {HTMLElement} field @param {Element | null} to */
function leave(field, to) {
  field.blur();
  if (to instanceof HTMLElement) to.focus();
  else document.getElementById("content")?.focus({ preventScroll: true });
}

/** Ctrl and Enter send the form that one is in, from whatever field. */
addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || event.isComposing) return;
  const form = field instanceof HTMLElement ? field.closest("form") : null;
  const button = form?.querySelector("button[type=submit]");
  if (!(button instanceof HTMLButtonElement) || event.defaultPrevented) return;
  event.preventDefault();
  if (!button.disabled) form?.requestSubmit(button);
});

/** A held Enter presses a button, or sends a form, once. */
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
}, { capture: true });

/** Nothing of the page has the focus: what had it is gone. */
export function isFocusFree() {
  return document.activeElement === null || document.activeElement.matches("body, main");
}

/** @param {string} key @returns {Binding | undefined} */
function bound(key) {
  if (!key) return undefined;
  return active.value.map((entry) => entry.bindings.current[key]).findLast((found) => found !== undefined);
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
}
