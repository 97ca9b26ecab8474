/** The list of pages, in groups, with what waits at each. */
import { html, useEffect, useRef } from "../lib.js";
import { address } from "../core/router.js";
import { many } from "../core/waiting.js";
import { PAGES } from "../pages.js";

const GROUPS = /** @type {const} */ (["Work", "Build", "Watch", "Workspace"]);

/** What waits at a page, counted. @type {Record<string, () => string>} */
const COUNTS = {
  "/approvals": () => many("needs", "questions"), "/reviews": () => many("reviews"), "/alerts": () => many("alerts"),
  "/changes": () => many("changes"),
};

/** @param {{path: string}} props */
function Count({ path }) {
  const waits = COUNTS[path]?.();
  const says = `${waits} ${path === "/alerts" ? "open" : "waiting"}`;
  return waits ? html`<span class="count" aria-label=${says}>${waits}</span>` : null;
}

/** @param {{at: string | undefined}} props */
export function Nav({ at }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const move = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const index = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    if (!step || index < 0) return;
    event.preventDefault();
    links[(index + step + links.length) % links.length]?.focus();
  };
  useEffect(() => { bringIntoSight(list.current); }, [at]);
  return html`<nav aria-label="Pages" ref=${list} onKeyDown=${move}>${GROUPS.map((group) => {
    const pages = PAGES.filter((page) => page.place === group);
    return pages.length ? html`<section key=${group}>
      <h2>${group}</h2>
      <ul>${pages.map((page) => html`<li key=${page.path}>
        <a
          href=${address(page.path)}
          aria-current=${at === page.path ? "page" : undefined}
          tabindex=${at === page.path || (!at && page === PAGES[0]) ? 0 : -1}
        >
          ${page.title}
          <${Count} path=${page.path} />
        </a>
      </li>`)}</ul>
    </section>` : null;
  })}</nav>`;
}

/** On a phone the pages are one line that scrolls. @param {HTMLElement | null} list */
function bringIntoSight(list) {
  const link = /** @type {HTMLElement | null | undefined} */ (list?.querySelector("[aria-current]"));
  if (list && link) list.scrollLeft = link.offsetLeft - list.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
}
