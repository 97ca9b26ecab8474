/** A table of many rows: only those in sight are in the page. `j` and `k` go through it; Enter opens. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib.js";
import { isFocusFree, useKeys } from "../core/keys.js";
import { onSignOut } from "../core/session.js";

/** @template T
 * @typedef {{name: string, title: string, class?: string, cell: (row: T) => any, after?: (row: T) => any}} Column `after`: beside the row's link */
/** @template T
 * @typedef {{label: string, columns: Column<T>[], rows: T[], keyOf: (row: T) => string, hrefOf?: (row: T) => string,
 *   more?: boolean}} TableProps */

export const ROW_PX = 41;
/** Rows beyond sight; scrolling by fewer than half of them draws nothing anew. */
const SPARE = 12;
/** Where lists were when a row of theirs was opened, by address: who comes back goes on there.
 * @type {Map<string, {key: string, top: number}>} */
const left = new Map();
onSignOut(() => { left.clear(); });

/** The first column holds the link that a row opens. @template T @param {TableProps<T>} props */
export function Table({ label, columns, rows, keyOf, hrefOf, more = false }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [sight, setSight] = useState({ top: 0, height: 800 });
  const [cursor, setCursor] = useState({ row: 0 });
  const wantsFocus = useRef(false);
  const first = Math.max(0, Math.floor(sight.top / ROW_PX) - SPARE);
  const last = Math.min(rows.length, Math.ceil((sight.top + sight.height) / ROW_PX) + SPARE);
  const at = Math.min(cursor.row, Math.max(0, rows.length - 1));

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => setSight((before) => {
      const isNear = Math.abs(element.scrollTop - before.top) < (SPARE / 2) * ROW_PX && element.clientHeight === before.height;
      return isNear ? before : { top: element.scrollTop, height: element.clientHeight };
    });
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => { watcher.disconnect(); element.removeEventListener("scroll", look); };
  }, []);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const link = /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`tr[data-at="${at}"] a`));
    if (link) { wantsFocus.current = false; link.focus({ preventScroll: true }); }
  });

  const here = () => `${label} ${location.hash}`;
  const leave = (/** @type {T} */ row) => { left.set(here(), { key: keyOf(row), top: box.current?.scrollTop ?? 0 }); };
  useLayoutEffect(() => {
    const place = left.get(here());
    left.delete(here());
    const row = place ? rows.findIndex((each) => keyOf(each) === place.key) : -1;
    if (!place || row < 0 || !box.current) return;
    box.current.scrollTop = place.top;
    setCursor({ row });
    wantsFocus.current = isFocusFree();
  }, []);

  const move = (/** @type {number} */ by) => {
    const isInside = box.current?.querySelector("tbody")?.contains(document.activeElement);
    const next = Math.min(rows.length - 1, Math.max(0, isInside ? at + by : at));
    const element = box.current;
    if (!element || rows.length === 0) return;
    wantsFocus.current = true;
    setCursor({ row: next });
    if (next * ROW_PX < element.scrollTop) element.scrollTop = next * ROW_PX;
    const bottom = (next + 2) * ROW_PX;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  };
  useKeys("List", {
    j: { repeats: true, does: "next row", run: () => move(1) },
    k: { repeats: true, does: "row before", run: () => move(-1) },
    ArrowDown: { repeats: true, does: "next row", run: () => move(1) },
    ArrowUp: { repeats: true, does: "row before", run: () => move(-1) },
  });

  // The same element again is not looked at again: only rows that come into sight cost anything.
  const drawn = useRef(/** @type {Map<T, {index: number, isAt: boolean, element: unknown}>} */ (new Map()));
  if (drawn.current.size > 300) drawn.current.clear();
  const kept = (/** @type {T} */ row, /** @type {number} */ index, /** @type {boolean} */ isAt) => {
    const known = drawn.current.get(row);
    if (known && known.index === index && known.isAt === isAt) return known.element;
    const element = html`<tr key=${keyOf(row)} data-at=${index} aria-rowindex=${index + 2} class=${isAt ? "at" : ""} onClick=${() => setCursor({ row: index })}>
      ${columns.map((column, number) => html`<td key=${column.name} class=${column.class ?? ""} onPointerEnter=${spell}>
        ${number === 0 && hrefOf ? html`<a href=${hrefOf(row)} onClick=${() => leave(row)} tabindex=${isAt ? 0 : -1}>${column.cell(row)}</a>` : column.cell(row)}${column.after && html`${" "}${column.after(row)}`}</td>`)}</tr>`;
    drawn.current.set(row, { index, isAt, element });
    return element;
  };

  return html`<div class="table" ref=${box} role="region" aria-label=${label} tabindex="0">
    <table aria-rowcount=${rows.length + 1}>
      <thead><tr>${columns.map((column) => html`<th key=${column.name} scope="col" class=${column.class ?? ""}>${column.title}</th>`)}</tr></thead>
      <tbody>
        ${gap(first)}
        ${rows.slice(first, last).map((row, index) => kept(row, first + index, first + index === at))}
        ${gap(rows.length - last)}
      </tbody>
    </table>
    ${more && html`<p class="faint note">There are more: narrow the filter to see them.</p>`}
  </div>`;
}

/** What is cut is whole for whoever points at it. @param {Event & {currentTarget: HTMLElement}} event */
function spell({ currentTarget: cell }) {
  cell.title = cell.scrollWidth > cell.clientWidth ? cell.textContent ?? "" : "";
}

/** Room for rows that aren't in the page. @param {number} rows */
function gap(rows) {
  return rows > 0 ? html`<tr aria-hidden="true" class="gap"><td style=${{ height: `${rows * ROW_PX}px` }}></td></tr>` : null;
}
