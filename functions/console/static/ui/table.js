/** A table of many rows: only those in sight are in the page. `j` and `k` go through it; Enter opens. */
import { html, memo, useEffect, useLayoutEffect, useRef, useState } from "../lib.js";
import { isFocusFree, useKeys } from "../core/keys.js";
import { setQuery } from "../core/router.js";
import { onSignOut } from "../core/session.js";
import { density } from "../core/theme.js";

/** @template T
 * @typedef {{name: string, title: string, class?: string, cell: (row: T) => any, after?: (row: T) => any,
 *   sort?: string}} Column `after`: beside the row's link; `sort`: the order that its heading gives, in the address */
/** @template T
 * @typedef {{label: string, columns: Column<T>[], rows: T[], keyOf: (row: T) => string, hrefOf?: (row: T) => string,
 *   more?: boolean, sort?: string, selection?: import("../core/selection.js").Selection,
 *   nameOf?: (row: T) => string}} TableProps
 *   `selection`: rows can be marked; `nameOf`: what a row's box is called */

/** @template T @typedef {{selection: import("../core/selection.js").Selection | undefined, leave: (row: T) => void,
 *   choose: (index: number) => void}} Acts */

const ROWS_PX = { comfortable: 41, compact: 31 }; // and in css/display.css
/** Rows beyond sight; scrolling by fewer than half of them draws nothing anew. */
const SPARE = 12;
/** Where lists were when a row of theirs was opened, by address: who comes back goes on there.
 * @type {Map<string, {key: string, top: number}>} */
const left = new Map();
onSignOut(() => { left.clear(); });

/** The first column holds the link that a row opens. @template T @param {TableProps<T>} props */
export function Table({ label, columns, rows, keyOf, hrefOf, more = false, sort = "", selection, nameOf = keyOf }) {
  const rowPx = ROWS_PX[density.value];
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [sight, setSight] = useState({ top: 0, height: 800 });
  const [cursor, setCursor] = useState({ row: 0 });
  const wantsFocus = useRef(false);
  const [spare, setSpare] = useState(0); // drawn once those in sight are painted
  const first = Math.max(0, Math.floor(sight.top / rowPx) - spare);
  const last = Math.min(rows.length, Math.ceil((sight.top + sight.height) / rowPx) + spare);
  const at = Math.min(cursor.row, Math.max(0, rows.length - 1));

  useEffect(() => setSpare(rows.length && SPARE), [rows.length > 0]);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => setSight((before) => {
      const isNear = Math.abs(element.scrollTop - before.top) < (SPARE / 2) * rowPx
        && element.clientHeight === before.height;
      return isNear ? before : { top: element.scrollTop, height: element.clientHeight };
    });
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => { watcher.disconnect(); element.removeEventListener("scroll", look); };
  }, [rowPx]);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const link = /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`tr[data-at="${at}"] a`));
    if (link) { wantsFocus.current = false; link.focus({ preventScroll: true }); }
  });

  const here = () => `${label} ${location.hash}`;
  const leave = (/** @type {T} */ row) => { left.set(here(), { key: keyOf(row), top: box.current?.scrollTop ?? 0 }); };
  useLayoutEffect(() => {
    const place = left.get(here());
    const row = place ? rows.findIndex((each) => keyOf(each) === place.key) : -1;
    if (!place || row < 0 || !box.current) return; // it may come with the rest of the list
    left.delete(here());
    box.current.scrollTop = place.top;
    setCursor({ row });
    wantsFocus.current = isFocusFree();
  }, [rows]);

  const move = (/** @type {number} */ by) => {
    const isInside = box.current?.querySelector("tbody")?.contains(document.activeElement);
    const next = Math.min(rows.length - 1, Math.max(0, isInside ? at + by : at));
    const element = box.current;
    if (!element || rows.length === 0) return;
    left.delete(here());
    wantsFocus.current = true;
    setCursor({ row: next });
    if (next * rowPx < element.scrollTop) element.scrollTop = next * rowPx;
    const bottom = (next + 2) * rowPx;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  };
  const mark = (/** @type {"toggle" | "range"} */ how, by = 0) => () => {
    const row = rows[at];
    if (row !== undefined) selection?.[how](keyOf(row));
    if (by) move(by);
  };
  useKeys("List", {
    ...(selection && {
      m: { does: "mark, to act on many at once", run: mark("toggle", 1) },
      M: { does: "mark all from the last marked one to here", run: mark("range") },
      Escape: { does: "unmark all", run: selection.clear },
    }),
    j: { repeats: true, does: "next row", run: () => move(1) },
    k: { repeats: true, does: "row before", run: () => move(-1) },
    ArrowDown: { repeats: true, does: "next row", run: () => move(1) },
    ArrowUp: { repeats: true, does: "row before", run: () => move(-1) },
  });

  const latest = useRef(/** @type {Acts<T>} */ ({}));
  latest.current = { selection, leave, choose: (row) => setCursor({ row }) };
  const drawn = (/** @type {T} */ row, /** @type {number} */ index) => html`<${Row} key=${keyOf(row)} row=${row}
    index=${index} isAt=${index === at} isMarked=${selection ? selection.has(keyOf(row)) : null} columns=${columns}
    id=${keyOf(row)} name=${nameOf(row)} href=${hrefOf?.(row)} latest=${latest} />`;

  return html`<div class="table" ref=${box} role="region" aria-label=${label} tabindex="0">
    <table aria-rowcount=${rows.length + 1}>
      <thead><tr>
        ${selection && html`<th scope="col" class="tick">
          <${MarkAll} ids=${rows.map(keyOf)} selection=${selection} />
        </th>`}
        ${columns.map((column) => html`<${Heading} key=${column.name} of=${column} sort=${sort} />`)}
      </tr></thead>
      <tbody>
        ${gap(first, rowPx)}
        ${rows.slice(first, last).map((row, index) => drawn(row, first + index))}
        ${gap(rows.length - last, rowPx)}
      </tbody>
    </table>
    ${more && html`<p class="faint note">There are more: narrow the filter to see them.</p>`}
  </div>`;
}

/** A key draws two rows anew, however many are in sight. `latest`: what a row does would else hold the list as it was
 * when the row was drawn. */
const Row = memo((/** @type {{row: any, index: number, isAt: boolean, isMarked: boolean | null, columns: Column<any>[],
 *   id: string, name: string, href: string | undefined, latest: {current: Acts<any>}}} */
  { row, index, isAt, isMarked, columns, id, name, href, latest }) => {
  const tick = (/** @type {MouseEvent} */ event) => latest.current.selection?.[event.shiftKey ? "range" : "toggle"](id);
  const tab = isAt ? 0 : -1;
  return html`<tr data-at=${index} aria-rowindex=${index + 2} onClick=${() => latest.current.choose(index)}
    class=${`${isAt ? "at" : ""} ${isMarked ? "marked" : ""}`.trim()}>
    ${isMarked !== null && html`<td class="tick">
      <input type="checkbox" tabindex=${tab} checked=${isMarked} aria-label=${`Mark ${name}`} onClick=${tick} />
    </td>`}
    ${columns.map((column, number) => html`<td key=${column.name} class=${column.class ?? ""} onPointerEnter=${spell}>
      ${number === 0 && href ? html`<a href=${href} onClick=${() => latest.current.leave(row)} tabindex=${tab}>
        ${column.cell(row)}
      </a>` : column.cell(row)}
      ${column.after && html`${" "}${column.after(row)}`}
    </td>`)}
  </tr>`;
});

/** @param {{ids: string[], selection: import("../core/selection.js").Selection}} props */
function MarkAll({ ids, selection }) {
  const isAll = ids.length > 0 && selection.marked.length === ids.length;
  const set = () => selection.set(ids, !isAll);
  return html`<input type="checkbox" aria-label="Mark all" checked=${isAll} onClick=${set} />`;
}

/** A press orders by it, the next one the other way round, a third not at all.
 * @param {{of: Column<any>, sort: string}} props */
function Heading({ of, sort }) {
  const [isUp, isDown] = [sort === of.sort, sort === `-${of.sort}`];
  const order = !of.sort ? undefined : isUp ? "ascending" : isDown ? "descending" : "none";
  const turn = () => setQuery({ sort: isUp ? `-${of.sort}` : isDown ? null : of.sort });
  const mark = html`<span aria-hidden="true">${isUp ? " ↑" : isDown ? " ↓" : ""}</span>`;
  return html`<th scope="col" class=${of.class ?? ""} aria-sort=${order}>
    ${of.sort ? html`<button type="button" onClick=${turn}>${of.title}${mark}</button>` : of.title}</th>`;
}

/** What is cut is whole for whoever points at it. @param {Event & {currentTarget: HTMLElement}} event */
function spell({ currentTarget: cell }) {
  const isCut = [cell, ...cell.querySelectorAll(".said")].some((each) => each.scrollWidth > each.clientWidth);
  cell.title = isCut ? cell.textContent ?? "" : "";
}

/** Room for rows that aren't in the page. @param {number} rows @param {number} rowPx */
function gap(rows, rowPx) {
  return rows > 0 ? html`<tr aria-hidden="true" class="gap"><td style=${{ height: `${rows * rowPx}px` }}></td></tr>`
    : null;
}
