/** Conversations: those of this tab, and a new one. */
import { html, useRef, useState } from "../lib.js";
import { newKey, post } from "../core/api.js";
import { useList } from "../core/live.js";
import { address, go } from "../core/router.js";
import { Field } from "../ui/ask.js";
import { Ago, Empty, Said, Trouble } from "../ui/parts.js";
import { recent, remember } from "./chat/recent.js";

export default function Chat() {
  const { data } = useList("/agents", { everyMs: 30_000 });
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  // One key for one request: sent again after a lost answer, it begins one conversation.
  const key = useRef({ of: "", key: "" });
  const agents = /** @type {import("api").SeenAgentView[]} */ (data?.items ?? []).filter((agent) => agent.active);
  agents.sort((one, other) => Number(other.runtime === "run") - Number(one.runtime === "run"));
  const begin = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const tokens = Number(form.get("max_tokens"));
    const body = { agent: String(form.get("agent")), message: String(form.get("message")), ...(tokens > 0 && { budget: { max_tokens: tokens } }) };
    if (key.current.of !== JSON.stringify(body)) key.current = { of: JSON.stringify(body), key: newKey() };
    setTrouble(null);
    try {
      const asked = /** @type {import("api").AskedView} */ (await post("/conversations", body, { key: key.current.key }));
      remember({ id: asked.conversation_id, agent: body.agent, message: body.message.slice(0, 120), at: new Date().toISOString() });
      go(`/chat/${asked.conversation_id}`);
    } catch (error) {
      setTrouble(error);
    }
  };
  const known = recent();
  return html`<div class="head"><h1>Chat</h1></div><div class="halves">
    <section class="card" aria-labelledby="new"><h2 id="new">A new conversation</h2><form onSubmit=${begin}>
      <${Field} of=${{ name: "agent", label: "With", type: "select", required: true, options: agents.map((agent) => [agent.slug, `${agent.name || agent.slug}${agent.runtime === "run" ? "" : " (a worker answers)"}`]) }} />
      <${Field} of=${{ name: "message", label: "Message", type: "textarea", required: true }} />
      <${Field} of=${{ name: "max_tokens", label: "At most so many tokens", type: "number", min: "1" }} />
      <${Trouble} of=${trouble} what="It wasn't begun." />
      <div class="row end"><button type="submit" class="primary" disabled=${agents.length === 0}>Begin</button></div></form></section>
    <section class="card" aria-labelledby="recent"><h2 id="recent">Begun in this tab</h2>
      ${known.length === 0 && html`<${Empty} title="None yet"><p>A task that came of a message leads to its conversation as well.</p><//>`}
      <ul class="log">${known.map((each) => html`<li key=${each.id}><a href=${address(`/chat/${each.id}`)}><${Said} of=${each.message} /></a> <span class="faint"><${Said} of=${each.agent} /> · <${Ago} at=${each.at} /></span></li>`)}</ul></section></div>`;
}
