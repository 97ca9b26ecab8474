/** The chain: what came of what, as a list that folds, each on the axis of the whole. */
import { html, memo, useEffect, useMemo, useRef, useState } from "../../lib.js";
import { useDeferred } from "../../core/deferred.js";
import { plain } from "../../core/said.js";
import { address } from "../../core/router.js";
import { stateWord, STATES } from "../../core/states.js";
import { length, now } from "../../core/time.js";
import { flat, isOpen } from "../../core/tree.js";
import { Said, State } from "../../ui/parts.js";

/** @typedef {import("api").ChainNode} ChainNode */
/** @typedef {{from: number, to: number}} Axis in milliseconds */
/** `here`: the task of the page. `open`: lists and branches that the reader has opened or closed. `fits`: what the
 * reader looks for, null for all.
 * @typedef {{here: string, axis: Axis, open: ReadonlyMap<string, boolean>, isSmall: boolean,
 *   toggle: (id: string, isOpen: boolean) => void, fits: ((node: ChainNode) => boolean) | null}} Looks */

/** A chain is folded from here on. */
const SMALL = 30;
const ENDS = 3, AROUND = 2, LONG = 12;
/** Of what is found, so many are drawn at first: a letter fits nearly all of a long chain. */
const FOUND = 30;

/** @param {{chain: import("api").ChainView | null, here: string}} props */
export function Chain({ chain, here }) {
  const [open, setOpen] = useState(/** @type {ReadonlyMap<string, boolean>} */ (new Map()));
  const [words, setWords] = useState("");
  const [state, setState] = useState("");
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const all = useMemo(() => flat(chain?.nodes ?? []), [chain]);
  useEffect(() => {
    const row = /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(".here"));
    if (box.current && row) box.current.scrollTop = row.offsetTop - (box.current.clientHeight - row.offsetHeight) / 2;
  }, [here, all.length > 0]);
  const typed = useDeferred(words);
  if (!chain || all.length < 2) return null;
  const asked = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const isSearch = asked.length > 0 || state !== "";
  const found = isSearch ? all.filter((node) =>
    (!state || node.state === state) && asked.every((word) => saidOf(node).includes(word))) : [];
  const drawn = new Set(open.get("found") ? found : found.slice(0, FOUND));
  const fits = isSearch ? (/** @type {ChainNode} */ node) => drawn.has(node) : null;
  const axis = axisOf(all);
  const toggle = (/** @type {string} */ id, /** @type {boolean} */ isOn) => setOpen(new Map(open).set(id, isOn));
  const looks = { here, axis, open, toggle, fits, isSmall: all.length <= SMALL };
  return html`<section class="chain" aria-labelledby="chain">
    <h2 id="chain">Chain <span class="faint">
      ${all.length} handoffs · ${length((axis.to - axis.from) / 1000)}${left(chain)}</span></h2>
    ${all.length > LONG && html`<div class="row overview">
      <${Overview} all=${all} here=${here} chosen=${state} choose=${setState} />
      <input type="search" aria-label="Find in the chain" placeholder="Find" value=${words}
        onInput=${(/** @type {any} */ event) => setWords(event.target.value)} />
      ${fits && html`<span class="faint" role="status">${found.length} of ${all.length}</span>`}
      ${drawn.size < found.length && html`<button type="button" class="quiet"
        onClick=${() => toggle("found", true)}>Show all, not the first ${FOUND} alone</button>`}</div>`}
    <div class="scroll" ref=${box} tabindex="0" role="region" aria-label="The chain, step by step">
      <${Steps} of=${chain.nodes} id="" looks=${looks} />
    </div>
  </section>`;
}

/** @param {ChainNode} node */
const saidOf = (node) => [node.title, node.agent, node.target_agent ?? "anyone", node.kind, stateWord(node.state),
  node.task_id, node.failure?.description].join(" ").toLowerCase();

/** @param {ChainNode[]} all @returns {Axis} */
function axisOf(all) {
  const from = Math.min(...all.map((node) => Date.parse(node.created_at)));
  const ends = all.map((node) => (node.ended_at ? Date.parse(node.ended_at)
    : isOpen(node.state) ? now.peek() : Date.parse(node.created_at)));
  return { from, to: Math.max(from + 1000, ...ends) };
}

/** Each handoff as a mark of its state, and how many there are of each, which choose. */
const Overview = memo((/** @type {{all: ChainNode[], here: string, chosen: string, choose: (state: string) => void}} */
  { all, here, chosen, choose }) => {
  const wide = 100 / all.length;
  const counts = STATES.map((state) => ({ state, count: all.filter((node) => node.state === state).length }))
    .filter((each) => each.count > 0);
  return html`<svg class="cells" width="100%" height="16" role="img"
      aria-label=${counts.map((each) => `${each.count} ${stateWord(each.state)}`).join(", ")}>
      ${all.map((node, at) => html`<rect key=${node.task_id}
        class=${`cell ${node.state} ${node.task_id === here ? "at" : ""}`} x=${`${at * wide}%`}
        y=${node.task_id === here ? 0 : 3} width=${`${wide * 0.85}%`}
        height=${node.task_id === here ? 16 : 10} />`)}</svg>
    ${counts.map(({ state, count }) => html`<button key=${state} type="button" class="quiet count-of"
      aria-pressed=${chosen === state}
      onClick=${() => choose(chosen === state ? "" : state)}>${count} ${stateWord(state)}</button>`)}`;
});

/** What follows one another, and branches beside each other. Whoever has one that follows stands above it.
 * @param {{of: ChainNode[], id: string, looks: Looks}} props */
function Steps({ of, id, looks }) {
  const rows = of.flatMap(runOf);
  const shown = keptOf(rows, id, looks);
  return html`<ul>${shown.map((each) => (typeof each === "number"
    ? html`<li key=${`cut ${each}`} class="cut">
        <button type="button" class="quiet" onClick=${() => looks.toggle(`${id} all`, true)}>${each} more</button></li>`
    : html`<${Step} key=${each.task_id} of=${each} looks=${looks} />`))}</ul>`;
}

/** A node, and what follows it, as long as it is one. @param {ChainNode} node @returns {ChainNode[]} */
function runOf(node) {
  const run = [node];
  for (let last = node; last.children.length === 1;) {
    last = /** @type {ChainNode} */ (last.children[0]);
    run.push(last);
  }
  return run;
}

/** Branches of a row: what follows it alone stands beside it. @param {ChainNode} node */
const branchesOf = (node) => (node.children.length > 1 ? node.children : []);

/** Which rows are in sight; a number stands for so many that aren't.
 * @param {ChainNode[]} rows @param {string} id @param {Looks} looks @returns {(ChainNode | number)[]} */
function keptOf(rows, id, { fits, open, here }) {
  const within = (/** @type {ChainNode} */ row) => [row, ...flat(branchesOf(row))];
  if (fits) return rows.filter((row) => within(row).some(fits));
  if (rows.length <= LONG || open.get(`${id} all`)) return rows;
  const at = rows.findIndex((row) => within(row).some((node) => node.task_id === here));
  /** @type {(ChainNode | number)[]} */
  const kept = [];
  rows.forEach((row, index) => {
    const last = kept.at(-1);
    if (index < ENDS || index >= rows.length - ENDS || (at >= 0 && Math.abs(index - at) <= AROUND)) kept.push(row);
    else if (typeof last === "number") kept[kept.length - 1] = last + 1;
    else kept.push(1);
  });
  return kept;
}

/** @param {{of: ChainNode, looks: Looks}} props */
function Step({ of, looks }) {
  const { here, axis, open, toggle, fits, isSmall } = looks;
  const branches = branchesOf(of);
  const isHere = of.task_id === here;
  const below = branches.length > 0 ? flat(branches) : [];
  const isShown = fits !== null
    || (open.get(of.task_id) ?? (isSmall || isHere || below.some((node) => node.task_id === here)));
  const title = of.hidden ? "not yours to read" : plain(of.title || of.task_id);
  return html`<li class=${`box ${of.state} ${isHere ? "here" : ""} ${of.kind}`}>
    <div class="step">
      <div class="what">
        ${branches.length > 0 && html`<button type="button" class="quiet fold" aria-expanded=${isShown}
          aria-label=${`${below.length} below ${title}`} onClick=${() => toggle(of.task_id, !isShown)}>
          ${isShown ? "▾" : "▸"} ${isShown ? "" : below.length}</button>`}
        <a href=${address(`/tasks/${of.task_id}`)} aria-current=${isHere ? "true" : undefined}>
          <${Said} of=${title} /></a>
        <p class="how"><${State} of=${of.state} />${" "}
          <span class="faint">${of.kind} · <${Said} of=${of.agent ?? of.target_agent ?? "anyone"} />
            ${spent(of)}${joined(of)}${of.attempts > 1 ? ` · ${of.attempts} attempts` : ""}</span></p>
      </div>
      <${Bar} of=${of} axis=${axis} />
    </div>
    ${isShown && branches.length > 0 && html`<${Steps} of=${branches} id=${of.task_id} looks=${looks} />`}
  </li>`;
}

/** From its making to its end; at work from its first claim on. @param {{of: ChainNode, axis: Axis}} props */
function Bar({ of, axis }) {
  const x = (/** @type {number} */ time) => Math.max(0, (100 * (time - axis.from)) / (axis.to - axis.from));
  const [made, begun] = [Date.parse(of.created_at), of.started_at ? Date.parse(of.started_at) : null];
  const end = of.ended_at ? Date.parse(of.ended_at) : axis.to;
  return html`<svg class="stretch" width="100%" height="14" aria-hidden="true">
    <rect class="ground" width="100%" height="14" rx="3" />
    <rect class="waited" x=${`${x(made)}%`} y="5" width=${`${Math.max(x(begun ?? end) - x(made), 0.4)}%`} height="4" />
    ${begun !== null && html`<rect class="side" x=${`${x(begun)}%`} y="2"
      width=${`${Math.max(x(end) - x(begun), 0.6)}%`} height="10" rx="2" />`}</svg>`;
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

/** How many of its branches have come back. @param {ChainNode} node */
function joined(node) {
  const branches = node.children.filter((child) => child.kind === "delegation");
  return branches.length
    ? ` · ${branches.filter((child) => !isOpen(child.state)).length} of ${branches.length} back` : "";
}

/** How long it took, or has taken. @param {ChainNode} node */
function spent(node) {
  if (node.duration_seconds !== null) return ` · ${length(node.duration_seconds)}`;
  if (node.started_at && !node.ended_at) return ` · ${length((now.value - Date.parse(node.started_at)) / 1000)}`;
  return "";
}
