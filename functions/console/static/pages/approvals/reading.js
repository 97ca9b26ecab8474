/** Reading what was chosen: only what was on the screen is decided on. Keys read on in it while the list stays where
 * it is, and the focus goes between the two. */
import { html, useRef, useState } from "../../lib.js";
import { useKeys } from "../../core/keys.js";
import { toast } from "../../core/toasts.js";
import { Changes } from "../../ui/changed.js";
import { boxedBelow, DECIDED } from "../../ui/text.js";

/** So much of what is in sight a page goes on, so that a line or two are seen twice. */
const PAGE = 0.85;

/** @param {{current: HTMLElement | null}} panel */
export function useReading(panel) {
  const go = (/** @type {number} */ by) => (/** @type {KeyboardEvent} */ { target }) => {
    const own = target instanceof Element ? target.closest("[tabindex='0']") : null;
    const box = [own, panel.current].find((each) => each && each.scrollHeight > each.clientHeight + 1);
    const height = box ? box.clientHeight : innerHeight;
    (box ?? window).scrollBy({ top: by * PAGE * height });
  };
  useKeys("What was chosen", {
    PageDown: { does: "read on", repeats: true, run: go(1) },
    PageUp: { does: "read back", repeats: true, run: go(-1) },
  });
}

/** Enter on what is chosen already leads into it; Tab goes on there. */
export function enter() {
  const panel = document.querySelector(".desk > .one");
  if (panel instanceof HTMLElement) panel.focus();
}

/** Out of what was chosen, to its line in the list. Returns whether the focus was in it. */
export function leave() {
  const line = document.querySelector(".item.at .open");
  if (!document.activeElement?.closest(".desk > .one") || !(line instanceof HTMLElement)) return false;
  line.focus();
  return true;
}

/** The focus goes where the keys go, unless it is on something else of the page. */
export function follow() {
  const item = document.querySelector(".item.at");
  item?.scrollIntoView({ block: "nearest" });
  const isFree = document.activeElement === document.body
    || document.activeElement?.matches(".item .open, .acts button, main, .desk > .one");
  const button = item?.querySelector(".open");
  if (isFree && button instanceof HTMLElement) button.focus({ preventScroll: true });
}

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {import("./decisions.js").Seen} Seen */

/** What is longer than what is read at a glance and a turn of the wheel: nobody approves it by its beginning,
 * untold. */
const LONG_SCREENS = 3;

const screensBelow = () => Math.floor(((document.querySelector(DECIDED)?.getBoundingClientRect().bottom ?? 0)
  + boxedBelow()) / innerHeight) - 1;

/** On a phone the list or what was chosen is there, not both. */
const isOnScreen = () => (document.querySelector(DECIDED)?.getClientRects().length ?? 0) > 0;

/** A request as it was first shown. A change is shown once the reader wants it: a text never changes under the
 * eyes of a person who decides. `told`: the notice, and the differences from the version that was read before.
 * @template T @param {T | null} now @param {(of: T) => unknown} revisionOf @param {(of: T) => unknown} askedOf */
export function useFrozen(now, revisionOf, askedOf) {
  const [[seen, before], setRead] = useState(/** @type {(T | null)[]} */ ([null, null]));
  if (now && !seen) setRead([now, null]);
  const isChanged = Boolean(seen && now && revisionOf(seen) !== revisionOf(now));
  const told = html`
    ${isChanged && html`<p class="notice" role="alert">It was changed while you read it.${" "}
      <button type="button" onClick=${() => setRead([now, seen ?? null])}>Read it as it is now</button></p>`}
    ${before && seen && html`<section class="notice" aria-label="What was changed">
      <h3>What was changed while you read</h3>
      <${Changes} was=${askedOf(before)} is=${askedOf(seen)} />
    </section>`}`;
  return { seen: seen ?? null, isChanged, told };
}

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
