/** Who did what: every change, chained to the one before by its hash. */
import { html, useState } from "../../lib.js";
import { get } from "../../core/api.js";
import { useBusy } from "../../core/busy.js";
import { toast } from "../../core/toasts.js";
import { exportTrail } from "../decisions/export.js";
import { Ago, Said, Trouble } from "../../ui/parts.js";

const EXPORTS = /** @type {const} */ (["csv", "json"]);

/** @param {{id: string, events: import("api").EventView[]}} props */
export function Trail({ id, events }) {
  const [verdict, setVerdict] = useState(/** @type {any} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, busy] = useBusy();
  const save = (/** @type {"csv" | "json"} */ form) => {
    setTrouble(null);
    void busy(() => exportTrail(id, form, verdictOf).then((file) => { toast(`Exported ${file}`); }, setTrouble));
  };
  const verify = () => {
    setTrouble(null);
    void busy(() => verdictOf(id).then(setVerdict, setTrouble));
  };
  return html`<section class="card" aria-labelledby="trail">
    <div class="head">
      <h2 id="trail">Trail</h2>${" "}
      <button type="button" aria-disabled=${isBusy} onClick=${verify}>${isBusy ? "Reading …" : "Verify"}</button>
      ${EXPORTS.map((form) => html`<button key=${form} type="button" aria-disabled=${isBusy}
        onClick=${() => save(form)}>${form.toUpperCase()}</button>`)}
    </div>
    ${verdict && html`<${Verdict} of=${verdict} />`}
    <${Trouble} of=${trouble} />
    <ol class="trail">${events.map((event) => html`<li key=${event.seq}><${Entry} of=${event} /></li>`)}</ol>
  </section>`;
}

/**
 * Of the whole trail: a long one is verified in pages.
 * @param {string} id
 * @param {string} [cursor]
 * @returns {Promise<any>}
 */
export async function verdictOf(id, cursor) {
  const found = await get(`/tasks/${id}/events/verify${cursor ? `?cursor=${cursor}` : ""}`);
  return found.next_cursor ? verdictOf(id, found.next_cursor) : found;
}

/** @param {{of: import("api").EventView}} props */
function Entry({ of }) {
  const line = html`<span class="seq">${of.seq}</span> <strong>${of.type.replaceAll("_", " ")}</strong>${" "}
    <span class="faint">by</span> <${Said} of=${of.principal.id} />${" "}
    <span class="faint">(${of.principal.kind}) · <${Ago} at=${of.at} /></span>`;
  const { token, session, seen } = of.data;
  const by = [token && `token ${token}`, session && `session ${session}`,
    typeof seen === "string" && `saw ${seen.slice(0, 12)}`].filter(Boolean).join(" · ");
  const what = JSON.stringify(of.data, null, 2);
  if (what === "{}") return html`<p>${line}</p>`;
  return html`<details class="data">
    <summary>${line}${by && html` <span class="faint">· <${Said} of=${by} /></span>`}</summary>
    <pre tabindex="0" aria-label=${`What entry ${of.seq} set`}><${Said} of=${what} /></pre>
  </details>`;
}

/** @param {{of: import("api").TrailVerdict}} props */
function Verdict({ of }) {
  const isGood = of.intact && of.matches_task;
  return html`<p class=${isGood ? "good" : "trouble"} role="status">${isGood
    ? `✓ ${of.events} entries, each chained to the one before; the task is what they say.`
    : `✕ ${of.problem ?? "The task isn't what its entries say."} ${
      of.broken_at === null ? "" : `Entry ${of.broken_at}.`}`}</p>`;
}
