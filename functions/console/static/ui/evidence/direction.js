/** The last handoffs of a direction, and what became of them. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { stateWord } from "../../core/states.js";
import { Ago, Said, State, Trouble } from "../parts.js";
import { useSettled } from "./chain.js";

const SHOWN = 5;

/** @param {import("api").ListedTask} task
 * @returns {{items: import("api").ListedHandoff[] | null, isAll: boolean, problem: unknown}} */
export function useDirection(task) {
  const asked = new URLSearchParams({ source: task.source_agent, limit: String(2 * SHOWN) });
  if (task.target_agent) asked.set("target", task.target_agent);
  const path = useSettled(`/handoffs?${asked}`);
  const { data, problem } = useLive(path, { everyMs: 60_000 });
  const page = /** @type {{items: import("api").ListedHandoff[], next_cursor: string | null} | null} */ (data);
  const items = page?.items.filter((each) => each.task_id !== task.id
    && each.target_agent === task.target_agent) ?? null;
  return { items: items?.slice(0, SHOWN) ?? null, isAll: page?.next_cursor === null, problem };
}

/** @param {{of: ReturnType<typeof useDirection>}} props */
export function Direction({ of: { items, isAll, problem } }) {
  return html`<section>
    <h3>The last of this direction</h3>
    <${Trouble} of=${problem} what="What became of earlier ones can't be read." />
    ${items === null && !problem && html`<p class="faint" role="status">Looking for earlier ones …</p>`}
    ${items?.length === 0 && html`<p class="faint">
      ${isAll ? "It is the first one." : "None among the newest that were looked at."}
    </p>`}
    <ul class="lines">${(items ?? []).map((each) => html`<li key=${each.task_id}>
      <${State} of=${each.state} />${" "}
      <a href=${address(`/tasks/${each.task_id}`)}><${Said} of=${each.title || each.task_id} /></a>${" "}
      <span class="faint">${each.kind} · <${Ago} at=${each.created_at} /></span>
    </li>`)}</ul>
  </section>`;
}

/** In a few words. @param {{items: import("api").ListedHandoff[] | null, problem: unknown}} of */
export function inWords({ items, problem }) {
  if (problem) return "can't be read";
  if (items === null) return "…";
  if (items.length === 0) return "none";
  const counts = new Map();
  for (const { state } of items) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${stateWord(state)}`).join(", ");
}
