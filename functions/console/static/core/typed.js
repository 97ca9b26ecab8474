/** What one has typed, over the end of a session: for the same person alone, and in memory, never in the browser's
 * storage. And the key of a form's request: sent again after a lost answer, it is done once. */
import { useEffect, useRef, useState } from "../lib.js";
import { newKey } from "./api.js";
import { place } from "./router.js";
import { onSignIn, onSignOut } from "./session.js";

/** What is typed now, by the field's place. @type {Map<string, () => unknown>} */
const fields = new Map();
/** What was typed as the session ended. @type {Map<string, unknown>} */
const kept = new Map();

onSignOut(() => {
  kept.clear();
  for (const [name, read] of fields) {
    const typed = read();
    if (typed !== undefined) kept.set(name, typed);
  }
});
onSignIn((isSame) => { if (!isSame) kept.clear(); });

/** What was typed here before the session ended; undefined for nothing. Kept again when the next one ends.
 * @template T @param {string} name of the field on its page @param {() => T | undefined} read what is typed now:
 * undefined while it is as it was @returns {T | undefined} */
export function useTyped(name, read) {
  const [key] = useState(() => `${place.value.path} ${name}`);
  const [typed] = useState(() => /** @type {T | undefined} */ (kept.get(key)));
  const current = useRef(read);
  current.current = read;
  useEffect(() => {
    kept.delete(key);
    fields.set(key, () => current.current());
    return () => { fields.delete(key); };
  }, [key]);
  return typed;
}

/** `of`: the key of a request, a new one for another body. `done`: the next request is a new one, whatever it says. */
export function useOneKey() {
  const last = useRef({ text: "", key: "" });
  const typed = useTyped("key", () => (last.current.text ? last.current : undefined));
  if (typed && !last.current.text) last.current = typed;
  const of = (/** @type {unknown} */ body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: newKey() };
    return last.current.key;
  };
  return { of, done: () => { last.current = { text: "", key: "" }; } };
}
