/** One conversation: messages as they come, who holds it, and what is left of its budget. */
import { html, useEffect, useRef, useState } from "../lib.js";
import { useOneKey, useTyped } from "../core/typed.js";
import { post } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { Field } from "../ui/ask.js";
import { Empty, Loading, Said, Trouble } from "../ui/parts.js";
import { askOfChanged } from "./approvals/changed.js";
import { Blocks, blocks, placed } from "./chat/blocks.js";
import { useMessages } from "./chat/message.js";
import { TalkState } from "./chat/list.js";
import { left } from "./task/chain.js";

/** @param {{params: Record<string, string>}} props */
export default function Conversation({ params }) {
  const id = params.id ?? "";
  const isOpen = useRef(true);
  const { messages, after } = useMessages(id, () => isOpen.current);
  const when = messages.length;
  const { data, problem, isLoading } = useLive(`/conversations/${encodeURIComponent(id)}`,
    { when, isUntold: (talk) => talk.state === "open" });
  const { data: chain } = useLive(`/workflows/${encodeURIComponent(id)}/chain`, { everyMs: 5000, when });
  const talk = /** @type {import("api").ConversationView | null} */ (data);
  isOpen.current = talk?.state !== "idle";
  const shown = talk?.state === "open" ? placed(messages, talk.tasks) : messages;
  const seen = useRef(/** @type {string | undefined} */ (undefined)); // the cursor when all messages were in sight
  if (shown.length === messages.length) seen.current = after;
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { end.current?.scrollIntoView({ block: "nearest" }); }, [shown.length]);
  if (isLoading) return html`<h1>Conversation</h1><${Loading} />`;
  if (!talk) return problem?.status === 404 ? html`<${Empty} isPage title="There is no such conversation">
      <p><a href=${address("/chat")}>Begin one</a></p>
    <//>` : html`<h1>Conversation</h1><${Trouble} of=${problem} what="It can't be read." />`;
  const isBusy = talk.state === "open";
  return html`<article class="talk">
    <header>
      <h1 class="title">With <${Said} of=${talk.agent_name ?? talk.agent ?? "anyone"} /></h1>
      <p class="row">
        <${TalkState} of=${talk.state} />
        <span class="faint">
          ${talk.tasks.length === 1 ? "one task" : `${talk.tasks.length} tasks`}
          ${chain ? left(/** @type {any} */ (chain)) : ""}
        </span>
      </p>
    </header>
    <${Trouble} of=${problem} />
    <div class="messages" role="log" aria-label="Messages" tabindex="0">
      <${Blocks} of=${blocks(shown, talk.tasks)} />
      <div ref=${end}></div>
    </div>
    <${Composer} key=${id} id=${id} isBusy=${isBusy} after=${seen.current} />
  </article>`;
}

/** A message names what was in sight when its author began to type.
 * @param {{id: string, isBusy: boolean, after?: string}} props */
function Composer({ id, isBusy, after }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const read = useRef(/** @type {string | undefined} */ (undefined));
  const typed = useTyped("read", () => read.current);
  useEffect(() => { read.current = typed; }, []);
  const key = useOneKey();
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isSending, setSending] = useState(false);
  /** @param {object} body @returns {Promise<void>} */
  const said = async (body) => {
    try {
      await post(`/conversations/${encodeURIComponent(id)}/messages`, body, { key: key.of(body) });
    } catch (error) {
      return askOfChanged(error, "the last message", "Send", (known) => said({ ...body, ...known }));
    }
    key.done();
    form.current?.reset();
    read.current = undefined;
    setTrouble(null);
    lookAgain();
  };
  const send = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const message = String(
      new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("message") ?? "").trim();
    if (!message) return;
    setSending(true);
    setTrouble(null);
    const body = { message, after: read.current ??= after };
    try {
      await said(body);
    } catch (error) {
      if (/** @type {import("../core/api.js").Problem} */ (error).code === "conversation_moved") {
        read.current = undefined;
        lookAgain();
      }
      setTrouble(error);
    }
    setSending(false);
  };
  const typing = (/** @type {any} */ { target: { value } }) => {
    read.current = value ? read.current ?? after : undefined;
  };
  return html`<form ref=${form} class="composer" onSubmit=${send}>
    <${Field} of=${{
    name: "message", label: "Your message", type: "textarea", required: true, hint: "Ctrl and Enter send it.",
  }} onInput=${typing} />
    <${Trouble} of=${trouble} what="It wasn't sent." />
    <div class="row end">
      <button type="submit" class="primary" disabled=${isSending || isBusy}>
        ${isBusy ? "Being answered …" : isSending ? "Sending …" : "Send"}
      </button>
    </div>
  </form>`;
}
