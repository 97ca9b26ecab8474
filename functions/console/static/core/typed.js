/** What one has typed, over the end of a session: for the same person alone, and in memory, never in the browser's
 * storage. */
import { useEffect, useRef, useState } from "../lib.js";
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
