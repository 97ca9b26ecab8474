/** Handoffs that exist only in the tracker become tasks. Asked again until nothing is left. */
import { html, useState } from "../../lib.js";
import { post } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { ask } from "../../ui/ask.js";
import { Facts, Said, Trouble } from "../../ui/parts.js";

/** @typedef {import("api").ImportedView} Imported */
/** @typedef {{isBusy: boolean, found: Imported | null, trouble: unknown}} State */
/** What a person may want to wait for; the rest is a click away. */
const ROUNDS = 20;

export function useImport() {
  const [state, setState] = useState(/** @type {State} */ ({ isBusy: false, found: null, trouble: null }));
  const run = async () => {
    /** @type {Imported | null} */
    let found = null;
    try {
      for (let round = 0; round < ROUNDS && !found?.complete; round += 1) {
        setState({ isBusy: true, found, trouble: null });
        found = sum(found, await post("/tracker/import"));
      }
      setState({ isBusy: false, found, trouble: null });
    } catch (trouble) {
      setState({ isBusy: false, found, trouble });
    }
    lookAgain();
  };
  const begin = () => ask({
    title: "Import the tracker's handoffs",
    text: "Pages of the window's days (it is among the settings) that are named “Handoff: from → to — day” and "
      + "belong to no task become tasks, so that breaker and cap know them. Open ones wait for approval. A page is "
      + "imported once, however often this is done.",
    confirm: "Import",
    run: () => { void run(); },
  });
  return { ...state, begin };
}

/** Of several calls: what was made adds up, and the next call knows it.
 * @param {Imported | null} before @param {Imported} now @returns {Imported} */
function sum(before, now) {
  if (!before) return now;
  const made = before.opened + before.closed;
  return { ...now, opened: before.opened + now.opened, closed: before.closed + now.closed,
    known: Math.max(before.known, now.known - made) };
}

/** @param {{of: State}} props */
export function ImportResult({ of: { isBusy, found, trouble } }) {
  if (!isBusy && !found && !trouble) return null;
  return html`<section class="card" role="status" aria-labelledby="imported">
    <h2 id="imported">${isBusy ? "Importing …" : "Imported"}</h2>
    <${Trouble} of=${trouble} what="The import stopped; what was made stays." />
    ${found && html`
      <${Facts} of=${[
        ["Open tasks", String(found.opened)], ["Ended tasks", String(found.closed)],
        ["Known before", String(found.known)], ["Left out", String(found.skipped.length)],
      ]} />
      ${!isBusy && !found.complete && html`<p class="notice">There are more: import once more.</p>`}
      ${found.skipped.length > 0 && html`<ul class="log">${found.skipped.map((page, at) => html`<li key=${at}>
        <strong><${Said} of=${page.title} /></strong> <${Said} of=${page.reason} /></li>`)}</ul>`}`}
  </section>`;
}
