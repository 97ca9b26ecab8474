/** What one does with the tracker. Handoffs that exist only there become tasks, asked again until nothing is left; and
 * Notion's webhook: its address, opened for ten minutes, and what Notion asks for to verify it. */
import { html, useState } from "../../lib.js";
import { change, post } from "../../core/api.js";
import { lookAgain, useLive } from "../../core/live.js";
import { toast } from "../../core/toasts.js";
import { ask } from "../../ui/ask.js";
import { Ago, Facts, Id, Left, Said, Trouble } from "../../ui/parts.js";
import { WAITS } from "../settings/fields.js";

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

/** @typedef {import("api").WebhookHealth} Health */
/** @typedef {import("api").WebhookView} Hook */
/** @typedef {import("api").OpenedWebhook} Opened */

/** What each state means to a person. @type {Record<string, string>} */
const MEANS = {
  none: "Baton asks Notion every ten minutes what people have changed.",
  open: "Its address waits for Notion's first word.",
  expired: "Notion didn't come within ten minutes: open another address.",
  installed: "Notion has sent its token: paste it in Notion, under Verify.",
  verified: "People's changes arrive at once.",
};

/** @param {{of: Health}} props */
export function Webhook({ of }) {
  const [opened, setOpened] = useState(/** @type {Opened | null} */ (null));
  const { data } = useLive(of.state === "none" ? null : "/tracker/webhook", { when: `${of.state} ${of.opened_at}` });
  const hook = /** @type {Hook | null} */ (data);
  const state = hook?.state ?? of.state;
  const isInstalled = state === "installed" || state === "verified";
  return html`<section class="card" aria-labelledby="webhook">
    <h2 id="webhook">Webhook</h2>
    <p role="status"><strong>${state}</strong>: ${MEANS[state]}</p>
    ${opened && opened.expires_at === hook?.expires_at && state === "open" && html`<div class="good">
      <p><strong>Copy the address now: it is never shown again.</strong> It is good
        for <${Left} at=${opened.expires_at} /> more.</p>
      <p><${Id} of=${opened.url} /></p>
      <p><${Said} of=${opened.how} /></p>
    </div>`}
    ${hook?.verification_token && html`<div class="good">
      <p><strong>Notion's verification token</strong></p>
      <p><${Id} of=${hook.verification_token} /></p>
    </div>`}
    <${Facts} of=${[
      ["Opened", of.opened_at && html`<${Ago} at=${of.opened_at} />`],
      ["Installed", of.installed_at && html`<${Ago} at=${of.installed_at} />`],
      ["Verified", of.verified_at && html`<${Ago} at=${of.verified_at} />`],
    ]} />
    <div class="row">
      ${!isInstalled && html`<button type="button" onClick=${() => open(state, setOpened)}>Open an address</button>`}
      ${state !== "none" && html`<button type="button" class="danger" onClick=${() => takeDown(setOpened)}>
        Take it down</button>`}
    </div>
  </section>`;
}

/** @param {string} state @param {(opened: Opened) => void} show */
function open(state, show) {
  ask({
    title: "An address for Notion's webhook",
    text: "Notion tells Baton there what people change, so that it needn't ask every ten minutes. The address is shown "
      + `once, and waits ten minutes for Notion.${state === "none" ? ""
        : " It takes the place of the one before, which is unknown from then on."}`,
    confirm: "Open it",
    run: async () => {
      show(await post("/tracker/webhook"));
      lookAgain();
    },
  });
}

/** @param {(opened: Opened | null) => void} show */
function takeDown(show) {
  ask({
    title: "Take the webhook down",
    text: "Its address is unknown from Notion's next delivery on. Baton asks Notion every ten minutes instead.",
    confirm: "Take it down",
    danger: true,
    run: async () => {
      const answer = await change("DELETE", "/tracker/webhook");
      show(null);
      toast(answer ? WAITS : "The webhook is gone");
      lookAgain();
    },
  });
}
