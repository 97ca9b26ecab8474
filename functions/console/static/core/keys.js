/** Keys of the page at hand. `?` lists them (ui/help.js). */
import { useEffect, useRef, signal } from "../lib.js";

/** `does` says what a key is for, in the list. @typedef {{does: string, run: (event: KeyboardEvent) => void}} Binding */
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
  first = { key: event.key, at: Date.now() };
  const binding = bound(pair) ?? bound(event.key);
  if (!binding) return;
  first = { key: "", at: 0 };
  event.preventDefault();
  binding.run(event);
});

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
