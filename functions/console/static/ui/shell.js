/** What is around every page: navigation, who is signed in, whether the network answers. */
import { html, useEffect, useRef, useState } from "../lib.js";
import { isOnline, pause } from "../core/api.js";
import { sending } from "../core/busy.js";
import { isFocusFree, useKeys } from "../core/keys.js";
import { address, go, matched, place, subject } from "../core/router.js";
import { signOut, who, workspace } from "../core/session.js";
import { nextTheme, theme } from "../core/theme.js";
import { undoLast } from "../core/toasts.js";
import { pageTitle } from "../core/waiting.js";
import { PAGES, START } from "../pages.js";
import { Help, openHelp } from "./help.js";
import { askWhose } from "./link.js";
import { Nav } from "./nav.js";
import { Empty, Key, Loading, Said, Trouble } from "./parts.js";
import { FindButton, openPalette, Palette } from "./palette.js";
import { Toasts } from "./toasts.js";
import { When } from "./when.js";

/** @typedef {import("../pages.js").Page} Page */
/** The bar above the page covers so much of it. */
const BAR_PX = 60;

export function Shell() {
  const { path, query } = place.value;
  const found = routeHere();
  useKeys("Everywhere", {
    "?": { does: "this list", run: openHelp },
    "Ctrl K": { does: "find or do anything", run: openPalette },
    "/": { does: "filter the page", run: focusFilter },
    "]": { does: "next part of the page", repeats: true, run: () => walk(1) },
    "[": { does: "part before", repeats: true, run: () => walk(-1) },
    "Ctrl Enter": { does: "send the form that one is in", run: () => {} }, // core/keys.js
    u: { does: "undo, while it is offered", run: undoLast },
    ...Object.fromEntries(PAGES.filter((page) => page.key).map((page) =>
      [`g ${page.key}`, { does: `go to ${page.title}`, run: () => go(page.path) }])),
  });
  const title = subject.value || (found?.page.title ?? "Not found");
  useEffect(() => { pageTitle.value = title; }, [title]);
  useEffect(() => () => { pageTitle.value = ""; }, []);
  useArrival(path);
  return html`<${SkipLink} />
    <${Bar} />
    <${Nav} at=${found?.page.within ?? found?.page.path} />
    ${!isOnline.value && html`<p class="offline" role="alert">
      The API doesn't answer. What you see may be old; the page tries again by itself.
    </p>`}
    <main id="content" tabindex="-1">
      ${found ? html`<${Lazy} key=${found.page.path} page=${found.page} params=${found.params} query=${query} />`
    : html`<${Empty} isPage title="There is no such page">
        <p><a href=${address("/")}>Go to the start</a></p>
      <//>`}
    </main>
    <${Toasts} /><${Help} /><${Palette} /><${When} />`;
}

/** Another page begins at its top, and takes the focus if what had it is gone. @param {string} path */
function useArrival(path) {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    scrollTo(0, 0);
    if (isFocusFree()) document.getElementById("content")?.focus({ preventScroll: true });
  }, [path]);
}

function routeHere() {
  const path = place.value.path === "/" ? START : place.value.path;
  for (const page of PAGES) {
    const params = matched(page.path, path);
    if (params) return { page, params };
  }
  return null;
}

/** A page is fetched when it is first opened.
 * @param {{page: Page, params: Record<string, string>, query: Record<string, string>}} props */
function Lazy({ page, params, query }) {
  const [loaded, setLoaded] = useState(/** @type {{Page: any} | null} */ (page.loaded ? { Page: page.loaded } : null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    if (loaded) return undefined;
    const stop = new AbortController();
    void fetched(page, stop.signal, setLoaded, () => setTrouble(new Error(UNFETCHED)));
    return () => stop.abort();
  }, [page]);
  if (trouble && !loaded) return html`<${Trouble} of=${trouble} />
    <button type="button" onClick=${() => location.reload()}>Reload</button>`;
  return loaded ? html`<${loaded.Page} params=${params} query=${query} />` : html`<${Loading} />`;
}

const UNFETCHED = "The page's file can't be fetched. It is tried again by itself; where a newer console was deployed, "
  + "reload.";
const SLOWEST_MS = 30_000;

/** Fetches the file of the page that the address names. */
export async function loadPage() {
  const found = routeHere();
  if (found) await load(found.page);
}

/** @param {Page} page @param {number} retries */
async function load(page, retries = 0) {
  page.loaded = (await page.load(retries ? `?retry=${retries}` : "").catch(() => null))?.default;
}

/** Again and again, until it is there. @param {Page} page @param {AbortSignal} stop
 * @param {(loaded: {Page: any}) => void} show @param {() => void} tell */
async function fetched(page, stop, show, tell) {
  for (let wait = 1000, retries = 0; !stop.aborted; wait = Math.min(SLOWEST_MS, 2 * wait)) {
    await load(page, retries++);
    if (stop.aborted) return;
    if (page.loaded) return show({ Page: page.loaded });
    tell();
    await pause(wait);
  }
}

function SkipLink() {
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault();
    document.getElementById("content")?.focus();
  };
  return html`<a class="skip" href="#content" onClick=${skip}>Skip to the page</a>`;
}

function Bar() {
  return html`<header class="bar">
    <a class="brand" href=${address("/")}><span aria-hidden="true">⇥</span> Baton</a>
    <span class="spread sending" role="status">${sending.value > 0 && html`<span>Sending …</span>`}</span>
    <${FindButton} />
    <button type="button" class="quiet" onClick=${openHelp} aria-label="Keys"><${Key}>?<//></button>
    <button type="button" class="quiet" onClick=${nextTheme} aria-label=${`Theme: ${theme.value}`}>
      <span class="long">Theme: </span>${theme.value}
    </button>
    <button type="button" class="quiet who" title="Signed in: whose this tab is" onClick=${askWhose}>
      <${Said} of=${who.value} />${" "}<span class="faint">in</span> <${Said} of=${workspace.value} />
    </button>
    <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
  </header>`;
}

/** To the next part of the page: its heading gets the focus, at the top. @param {1 | -1} by */
function walk(by) {
  const parts = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main :is(h2, legend)"))]
    .filter((each) => each.getClientRects().length > 0);
  const before = parts.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const first = by > 0 ? parts.findIndex((each) => each.getBoundingClientRect().top > BAR_PX)
    : parts.findLastIndex((each) => each.getBoundingClientRect().top < 0);
  const part = parts[before < 0 ? first : before + by];
  if (!part) {
    if (by < 0) scrollTo(0, 0);
    return;
  }
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
  part.scrollIntoView({ block: "start" });
}

function focusFilter() {
  const field = document.querySelector("main input[type=search], main select");
  if (field instanceof HTMLElement) field.focus();
}
