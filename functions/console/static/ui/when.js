/** Exact times on demand: of the one that is pointed at, or of what has the focus; in each zone that matters. */
import { html, signal, useEffect, useLayoutEffect, useRef } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { onSignOut } from "../core/session.js";
import { nextTimes } from "../core/theme.js";
import { exactIn } from "../core/time.js";
import { toast } from "../core/toasts.js";
import { learn, zones } from "../core/zone.js";
import { Said } from "./parts.js";

/** `under`: what it is shown below. @typedef {{of: {name: string, at: string}[], under: DOMRect}} Shown */

const shown = signal(/** @type {Shown | null} */ (null));
const MOST = 6;
/** A pointer on its way to something else opens nothing. */
const RESTS_MS = 120;
const TIMES = "time[datetime]";

const close = () => { shown.value = null; };
onSignOut(close);

export function When() {
  useKeys("Times", {
    z: { does: "exact times of what has the focus", run: showFocused },
    Z: { does: "times in place of ages, and ages again", run: nextTimes },
  });
  useEffect(() => {
    let timer = 0;
    const point = (/** @type {Event} */ event) => {
      const over = event.target instanceof Element ? event.target : null;
      const time = over?.closest(TIMES);
      clearTimeout(timer);
      if (time) timer = setTimeout(() => show([time], time), RESTS_MS);
      else if (shown.value && !over?.closest(".when")) timer = setTimeout(close, RESTS_MS);
    };
    const scrolled = (/** @type {Event} */ event) => {
      if (!(event.target instanceof Element && event.target.closest(".when"))) close();
    };
    document.addEventListener("pointerover", point);
    document.addEventListener("focusin", close);
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
    addEventListener("hashchange", close);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerover", point);
      document.removeEventListener("focusin", close);
      document.removeEventListener("scroll", scrolled, { capture: true });
      removeEventListener("hashchange", close);
    };
  }, []);
  return html`<${Box} />${shown.value && html`<${Closing} />`}`;
}

/** @param {Element[]} times @param {Element} under */
function show(times, under) {
  learn();
  const named = times.map((time) => ({ name: nameOf(time), at: /** @type {HTMLTimeElement} */ (time).dateTime }));
  shown.value = { of: named, under: under.getBoundingClientRect() };
}

/** The times of the smallest part around the focus that has some. */
function showFocused() {
  const focused = document.activeElement;
  const free = !focused || focused.matches("body, main");
  let part = free ? document.querySelector(".item.at, .table tr.at, main") : focused;
  while (part && part.id !== "content" && !part.querySelector(TIMES) && !part.matches(TIMES)) part = part.parentElement;
  const times = part ? [...part.querySelectorAll(TIMES)].slice(0, MOST) : [];
  const under = free || !part || part.clientHeight > innerHeight / 2 ? times[0] : part;
  if (under) show(times, under);
  else toast("There is no time here.");
}

/** What a time is of: its column, its name in a list of facts, or what the page says. @param {Element} time */
function nameOf(time) {
  const cell = time.closest("td");
  const head = cell?.closest("table")?.querySelectorAll("thead th")[cell.cellIndex];
  const fact = time.closest("dd")?.previousElementSibling;
  return [(head ?? fact)?.textContent?.trim(), time.textContent].filter(Boolean).join(": ");
}

function Box() {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const now = shown.value;
  useLayoutEffect(() => {
    const element = box.current;
    element?.togglePopover?.(Boolean(now));
    if (!element || !now) return;
    const { under } = now;
    const isBelow = under.bottom + element.offsetHeight <= innerHeight;
    element.style.top = `${Math.max(0, isBelow ? under.bottom : under.top - element.offsetHeight)}px`;
    element.style.left = `${Math.max(0, Math.min(under.left, innerWidth - element.offsetWidth - 4))}px`;
  });
  return html`<div class="when" popover="manual" role="status" ref=${box}>${now?.of.map((each) => html`
    <p><${Said} of=${each.name} /></p>
    <dl>${zones().map(([whose, zone]) => html`<div key=${zone}>
      <dt>${whose}${whose !== zone && html`${" "}<span class="faint">${zone}</span>`}</dt>
      <dd>${exactIn(each.at, zone)}</dd>
    </div>`)}</dl>`)}
  </div>`;
}

function Closing() {
  useKeys("Exact times", { Escape: { does: "close them", run: close } });
  return null;
}
