/** Shows the messages of core/toasts.js: the newest, and on a click what else can be taken back. */
import { html, useState } from "../lib.js";
import { drop, toasts } from "../core/toasts.js";
import { now } from "../core/time.js";
import { Said } from "./parts.js";

/** Of those with a way back: more would cover the list that one works on. */
const SHOWN = 2;

export function Toasts() {
  const [isWhole, setWhole] = useState(false);
  const all = toasts.value;
  const older = all.filter((each) => each.undo).slice(0, -SHOWN);
  if (isWhole && older.length === 0) setWhole(false);
  return html`<div class=${`toasts ${isWhole ? "whole" : ""}`} role="status" aria-live="polite">
    ${older.length > 0 && html`<div class="toast" key="older">
      <p>${older.length} more can be undone</p>
      <button type="button" aria-expanded=${isWhole} onClick=${() => setWhole(!isWhole)}>
        ${isWhole ? "Hide" : "Show"}
      </button>
    </div>`}
    ${(isWhole ? all : all.filter((each) => !older.includes(each))).map((each) => html`<div
      key=${each.id} class=${`toast ${each.kind}`}>
      <p>
        <${Said} of=${each.text} />
        ${each.hint && html`<br /><span>${each.hint}</span>`}
      </p>
      ${each.undo && html`<button type="button" onClick=${() => { drop(each.id); each.undo?.(); }}>
        Undo <kbd>u</kbd> <span class="faint">${left(each.until)}</span>
      </button>`}
      ${!each.undo && html`<button type="button" aria-label="Close this message" onClick=${() => drop(each.id)}>
        ✕
      </button>`}
    </div>`)}
  </div>`;
}

/** @param {number} until */
const left = (until) => `${Math.max(0, Math.ceil((until - Math.max(now.value, Date.now())) / 1000))} s`;
