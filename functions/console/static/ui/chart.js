/** A small chart: a bar for each hour or day. What it shows is said in words, and stands below as numbers. */
import { html, useState } from "../lib.js";

/** `of`: the numbers of one bar, in the order of the parts. `name`: below the bar; `title`: whole.
 * @typedef {{name: string, title: string, of: number[]}} Slot */
/** `class`: of the styles. @typedef {{class: string, title: string}} Part */
/** `isNested`: lengths of time, each part drawn before the one after it, not on top; on a logarithmic scale.
 * @typedef {{title: string, says: string, slots: Slot[], parts: Part[], isNested?: boolean,
 *   told?: (value: number) => string}} ChartProps */

const HEIGHT = 100;
const ROOM = 0.14;
/** From a second on: a day and a minute are both seen. @param {number} value */
const magnitude = (value) => Math.log10(1 + value);

/** @param {ChartProps} props */
export function Chart({ title, says, slots, parts, isNested = false, told = (value) => value.toLocaleString() }) {
  const [isOpen, setOpen] = useState(false);
  const heights = slots.map((slot) => (
    isNested ? Math.max(0, ...slot.of) : slot.of.reduce((sum, one) => sum + one, 0)));
  const most = Math.max(0, ...heights);
  const scaled = (/** @type {number} */ value) => (isNested ? magnitude(value) / magnitude(most) : value / most);
  return html`<figure class="bars">
    <figcaption><strong>${title}</strong> <span class="faint">${says}</span></figcaption>
    <p class="most faint" aria-hidden="true">${most > 0 ? told(most) : ""}</p>
    <svg viewBox=${`0 0 ${slots.length} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label=${`${title}: ${says}`}>
      ${slots.map((slot, index) => html`<g key=${slot.title}>
        <title>${`${slot.title}: ${words(slot, parts, told)}`}</title>
        <rect class="all" x=${index} y="0" width="1" height=${HEIGHT} />
        ${drawn(slot, parts, scaled, isNested).map((bar) => html`<rect key=${bar.class} class=${bar.class}
          x=${index + ROOM / 2} y=${HEIGHT - bar.top} width=${1 - ROOM} height=${bar.height} />`)}
      </g>`)}
    </svg>
    <p class="axis faint" aria-hidden="true">${axis(slots).map((name) => html`<span key=${name}>${name}</span>`)}</p>
    ${parts.length > 1 && html`<p class="legend">${parts.map((part) => html`<span key=${part.class}>
      <span class=${`swatch ${part.class}`} aria-hidden="true"></span>${part.title}
    </span>`)}</p>`}
    <details class="data" onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
      <summary>As numbers</summary>
      ${isOpen && html`<div class="numbers" role="region" aria-label=${title} tabindex="0"><table>
        <thead><tr>
          <th scope="col">When</th>
          ${parts.map((part) => html`<th key=${part.class} scope="col">${part.title}</th>`)}
        </tr></thead>
        <tbody>${slots.filter((slot) => slot.of.some((one) => one > 0)).map((slot) => html`<tr key=${slot.title}>
          <th scope="row">${slot.title}</th>
          ${slot.of.map((value, at) => html`<td key=${at}>${told(value)}</td>`)}
        </tr>`)}</tbody>
      </table></div>`}
    </details>
  </figure>`;
}

/** @param {Slot} slot @param {Part[]} parts @param {(value: number) => number} scaled @param {boolean} isNested */
function drawn(slot, parts, scaled, isNested) {
  let foot = 0;
  return parts.flatMap((part, at) => {
    const value = slot.of[at] ?? 0;
    if (value <= 0) return [];
    const height = Math.max(2, scaled(value) * HEIGHT);
    const top = Math.min(HEIGHT, foot + height);
    if (!isNested) foot = top;
    return [{ class: part.class, top, height }];
  });
}

/** The first, the last and what is in between: as many names as any width has room for. @param {Slot[]} slots */
function axis(slots) {
  const places = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * (slots.length - 1)));
  return [...new Set(places)].map((at) => slots[at]?.name ?? "");
}

/** @param {Slot} slot @param {Part[]} parts @param {(value: number) => string} told */
const words = (slot, parts, told) => parts.map((part, at) => `${part.title} ${told(slot.of[at] ?? 0)}`).join(", ");
