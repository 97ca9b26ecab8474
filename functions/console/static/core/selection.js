/** What is marked in a list, to act on many at once. */
import { useMemo, useRef, useState } from "../lib.js";
import { onSignOut } from "./session.js";

/** `marked`: in the order of the list. `range`: from the one that was marked last to this one.
 * @typedef {{has: (id: string) => boolean, marked: string[], toggle: (id: string) => void, range: (id: string) => void,
 *   set: (ids: string[], isOn: boolean) => void, clear: () => void}} Selection */

/** @param {string[]} ids of the list, in its order @param {Iterable<string>} [first] @returns {Selection} */
export function useSelection(ids, first = []) {
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set(first)));
  const anchor = useRef("");
  return useMemo(() => {
    const set = (/** @type {string[]} */ some, /** @type {boolean} */ isOn) => {
      const kept = new Set(chosen);
      for (const id of some) isOn ? kept.add(id) : kept.delete(id);
      setChosen(kept);
    };
    const toggle = (/** @type {string} */ id) => {
      anchor.current = id;
      set([id], !chosen.has(id));
    };
    const range = (/** @type {string} */ id) => {
      const [from, to] = [ids.indexOf(anchor.current), ids.indexOf(id)];
      if (from < 0 || to < 0) toggle(id);
      else set(ids.slice(Math.min(from, to), Math.max(from, to) + 1), true);
    };
    return { has: (id) => chosen.has(id), marked: ids.filter((id) => chosen.has(id)), toggle, range, set,
      clear: () => setChosen(new Set()) };
  }, [ids, chosen]);
}

/** What was marked on another page, to be decided on where its content is on the screen.
 * @type {string[]} */
let brought = [];
onSignOut(() => { brought = []; });

/** @param {string[]} marked */
export const carry = (marked) => { brought = marked; };

/** Once: who comes back has nothing marked. */
export function carried() {
  const found = brought;
  brought = [];
  return found;
}
