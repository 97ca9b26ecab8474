/** Ready work that approval rules hold back from an agent: the people of these rules approve it for that agent, while
 * other agents may take it. */
import { html } from "../../lib.js";
import { useList, useLive } from "../../core/live.js";
import { who } from "../../core/session.js";
import { Said } from "../../ui/parts.js";
import { useWhyNot, Who } from "../questions/approvers.js";

/** @typedef {import("api").ListedTask} ListedTask */

/** The most that the list shows. */
const SHOWN = 100;
/** @type {ListedTask[]} */
const NONE = [];

/** Asks for it only where the settings have rules about handoffs. @returns {ListedTask[]} */
export function useHeld() {
  const { data: settings } = useLive("/workspace/settings", { everyMs: 60_000 });
  const isRuled = settings?.approval_rules?.some((/** @type {{tool: string | null}} */ rule) => !rule.tool);
  const { data } = useList(isRuled ? "/tasks?held=true" : null, { most: SHOWN });
  return data?.items ?? NONE;
}

/** It is ready, and doesn't count as waiting. @param {ListedTask} task */
export const isHeld = (task) => task.held.length > 0;

/** @param {number} count */
export const heldBack = (count) => (count > 0 ? `, ${count} held back from agents` : "");

/** The agents of one requirement, by name. @param {ListedTask["held"][number]} rule */
const agentsOf = ({ agents, agent_count: count }) =>
  agents.join(", ") + (count > agents.length ? ` and ${count - agents.length} more` : "");

/** The agents, by name. @param {ListedTask} task */
export const heldFrom = (task) => [...new Set(task.held.map(agentsOf))].join("; ");

/** @param {{of: ListedTask}} props */
export function Held({ of: task }) {
  const [first, ...further] = task.held;
  const why = useWhyNot(first ? { ...first, further } : null);
  if (!first) return null;
  const mine = task.held.some((rule) => rule.given.includes(who.value));
  const said = why || (mine ? "You have approved it: others have to, too." : "");
  return html`<p class="notice" role="note">It is ready, and other agents may claim it. ${said}</p>
    <ul>${task.held.map((rule, at) => html`<li key=${at}>
      <${Said} of=${agentsOf(rule)} /> can't claim it before ${rule.needed} of <${Who} of=${rule} /> have approved
      it:${" "}
      ${rule.given.length > 0 ? html`<${Said} of=${rule.given.join(", ")} />` : "nobody"} has so far.
    </li>`)}</ul>`;
}
