/** The chain: what came of what, from left to right. */
import { html, useEffect, useMemo, useRef } from "../../lib.js";
import { plain } from "../../core/said.js";
import { address } from "../../core/router.js";
import { length, now } from "../../core/time.js";
import { stateWord } from "../../core/states.js";
import { flat, isOpen } from "./tree.js";

/** @typedef {import("api").ChainNode} ChainNode */
/** @typedef {{node: ChainNode, x: number, y: number, parent: Placed | null}} Placed */

const WIDE = 210;
const HIGH = 62;
const GAP_X = 74;
const GAP_Y = 16;
const EDGE = 6;

/** Boxes in columns by depth; a parent stands beside the middle of its children.
 * @param {ChainNode[]} roots @returns {{placed: Placed[], width: number, height: number}} */
export function layout(roots) {
  /** @type {Placed[]} */
  const placed = [];
  let row = 0;
  const place = (/** @type {ChainNode} */ node, /** @type {number} */ column, /** @type {Placed | null} */ parent) => {
    const here = { node, x: EDGE + column * (WIDE + GAP_X), y: 0, parent };
    placed.push(here);
    const ys = node.children.map((child) => place(child, column + 1, here));
    here.y = ys.length ? ((ys[0] ?? 0) + (ys.at(-1) ?? 0)) / 2 : EDGE + row++ * (HIGH + GAP_Y);
    return here.y;
  };
  for (const root of roots) place(root, 0, null);
  const width = Math.max(...placed.map((each) => each.x + WIDE)) + EDGE;
  return { placed, width, height: Math.max(row, 1) * (HIGH + GAP_Y) - GAP_Y + 2 * EDGE };
}

/** @param {{chain: any, here: string}} props */
export function Chain({ chain, here }) {
  const drawn = useMemo(() => (chain?.nodes?.length ? layout(chain.nodes) : null), [chain]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const at = drawn?.placed.find((each) => each.node.task_id === here);
  useEffect(() => {
    if (!box.current || !at) return;
    box.current.scrollLeft = at.x + (WIDE - box.current.clientWidth) / 2;
    box.current.scrollTop = at.y + (HIGH - box.current.clientHeight) / 2;
  }, [here, Boolean(at)]);
  if (!drawn) return null;
  const { placed, width, height } = drawn;
  const all = flat(chain.nodes);
  return html`<section class="chain" aria-labelledby="chain"><h2 id="chain">Chain <span class="faint">${all.length === 1 ? "one handoff" : `${all.length} handoffs`}${left(chain)}</span></h2>
    <div class="scroll" ref=${box} tabindex="0" role="region" aria-label="The chain, from left to right">
      <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="group" aria-label="Handoffs">
        ${placed.map((each) => each.parent && html`<${Edge} key=${`to ${each.node.task_id}`} from=${each.parent} to=${each} />`)}
        ${placed.map((each) => html`<${Box} key=${each.node.task_id} at=${each} isHere=${each.node.task_id === here} />`)}
      </svg></div></section>`;
}

/** What the workflow has spent, and what is left of its budget. @param {import("api").ChainView} chain */
export function left(chain) {
  const { usage, budget } = chain;
  const spent = usage.input_tokens + usage.output_tokens;
  const told = [
    usage.model_calls > 0 && `${usage.model_calls} model calls, ${spent.toLocaleString()} tokens`,
    budget?.max_handoffs && `${Math.max(0, budget.max_handoffs - chain.handoffs)} handoffs left`,
    budget && budget.tokens_left !== null && `${budget.tokens_left.toLocaleString()} tokens left`,
    budget && budget.model_calls_left !== null && `${budget.model_calls_left} model calls left`,
  ].filter(Boolean);
  return told.length ? ` · ${told.join(" · ")}` : "";
}

/** @param {{from: Placed, to: Placed}} props */
function Edge({ from, to }) {
  const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
  const middle = (x1 + x2) / 2;
  return html`<g class=${`edge ${to.node.kind}`}><path d=${`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2 - 5},${y2}`} />
    <path class="tip" d=${`M${x2 - 8},${y2 - 4} L${x2 - 1},${y2} L${x2 - 8},${y2 + 4}`} />
    <text x=${middle} y=${Math.abs(y1 - y2) < 1 ? y2 - 7 : (y1 + y2) / 2 - 5} text-anchor="middle">${to.node.kind}</text></g>`;
}

/** @param {{at: Placed, isHere: boolean}} props */
function Box({ at, isHere }) {
  const { node, x, y } = at;
  const who = node.agent ?? node.target_agent ?? "anyone";
  const title = node.hidden ? "not yours to read" : plain(node.title || node.task_id);
  const isLive = node.state === "claimed";
  return html`<a href=${address(`/tasks/${node.task_id}`)} class=${`box ${node.state} ${isHere ? "here" : ""}`} aria-current=${isHere ? "true" : undefined}
      aria-label=${`${title}: ${stateWord(node.state)}, ${plain(who)}`}>
    <title>${title}</title>
    <rect x=${x} y=${y} width=${WIDE} height=${HIGH} rx="8" />
    <rect class="side" x=${x} y=${y + 8} width="4" height=${HIGH - 16} rx="2" />
    ${isLive && html`<circle class="pulse" cx=${x + WIDE - 14} cy=${y + HIGH - 14} r="4" />`}
    <svg x=${x + 14} y=${y} width=${WIDE - 22} height=${HIGH}>
      <text class="what" x="0" y="20">${cut(title, 24)}</text>
      <text class="whose" x="0" y="37">${cut(plain(who), 26)}</text>
      <text class="how" x="0" y="53">${cut(`${stateWord(node.state)}${spent(node)}${joined(node)}${node.attempts > 1 ? ` · ${node.attempts} attempts` : ""}`, 32)}</text>
    </svg>
  </a>`;
}

/** How many of its branches have come back. @param {ChainNode} node */
function joined(node) {
  const branches = node.children.filter((child) => child.kind === "delegation");
  return branches.length ? ` · ${branches.filter((child) => !isOpen(child.state)).length} of ${branches.length} back` : "";
}

/** How long it took, or has taken. @param {ChainNode} node */
function spent(node) {
  if (node.duration_seconds !== null) return ` · ${length(node.duration_seconds)}`;
  if (node.started_at && !node.ended_at) return ` · ${length((now.value - Date.parse(node.started_at)) / 1000)}`;
  return "";
}

/** @param {string} text @param {number} most */
const cut = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
