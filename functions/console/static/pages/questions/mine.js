/** The reader's own decision on a question that waits for others, and the rule beside a row. */
import { html } from "../../lib.js";
import { who } from "../../core/session.js";

/** @typedef {import("./list.js").Question} Question */
/** @typedef {import("api").ListedTask} ListedTask */

/** The reader's own decision, unless it ended the question; undefined without one. @param {Question} of */
export const mineOf = (of) => (of.outcome === "open" ? of.decisions.find(({ by }) => by === who.value) : undefined);

/** People who approved other arguments than the requested ones. @param {Question} of */
export const changedBy = (of) =>
  of.decisions.filter((each) => each.arguments && each.by !== who.value).map(({ by }) => by);

/** True if the reader has approved a handoff that waits for others. @param {ListedTask} task */
export const isMine = (task) => Boolean(task.approval?.given.some(({ by }) => by === who.value))
  || task.held.some((rule) => rule.given.includes(who.value));

/** The reader's own ones last, in the same order. @template T @param {T[]} items @param {(item: T) => boolean} isOwn */
export const sunk = (items, isOwn) => [...items.filter((each) => !isOwn(each)), ...items.filter(isOwn)];

/** The rule in a row: "2 needed", "1 of 2", "you approved, 1 of 2".
 * @param {{needed: number | null, given: number, mine: boolean, says?: string}} props */
export function Tally({ needed, given, mine, says = "approved" }) {
  if (needed === null || (needed < 2 && !mine)) return null;
  if (mine) return html`<span class="label">you ${says}, ${given} of ${needed}</span>`;
  return html`<span class="label">${given > 0 ? `${given} of ${needed} ${says}` : `${needed} people needed`}</span>`;
}
