/** Conversations, and a new one. */
import { html, useState } from "../lib.js";
import { useOneKey } from "../core/typed.js";
import { post } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { useList } from "../core/live.js";
import { go } from "../core/router.js";
import { Field } from "../ui/ask.js";
import { Trouble } from "../ui/parts.js";
import { Talks } from "./chat/list.js";

/** @param {{query: Record<string, string>}} props */
export default function Chat({ query }) {
  useKeys("Chat", { n: { does: "new conversation", run: () => document.getElementById("field-message")?.focus() } });
  return html`<div class="head"><h1>Chat</h1></div>
    <div class="halves"><${Talks} isOwn=${query.whose !== "all"} /><${Begin} /></div>`;
}

function Begin() {
  const { data } = useList("/agents", { everyMs: 30_000 });
  const key = useOneKey();
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isSending, setSending] = useState(false);
  const agents = /** @type {import("api").SeenAgentView[]} */ (data?.items ?? []).filter((agent) => agent.active);
  agents.sort((one, other) => Number(other.runtime === "run") - Number(one.runtime === "run"));
  const begin = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (isSending) return;
    const body = asked(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)));
    setTrouble(null);
    setSending(true);
    try {
      const begun = /** @type {import("api").AskedView} */ (await post("/conversations", body, { key: key.of(body) }));
      go(`/chat/${begun.conversation_id}`);
    } catch (error) {
      setTrouble(error);
      setSending(false);
    }
  };
  return html`<section class="card" aria-labelledby="new">
    <h2 id="new">A new conversation</h2>
    <form onSubmit=${begin}>
      <${Field} of=${{
    name: "agent", label: "With", type: "select", required: true,
    options: agents.map((agent) => [
      agent.slug,
      `${agent.name || agent.slug}${agent.runtime === "run" ? "" : " (a worker answers)"}`,
    ]),
  }} />
      <${Field} of=${{ name: "message", label: "Message", type: "textarea", required: true }} />
      <${Field} of=${{ name: "max_tokens", label: "At most so many tokens", type: "number", min: "1" }} />
      <${Field} of=${{
    name: "max_model_calls", label: "At most so many model calls", type: "number", min: "1",
    hint: "Both hold for the whole conversation, its handoffs included.",
  }} />
      <${Trouble} of=${trouble} what="It wasn't begun." />
      <div class="row end">
        <button type="submit" class="primary" disabled=${agents.length === 0} aria-disabled=${isSending}>
          ${isSending ? "Sending …" : "Begin"}
        </button>
      </div>
    </form>
  </section>`;
}

/** @param {FormData} form */
function asked(form) {
  const limits = ["max_tokens", "max_model_calls"].map((name) => [name, Number(form.get(name))])
    .filter(([, most]) => Number(most) > 0);
  return {
    agent: String(form.get("agent")), message: String(form.get("message")),
    ...(limits.length > 0 && { budget: Object.fromEntries(limits) }),
  };
}
