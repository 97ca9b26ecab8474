/** What a task's agent has asked people so far. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { Ago, Said } from "../../ui/parts.js";
import { Kind } from "./list.js";
import { Closed, Decisions } from "./one.js";

/** @typedef {import("./list.js").Question} Question */

/** @param {{id: string, when: number}} props */
export function QuestionsOfTask({ id, when }) {
  const { data } = useLive(`/tasks/${id}/questions`, { everyMs: 15_000, when });
  const items = /** @type {Question[]} */ (data?.items ?? []);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="questions"><h2 id="questions">Asked of people</h2><ul class="log">${items.map((each) => html`<li key=${each.id}>
    <p><${Kind} of=${each} />${" "}<a href=${address("/approvals", { question: each.id, of: id })}>${each.outcome === "open" ? "waits for people" : "all of it"}</a> · <${Ago} at=${each.asked_at} /></p>
    ${each.tool && html`<p><code><${Said} of=${each.tool} /></code></p>`}<${Said} of=${each.text} block />
    ${each.outcome !== "open" && html`<${Closed} of=${each} />`}<${Decisions} of=${each} propose=${null} /></li>`)}</ul></section>`;
}
