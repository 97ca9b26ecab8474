/** A long text of somebody else: code looks like code, and it is found in, copied, and folded where nobody decides
 * on it. */
import { html, useEffect, useId, useMemo, useRef, useState } from "../lib.js";
import { partsOf } from "../core/said.js";
import { toast } from "../core/toasts.js";
import { copied, Said } from "./parts.js";

/** From so many characters or lines on it has tools, and is folded. */
const TOOLS_FROM = 2000, LINES_FROM = 40;
/** What is decided on is whole on the page up to here. Beyond it is in a box that says that it goes on
 * (`screensBelow`). */
export const BOXED_FROM = 20_000;
const CHUNK_LINES = 60;
const MOST_FOUND = 1000;

/** `title`: what it is, for who doesn't see it. `isCode`: all of it. `isWhole`: somebody decides on it, so nothing
 * is folded.
 * @param {{of: unknown, title: string, isCode?: boolean, isWhole?: boolean}} props */
export function Text({ of, title, isCode = false, isWhole = false }) {
  const text = typeof of === "string" ? of : JSON.stringify(of, null, 2) ?? "";
  const parts = useMemo(() => (isCode ? [{ code: true, label: "", text }] : partsOf(text)), [text, isCode]);
  const lines = useMemo(() => text.split("\n").length, [text]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length >= TOOLS_FROM || lines >= LINES_FROM;
  const isBoxed = text.length >= BOXED_FROM && !isOpen;
  const shape = isLong && !isWhole && !isOpen ? "folded" : isBoxed ? "boxed" : "";
  return html`<div class=${`long ${isLong ? "framed" : ""}`}>
    ${isLong && html`<${Tools} text=${text} lines=${lines} title=${title} box=${box} isGoingOn=${isBoxed && isWhole}
      fold=${shape || isOpen ? [isOpen ? "Fold" : "Show all", () => setOpen(!isOpen)] : null} />`}
    <div class=${`parts ${shape}`} ref=${box} ...${shape ? { tabindex: 0, role: "region", "aria-label": title } : {}}>
      ${parts.map((part, at) => html`<${Part} key=${at} of=${part} />`)}
    </div>
  </div>`;
}

/** @param {{of: import("../core/said.js").Part}} props */
function Part({ of }) {
  const chunks = useMemo(() => chunksOf(of.text), [of.text]);
  if (!of.code) return chunks.map((chunk, at) => html`<${Said} key=${at} of=${chunk} block class="chunk" />`);
  return html`${of.label && html`<p class="faint label"><${Said} of=${of.label} /></p>`}
    <pre class="code">
      ${chunks.map((chunk, at) => html`<code key=${at} class="chunk"><${Said} of=${chunk} /></code>`)}
    </pre>`;
}

/** What isn't in sight costs no layout, where it stands in pieces. @param {string} text */
function chunksOf(text) {
  const lines = text.split("\n");
  if (lines.length <= CHUNK_LINES) return [text];
  return Array.from({ length: Math.ceil(lines.length / CHUNK_LINES) }, (_, at) =>
    lines.slice(at * CHUNK_LINES, (at + 1) * CHUNK_LINES).join("\n"));
}

/** @param {{text: string, lines: number, title: string, box: {current: HTMLElement | null}, isGoingOn: boolean,
 *   fold: [string, () => void] | null}} props */
function Tools({ text, lines, title, box, isGoingOn, fold }) {
  const id = useId();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(-1);
  const found = useMemo(() => rangesOf(box.current, words), [words, text]);
  useEffect(() => marked(id, found[at] ?? null, found), [found, at]);
  const step = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (found.length === 0) return;
    const to = (at + 1) % found.length;
    setAt(to);
    found[to]?.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
    into(box.current, found[to]);
  };
  return html`<div class="row tools">
    <span class="faint">
      ${text.length.toLocaleString()} characters, ${lines.toLocaleString()} lines
      ${isGoingOn && html`;${" "}<strong>it goes on inside of the box</strong>`}
    </span>
    <form role="search" onSubmit=${step}>
      <input type="search" aria-label=${`Find in: ${title}`} placeholder="Find" value=${words}
        onInput=${(/** @type {any} */ event) => { setWords(event.target.value); setAt(-1); }} />
    </form>
    ${words && html`<span class="faint" role="status">
      ${found.length === 0 ? "not found" : `${at < 0 ? "" : `${at + 1} of `}${found.length}
      ${found.length === MOST_FOUND ? " and more" : ""}`}
    </span>`}
    ${fold && html`<button type="button" class="quiet" aria-expanded=${fold[0] === "Fold"} onClick=${fold[1]}>
      ${fold[0]}
    </button>`}
    <${Copy} of=${text} />
  </div>`;
}

/** @param {{of: string, says?: string}} props */
export function Copy({ of, says = "Copy" }) {
  const copy = async () => toast(await copied(of) ? "Copied" : "The browser doesn't let a page copy.");
  return html`<button type="button" class="quiet" onClick=${copy}>${says}</button>`;
}

/** Where the words stand, across the pieces that the text is drawn in.
 * @param {HTMLElement | null} box @param {string} words @returns {Range[]} */
function rangesOf(box, words) {
  if (!box || !words.trim()) return [];
  /** @type {{node: Text, from: number}[]} */
  const nodes = [];
  let text = "";
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: /** @type {any} */ (node), from: text.length });
    text += node.nodeValue;
  }
  /** @type {Range[]} */
  const found = [];
  let index = 0;
  for (const match of text.matchAll(new RegExp(words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu"))) {
    if (found.length === MOST_FOUND) break;
    const range = document.createRange();
    while ((nodes[index + 1]?.from ?? Infinity) <= match.index) index += 1;
    const first = nodes[index];
    const end = match.index + match[0].length;
    const last = nodes.findLast((each) => each.from < end);
    if (!first || !last) continue;
    range.setStart(/** @type {any} */ (first.node), match.index - first.from);
    range.setEnd(/** @type {any} */ (last.node), end - last.from);
    found.push(range);
  }
  return found;
}

/** @param {HTMLElement | null} box @param {Range | undefined} range */
function into(box, range) {
  const [place, frame] = [range?.getBoundingClientRect(), box?.getBoundingClientRect()];
  if (!box || !place || !frame || (place.top >= frame.top && place.bottom <= frame.bottom)) return;
  box.scrollTop += place.top - frame.top - frame.height / 3;
}

/** Every text that is searched has ranges of its own. @type {Map<string, {here: Range | null, all: Range[]}>} */
const searched = new Map();

/** Drawn by the browser, so that nothing of the page changes.
 * @param {string} id @param {Range | null} here @param {Range[]} all */
function marked(id, here, all) {
  if (!("highlights" in CSS)) return undefined;
  searched.set(id, { here, all });
  draw();
  return () => { searched.delete(id); draw(); };
}

function draw() {
  const every = [...searched.values()];
  CSS.highlights.set("found", new Highlight(...every.flatMap((each) => each.all)));
  CSS.highlights.set("found-here", new Highlight(...every.flatMap((each) => each.here ?? [])));
}

/** Any value of JSON, in a box that folds; open where somebody decides on it.
 * @param {{of: unknown, title: string, isOpen?: boolean, isWhole?: boolean}} props */
export function Json({ of, title, isOpen = false, isWhole = false }) {
  if (of === null || of === undefined || (typeof of === "object" && Object.keys(of).length === 0)) return null;
  return html`<details class="data" open=${isOpen || isWhole}>
    <summary>${title}</summary>
    <${Text} of=${of} title=${title} isCode isWhole=${isWhole} />
  </details>`;
}

/** The article that is decided on: in the queue, or a review's page. */
export const DECIDED = ":is(.desk > .one article, article.review)";

/** What goes on inside of the boxes of what is decided on, in pixels below their sight. */
export const boxedBelow = () => [...document.querySelectorAll(`${DECIDED} .boxed`)]
  .reduce((sum, box) => sum + Math.max(0, box.scrollHeight - box.scrollTop - box.clientHeight), 0);
