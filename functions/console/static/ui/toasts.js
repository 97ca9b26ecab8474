/** Shows the messages of core/toasts.js. */
import { html } from "../lib.js";
import { drop, toasts } from "../core/toasts.js";
import { now } from "../core/time.js";
import { Said } from "./parts.js";

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.value.map((each) => html`<div key=${each.id} class=${`toast ${each.kind}`}>
    <p><${Said} of=${each.text} />${each.hint && html`<br /><span>${each.hint}</span>`}</p>
    ${each.undo && html`<button type="button" onClick=${() => { drop(each.id); each.undo?.(); }}>Undo <kbd>u</kbd> <span class="faint">${left(each.until)}</span></button>`}
    ${!each.undo && html`<button type="button" aria-label="Close this message" onClick=${() => drop(each.id)}>✕</button>`}
  </div>`)}</div>`;
}

/** @param {number} until */
const left = (until) => `${Math.max(0, Math.ceil((until - Math.max(now.value, Date.now())) / 1000))} s`;
