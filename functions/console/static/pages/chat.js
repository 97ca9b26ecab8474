/** Conversations: the reader's own, and a new one. */
import { html, useState } from "../lib.js";
import { useOneKey } from "../core/again.js";
import { post } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { useList } from "../core/live.js";
import { address, go } from "../core/router.js";
import { who } from "../core/session.js";
import { Field } from "../ui/ask.js";
import { Ago, Empty, Key, Loading, Said, State, Trouble } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { useTalks } from "./chat/list.js";

/** @typedef {import("api").ListedHandoff} ListedHandoff */

/** @type {import("../ui/table.js").Column<ListedHandoff>[]} */
const COLUMNS = [
  { name: "message", title: "Last message", class: "fill", cell: (talk) => html`<${Said} of=${talk.title || talk.workflow_id} />` },
  { name: "agent", title: "To", class: "slim wide", cell: (talk) => html`<${Said} of=${talk.target_agent ?? "anyone"} />` },
  { name: "state", title: "State", class: "state-cell", cell: (talk) => html`<${State} of=${talk.state} />` },
  { name: "at", title: "Said", class: "slim", cell: (talk) => html`<${Ago} at=${talk.created_at} />` },
];

export default function Chat() {
  const { talks, problem, isLoading } = useTalks(`human:${who.value}`);
  useKeys("Chat", { n: { does: "new conversation", run: () => document.getElementById("field-message")?.focus() } });
  return html`<div class="head"><h1>Chat</h1><span class="faint">${talks.length > 0 && `${talks.length} of the last week`}</span></div>
    <div class="halves">
      <div class="talks"><h2>Your conversations</h2>
        <${Trouble} of=${problem} what="The list can't be read." />
        ${isLoading ? html`<${Loading} />` : talks.length > 0
    ? html`<${Table} label="Your conversations" columns=${COLUMNS} rows=${talks} keyOf=${(/** @type {ListedHandoff} */ talk) => talk.workflow_id}
          hrefOf=${(/** @type {ListedHandoff} */ talk) => address(`/chat/${talk.workflow_id}`)} />`
    : !problem && html`<${Empty} title="None in the last week"><p>A message to an agent begins one (<${Key}>n<//>). An older one, or another person's,
          is reached from any of its <a href=${address("/tasks")}>tasks</a>.</p><//>`}</div>
      <${Begin} /></div>`;
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
  return html`<section class="card" aria-labelledby="new"><h2 id="new">A new conversation</h2><form onSubmit=${begin}>
    <${Field} of=${{ name: "agent", label: "With", type: "select", required: true, options: agents.map((agent) => [agent.slug, `${agent.name || agent.slug}${agent.runtime === "run" ? "" : " (a worker answers)"}`]) }} />
    <${Field} of=${{ name: "message", label: "Message", type: "textarea", required: true }} />
    <${Field} of=${{ name: "max_tokens", label: "At most so many tokens", type: "number", min: "1" }} />
    <${Field} of=${{ name: "max_model_calls", label: "At most so many model calls", type: "number", min: "1", hint: "Both hold for the whole conversation, its handoffs included." }} />
    <${Trouble} of=${trouble} what="It wasn't begun." />
    <div class="row end"><button type="submit" class="primary" disabled=${agents.length === 0 || isSending}>${isSending ? "Sending …" : "Begin"}</button></div></form></section>`;
}

/** @param {FormData} form */
function asked(form) {
  const limits = ["max_tokens", "max_model_calls"].map((name) => [name, Number(form.get(name))]).filter(([, most]) => Number(most) > 0);
  return { agent: String(form.get("agent")), message: String(form.get("message")), ...(limits.length > 0 && { budget: Object.fromEntries(limits) }) };
}
