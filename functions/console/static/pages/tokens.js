/** Who may call: tokens and sessions, made and ended by people. */
import { html, useState } from "../lib.js";
import { change, post } from "../core/api.js";
import { lookAgain, useList } from "../core/live.js";
import { address } from "../core/router.js";
import { sessionId, signOut } from "../core/session.js";
import { fromField } from "../core/time.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { isPending, WAITS } from "./settings/fields.js";
import { Ago, Empty, Id, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").TokenView} TokenView */

export default function Tokens() {
  const { data, problem, isLoading } = useList("/tokens", { everyMs: 5000 });
  const [made, setMade] = useState(/** @type {import("api").NewToken | null} */ (null));
  const now = Date.now();
  const all = /** @type {TokenView[]} */ (data?.items ?? []);
  const live = all.filter((token) => !token.revoked_at && !(token.expires_at && Date.parse(token.expires_at) < now));
  const over = all.length - live.length;
  return html`<div class="head">
      <h1>Tokens</h1>
      <span class="faint">${over > 0 && `${over} over`}</span>
      <button type="button" class="primary" onClick=${() => mint(setMade)}>New token</button>
    </div>
    ${made && html`<div class="good" role="status">
      <p><strong>Copy it now: it is never shown again.</strong></p>
      <p><${Id} of=${made.token} /></p>
      <button type="button" onClick=${() => setMade(null)}>I have it</button>
    </div>`}
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
    : live.length > 0 ? html`<ul class="cards">
      ${live.map((token) => html`<${One} key=${token.id} token=${token} />`)}</ul>`
    : !problem && html`<${Empty} title="No token"><p>A token is for an agent, a person or a service.</p><//>`}`;
}

/** @param {{token: TokenView}} props */
function One({ token }) {
  const isOwn = token.id === sessionId.value;
  return html`<li class="card">
    <p class="row">
      <span class="state">${token.session_of ? "session" : token.kind}</span> <strong>
        <${Said} of=${token.subject} /></strong>
      ${isOwn && html`<span class="state done">this one</span>`}
      ${token.right && html`<span class="state">${token.right}</span>`}
      ${token.scopes.map((scope) => html`<code key=${scope}>${scope}</code>`)}
    </p>
    <p class="faint">made <${Ago} at=${token.created_at} /> by <${Said} of=${token.created_by} />
      ${token.expires_at && html`, over <${Ago} at=${token.expires_at} />`} · <${Id} of=${token.id} /></p>
    <div class="row">
      <button type="button" class="danger" onClick=${() => revoke(token, isOwn)}>
        ${token.session_of ? "End" : "Revoke"}</button>
      ${token.kind === "human" && !token.session_of
      && html`<a href=${address(`/people/${encodeURIComponent(token.subject)}`)}>approvals of this person</a>`}
    </div>
  </li>`;
}

/** @param {TokenView} token @param {boolean} isOwn */
function revoke(token, isOwn) {
  const what = token.session_of ? "session" : "token";
  ask({
    title: `${token.session_of ? "End this session" : "Revoke this token"} of ${token.subject}`,
    text: isOwn ? "It is the session that you are working in: you are signed out."
      : `It is refused from its next request on${token.session_of ? "" : ", and so are the sessions that it opened"}.`,
    confirm: token.session_of ? "End it" : "Revoke it",
    danger: true,
    isOfNobody: isOwn,
    run: async () => {
      if (isOwn) return signOut();
      const answer = await change("DELETE", `/tokens/${token.id}`);
      toast(isPending(answer) ? WAITS : `The ${what} is over`);
      lookAgain();
    },
  });
}

/** @param {(made: import("api").NewToken) => void} show */
function mint(show) {
  ask({
    title: "New token",
    fields: [
      { name: "kind", label: "For", type: "select", options: [["agent", "an agent"], ["service", "a service"]],
        required: true, hint: "A person's is made by a command, with a token: baton tokens create --kind human." },
      { name: "subject", label: "Name", required: true, hint: "An agent's slug, or the name of a service." },
      { name: "act_as", label: "May speak for agents (act_as)", type: "select",
        options: [["", "no"], ["act_as", "yes"]], hint: "For a service." },
      { name: "expires_at", label: "Over at", type: "datetime-local", hint: "Left out, never." },
    ],
    confirm: "Make it",
    run: async ({ kind, subject, act_as: scope, expires_at: over }) => {
      show(await post("/tokens", {
        kind, subject, ...(scope && { scopes: [scope] }), ...(over && { expires_at: fromField(over) }),
      }));
      lookAgain();
    },
  });
}
