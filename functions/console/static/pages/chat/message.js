/** How one message is shown, by its type, and a conversation's messages as they come. */
import { html, useEffect, useState } from "../../lib.js";
import { get, pause, Problem } from "../../core/api.js";
import { looked } from "../../core/bell.js";
import { EVERY_MS, looksSoFar, nextLook } from "../../core/live.js";
import { address } from "../../core/router.js";
import { Ago, Data, Said } from "../../ui/parts.js";

/** @param {{of: import("api").MessageView}} props */
export function Message({ of }) {
  const data = /** @type {any} */ (of.data);
  if (of.type === "handoff" || of.type === "subtask_created") {
    return html`<div class="routed">
      <p>
        <strong><${Said} of=${of.text} /></strong> <span class="faint"><${Ago} at=${of.at} /></span>
        ${data.new_task_id && html` <a href=${address(`/tasks/${data.new_task_id}`)}>its task</a>`}
      </p>
      <${Data} of=${data.variables} title="What was passed" open />
    </div>`;
  }
  if (of.type === "status_change") return html`<p class="faint aside">
    <${Said} of=${of.text} /> · <${Ago} at=${of.at} />
  </p>`;
  if (of.type === "user_message" || of.type === "assistant_message" || of.type === "error") {
    return html`<div class=${`message ${of.type}`}>
      <p class="faint"><${Said} of=${of.agent} /> · <${Ago} at=${of.at} /></p>
      <${Said} of=${of.text} block />
    </div>`;
  }
  const what = JSON.stringify(of.data, null, 2);
  return html`<details class="data aside">
    <summary>${of.type.replaceAll("_", " ")} · <${Said} of=${of.agent} /></summary>
    ${of.text && html`<${Said} of=${of.text} block />`}
    ${what !== "{}" && html`<pre tabindex="0" aria-label=${of.type}><${Said} of=${what} /></pre>`}
  </details>`;
}

/** @typedef {import("api").MessageView} MessageView */

/** The messages, and the cursor after the last of them. @param {string} id
 * @param {() => boolean} isBusy while it is answered, messages come without a ring
 * @returns {{messages: MessageView[], after?: string}} */
export function useMessages(id, isBusy) {
  const [read, setRead] = useState(/** @type {{messages: MessageView[], after?: string}} */ ({ messages: [] }));
  useEffect(() => {
    const stop = new AbortController();
    void follow(id, isBusy, stop.signal, ({ items, after }) =>
      setRead(({ messages }) => ({ messages: [...messages, ...items], after })));
    return () => { stop.abort(); setRead({ messages: [] }); };
  }, [id]);
  return read;
}

/** @param {string} id @param {() => boolean} isBusy @param {AbortSignal} stop
 * @param {(more: import("api").MessagePage) => void} tell */
async function follow(id, isBusy, stop, tell) {
  let after = "";
  let wait = EVERY_MS;
  while (!stop.aborted) {
    const before = looksSoFar();
    try {
      const page = /** @type {import("api").MessagePage} */ (await get(
        `/conversations/${encodeURIComponent(id)}/messages?limit=100${
          after ? `&after=${encodeURIComponent(after)}` : ""}`, stop));
      if (stop.aborted) return;
      const isMore = page.after !== after && page.items.length > 0;
      after = page.after;
      if (page.items.length > 0) tell(page);
      wait = isMore ? 0 : EVERY_MS;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem) || error.status === 404) return;
      wait = Math.max(5000, 1000 * (error.retryAfter ?? 0));
    }
    await (isBusy() || wait !== EVERY_MS ? pause(wait) : nextLook(before, wait, stop));
    await looked(stop);
  }
}
