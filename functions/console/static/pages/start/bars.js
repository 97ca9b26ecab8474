/** A small chart: a bar an hour, its parts on top of each other. What it shows is said in words as well. */
import { html } from "../../lib.js";

/** @typedef {import("./day.js").Hour} Hour */
/** @typedef {Exclude<keyof Hour, "at">} Part */

const WIDTH = 480;
const HEIGHT = 96;
const FOOT = 16;

/** @param {{title: string, says: string, hours: Hour[], parts: {name: Part, title: string}[]}} props */
export function Bars({ title, says, hours, parts }) {
  const totals = hours.map((hour) => parts.reduce((total, part) => total + hour[part.name], 0));
  const most = Math.max(1, ...totals);
  const step = WIDTH / hours.length;
  return html`<figure class="bars">
    <figcaption><strong>${title}</strong> <span class="faint">${says}</span></figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT + FOOT}`} role="img" aria-label=${`${title}, hour by hour: ${says}`}>
      <line x1="0" x2=${WIDTH} y1=${HEIGHT} y2=${HEIGHT} />
      ${hours.map((hour, index) => html`<g key=${hour.at}><title>${`${clock(hour.at)}: ${told(hour, parts)}`}</title>
        <rect class="all" x=${index * step} y="0" width=${step} height=${HEIGHT} />
        ${stacked(hour, parts, most).map((bar) => html`<rect class=${bar.name} x=${index * step + 2} y=${bar.top} width=${step - 4} height=${bar.height} rx="1.5" />`)}</g>
        ${index % 6 === 0 && html`<text x=${index * step + 2} y=${HEIGHT + FOOT - 3}>${clock(hour.at)}</text>`}`)}
      <text class="most" x=${WIDTH} y="11" text-anchor="end">${`most in an hour: ${Math.max(...totals)}`}</text>
    </svg>
    ${parts.length > 1 && html`<p class="legend">${parts.map((part) => html`<span key=${part.name}><span class=${`swatch ${part.name}`} aria-hidden="true"></span>${part.title}</span>`)}</p>`}
  </figure>`;
}

/** @param {Hour} hour @param {{name: Part}[]} parts @param {number} most */
function stacked(hour, parts, most) {
  let foot = HEIGHT;
  return parts.filter((part) => hour[part.name] > 0).map((part) => {
    const height = Math.max(2, (hour[part.name] / most) * (HEIGHT - 18));
    foot -= height;
    return { name: part.name, top: foot, height };
  });
}

/** @param {Hour} hour @param {{name: Part, title: string}[]} parts */
const told = (hour, parts) => parts.map((part) => `${hour[part.name]} ${part.title}`).join(", ");

/** @param {number} at */
const clock = (at) => new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
