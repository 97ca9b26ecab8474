/** What was marked on another page, to be decided on here, where its content is on the screen. */
import { onSignOut } from "../../core/session.js";

/** @type {string[]} */
let ids = [];
onSignOut(() => { ids = []; });

/** @param {string[]} marked */
export const carry = (marked) => { ids = marked; };

/** Once: who comes back has nothing marked. */
export function carried() {
  const found = ids;
  ids = [];
  return found;
}
