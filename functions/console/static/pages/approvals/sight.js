/** What of what is chosen was on the screen: only that is decided on. */
import { useRef } from "../../lib.js";
import { toast } from "../../core/toasts.js";
import { boxedBelow } from "../../ui/text.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {import("./decisions.js").Seen} Seen */

/** What is longer than what is read at a glance and a turn of the wheel: nobody approves it by its beginning,
 * untold. */
const LONG_SCREENS = 3;

const screensBelow = () => Math.floor(((document.querySelector(".desk > .one article")?.getBoundingClientRect().bottom
  ?? 0) + boxedBelow()) / innerHeight) - 1;

/** On a phone the list or what was chosen is there, not both. */
const isOnScreen = () => (document.querySelector(".desk > .one")?.getClientRects().length ?? 0) > 0;

/** A task as it was shown. What says the same is shown once, so the revision is the task's own where the digest tells.
 * @param {ListedTask} task @param {HandoffView | undefined} handoff @returns {Seen} */
export const seenOf = (task, handoff) => ({
  id: task.id, title: task.title, revision: handoff?.task_id === task.id ? handoff.revision : task.revision,
  digest: handoff?.digest ?? null,
});

/** Says whether one may decide on `which`, and tells why not: it isn't whole, or goes on far below. */
export function useSight() {
  const told = useRef(""); // of which long ones the person was told that they go on below
  return (/** @type {boolean} */ isWhole, /** @type {boolean} */ isApproval, /** @type {string} */ which) => {
    if (!isWhole || !isOnScreen()) {
      toast("Nothing is decided yet: it isn't whole on the screen.");
      return false;
    }
    const below = isApproval ? screensBelow() : 0;
    if (below < LONG_SCREENS || told.current === which) return true;
    told.current = which;
    toast(`It goes on for ${below} more screens below: the same again goes on without.`);
    return false;
  };
}
