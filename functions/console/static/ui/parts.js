/** The small parts that every page is made of. */
import { computed, html, useLayoutEffect, useMemo, useRef, useState } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { go } from "../core/router.js";
import { pieces, plain } from "../core/said.js";
import { stateWord } from "../core/states.js";
import { times } from "../core/theme.js";
import { brief, length, now, relative } from "../core/time.js";
import { advice, isUnknown, toast, UNKNOWN } from "../core/toasts.js";

/** @typedef {import("../vendor/preact.js").ComponentChildren} Children */

/** A text that somebody or something else wrote. Always text; hidden characters are shown.
 * @param {{of: unknown, block?: boolean, class?: string}} props */
export function Said({ of, block = false, class: name = "" }) {
  const text = typeof of === "string" ? of : of === null || of === undefined ? "" : JSON.stringify(of, null, 2);
  const shown = pieces(text).map((piece) => ("text" in piece ? piece.text
    : html`<span class="mark" title=${`${piece.code} ${piece.name}`}>${piece.code.slice(2)}</span>`));
  return block ? html`<div class=${`said block ${name}`} dir="auto">${shown}</div>`
    : html`<bdi class=${`said ${name}`}>${shown}</bdi>`;
}

/** Below a field that somebody else has filled: what a field can't show of a text. @param {{of: string}} props */
export function Hidden({ of }) {
  return plain(of) === of ? null : html`<p class="notice">It has hidden characters: <${Said} of=${of.trim()} /></p>`;
}

/** An age, or the time; `ui/when.js` says the exact one on demand.
 * @param {{at: string | null | undefined, none?: string}} props */
export function Ago({ at, none = "–" }) {
  // Drawn anew when its words change, not each second.
  const shown = useMemo(() => computed(() => (!at ? "" : times.value === "exact" ? brief(at) : relative(at))), [at]);
  return at ? html`<time datetime=${at}>${shown.value}</time>` : html`<span class="faint">${none}</span>`;
}

/** What is left until a time; `over` once it has passed. @param {{at: string, over?: string}} props */
export function Left({ at, over = "over" }) {
  const seconds = (Date.parse(at) - now.value) / 1000;
  return html`<time datetime=${at} class=${seconds < 0 ? "late" : ""}>${seconds < 0 ? over : length(seconds)}</time>`;
}

/** An id that a click copies. Where the browser doesn't allow that, it is chosen whole, for the person's own keys.
 * @param {{of: string, short?: boolean}} props */
export function Id({ of, short = false }) {
  const [state, setState] = useState(/** @type {"" | "copied" | "chosen"} */ (""));
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (state === "chosen" && button.current) getSelection()?.selectAllChildren(button.current);
  }, [state]);
  const copy = async (/** @type {Event} */ event) => {
    event.stopPropagation();
    const isCopied = await copied(of);
    setState(isCopied ? "copied" : "chosen");
    if (isCopied) setTimeout(() => setState(""), 1500);
    else toast("The browser doesn't let a page copy: it is chosen, press Ctrl and C.");
  };
  const shown = short && state === "" && of.length > 14 ? `${of.slice(0, of.indexOf("_") + 1)}…${of.slice(-6)}` : of;
  return html`<button type="button" class="id" ref=${button} title=${`Copy ${plain(of)}`} onClick=${copy}>
    ${state === "copied" ? "copied" : plain(shown)}
  </button>`;
}

/** @param {string} text @returns {Promise<boolean>} */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

const MARKS = /** @type {Record<string, string>} */ ({
  needs: "◔", delegated: "○", next: "◇", claimed: "●", waiting: "◐",
  done: "✓", failed: "✕", rejected: "⊘", cancelled: "–",
});

/** A task's state: a mark and a word, never a colour alone. @param {{of: string}} props */
export function State({ of }) {
  return html`<span class=${`state ${of}`} title=${`In the API: ${of}`}>
    <span aria-hidden="true">${MARKS[of] ?? "·"}</span> ${stateWord(of)}
  </span>`;
}

/** Who hands to whom. @param {{from: string, to: string | null}} props */
export function Way({ from, to }) {
  return html`<span class="way">
    <${Said} of=${from} />
    <span class="arrow" aria-label="to"> → </span>
    ${to ? html`<${Said} of=${to} />` : html`<em>anyone</em>`}
  </span>`;
}

/** @param {{of: string[]}} props */
export function Flags({ of }) {
  return of.map((flag) => html`<span key=${flag} class="flag">${flag.replaceAll("_", " ")}</span>`);
}

/** A refusal: what it says, which field, what to do. @param {{of: unknown, what?: string}} props */
export function Trouble({ of, what = "" }) {
  if (!of) return null;
  const problem = /** @type {import("../core/api.js").Problem} */ (of);
  const hint = problem.code ? advice(problem) : "";
  return html`<div class="trouble" role="alert">
    <p>
      <strong>${isUnknown(of) ? `${UNKNOWN}.` : what || "That didn't work."}</strong> <${Said} of=${problem.message} />
    </p>
    ${problem.errors?.length ? html`<ul>${problem.errors.map((each) => html`<li>
      <code><${Said} of=${each.field} /></code> <${Said} of=${each.message} />
    </li>`)}</ul>` : null}
    ${hint && html`<p>${hint}</p>`}
    ${problem.requestId && html`<p class="faint">
      ${problem.status} <code>${problem.code}</code> · request <${Id} of=${problem.requestId} />
    </p>`}
  </div>`;
}

/** What a list says while it is empty: what would be here, and how it comes here. `isPage`: there is nothing else.
 * @param {{title: string, isPage?: boolean, children?: Children}} props */
export function Empty({ title, isPage = false, children }) {
  return html`<div class="empty">${isPage ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`}${children}</div>`;
}

/** Links to the ways to see a list, of which one is chosen. `also`: what stands beside a link. `says`: its name as a
 * text, if `name` isn't one. Keys 1 to 9 open them, unless another list of the page has these: `hasKeys`.
 * @typedef {{name: any, says?: string, href: string, isChosen: boolean, also?: Children}} View */
/** @param {{label: string, of: View[], hasKeys?: boolean, children?: Children}} props */
export function Views({ label, of, hasKeys = true, children }) {
  useKeys(`${label} by number`, Object.fromEntries((hasKeys ? of.slice(0, 9) : []).map(({ name, says, href }, at) =>
    [String(at + 1), { does: plain(says ?? name), run: () => go(href.slice(1)) }])));
  return html`<div class="views" role="group" aria-label=${label}>
    ${of.map((view) => html`<span class="view" key=${view.name}>
      <a href=${view.href} aria-current=${view.isChosen ? "true" : undefined}>${view.name}</a>
      ${view.also}
    </span>`)}
    ${children}
  </div>`;
}

/** Names and values. Empty values are left out. @param {{of: [string, Children | unknown][]}} props */
export function Facts({ of }) {
  const kept = of.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return html`<dl class="facts">${kept.map(([name, value]) => html`<div key=${name}>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`)}</dl>`;
}

/** Any value of JSON, as text in a box that folds. @param {{of: unknown, title: string, open?: boolean}} props */
export function Data({ of, title, open = false }) {
  if (of === null || of === undefined || (typeof of === "object" && Object.keys(of).length === 0)) return null;
  return html`<details class="data" open=${open}>
    <summary>${title}</summary>
    <pre tabindex="0" aria-label=${title}>
      <${Said} of=${typeof of === "string" ? of : JSON.stringify(of, null, 2)} />
    </pre>
  </details>`;
}

/** @param {{children: Children}} props */
export const Key = ({ children }) => html`<kbd>${children}</kbd>`;

export function Loading() {
  return html`<p class="loading" role="status">Loading …</p>`;
}
