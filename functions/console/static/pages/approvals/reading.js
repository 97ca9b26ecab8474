/** Keys that read on in what was chosen, while the list stays where it is, and where the focus goes between the two. */
import { useKeys } from "../../core/keys.js";

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
