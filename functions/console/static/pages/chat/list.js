/** The list of conversations: one's own, or everybody's; the latest change first. */
import { html, useMemo } from "../../lib.js";
import { useList } from "../../core/live.js";
import { address } from "../../core/router.js";
import { who } from "../../core/session.js";
import { Ago, Empty, Key, Loading, Said, Trouble } from "../../ui/parts.js";
import { Table } from "../../ui/table.js";

/** @typedef {import("api").ListedConversationView} Talk */
/** @typedef {import("../../ui/table.js").Column<Talk>} Column */
const MOST = 100;

/** @type {Column[]} */
const COLUMNS = [
  { name: "title", title: "About", class: "fill",
    cell: (talk) => html`<${Said} of=${talk.title || talk.conversation_id} />` },
  { name: "agent", title: "With", class: "slim",
    cell: (talk) => html`<${Said} of=${talk.agent_name ?? talk.agent ?? "anyone"} />` },
  { name: "state", title: "State", class: "state-cell", cell: (talk) => html`<${TalkState} of=${talk.state}/>` },
  { name: "at", title: "Last", class: "time middling", cell: (talk) => html`<${Ago} at=${talk.updated_at} />` },
];
/** @type {Column[]} */
const OF_ALL = [...COLUMNS, {
  name: "by", title: "Begun by", class: "slim wide",
  cell: (talk) => html`<${Said} of=${talk.begun_by.replace(/^human:/, "")} />`,
}];

/** A mark and a word, never a colour alone. @param {{of: "open" | "idle"}} props */
export function TalkState({ of }) {
  const [name, mark, word, means] = of === "open" ? ["claimed", "●", "answering", "It is being answered"]
    : ["done", "○", "waits", "It waits for a message"];
  return html`<span class=${`state ${name}`} title=${means}>
    <span aria-hidden="true">${mark}</span> ${word}
  </span>`;
}

/** @param {{isOwn: boolean}} props */
export function Talks({ isOwn }) {
  const own = `?begun_by=${encodeURIComponent(`human:${who.value}`)}`;
  const { data, problem, isLoading } = useList(`/conversations${isOwn ? own : ""}`, { everyMs: 10_000, most: MOST });
  const talks = useMemo(() => latestFirst(data?.items ?? []), [data]);
  const label = isOwn ? "Your conversations" : "Everybody's conversations";
  return html`<div class="talks">
    <div class="views" role="group" aria-label="Whose">
      ${[{ name: "yours", whose: null }, { name: "everybody's", whose: "all" }].map(({ name, whose }) => html`<span
        class="view" key=${name}>
        <a href=${address("/chat", { whose })} aria-current=${isOwn === (whose === null) ? "true" : undefined}>
          ${name}
        </a>
      </span>`)}
    </div>
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
    : talks.length > 0 ? html`<${Table} key=${label} label=${label}
        columns=${isOwn ? COLUMNS : OF_ALL} rows=${talks} more=${data?.more}
        keyOf=${(/** @type {Talk} */ talk) => talk.conversation_id}
        hrefOf=${(/** @type {Talk} */ talk) => address(`/chat/${talk.conversation_id}`)} />`
    : !problem && html`<${Empty} title=${isOwn ? "You have begun none" : "Nobody has begun one"}>
        <p>
          A message to an agent begins one: press <${Key}>n<//>. The agent answers, or hands you on to another that can.
        </p>
      <//>`}
  </div>`;
}

/** @param {Talk[]} talks @returns {Talk[]} */
function latestFirst(talks) {
  return [...talks].sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
}
