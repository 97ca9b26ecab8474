/** Handoff tools: how one agent's model hands over to another. */
import { html } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { useList } from "../core/live.js";
import { address, go } from "../core/router.js";
import { Ago, Empty, Key, Loading, Said, Trouble } from "../ui/parts.js";
import { Table } from "../ui/table.js";

/** @typedef {import("api").ToolView} ToolView */

/** @type {import("../ui/table.js").Column<ToolView>[]} */
const COLUMNS = [
  { name: "name", title: "Tool", class: "fill", cell: (tool) => html`<${Said} of=${tool.name} />` },
  { name: "target", title: "Hands over to", cell: (tool) => html`<${Said} of=${tool.config.target_agent} />` },
  { name: "mode", title: "Mode", class: "slim wide", cell: (tool) => tool.config.mode },
  { name: "state", title: "State", class: "state-cell", cell: (tool) => html`<${Standing} of=${tool} />` },
  { name: "changed", title: "Changed", class: "slim wide", cell: (tool) => html`<${Ago} at=${tool.updated_at} />` },
];

/** @param {{of: ToolView}} props */
export function Standing({ of }) {
  if (of.suspended) return html`<span class="state failed" title=${of.suspended.reason}>⊘ suspended</span>`;
  return html`<span class=${`state ${of.active ? "done" : ""}`}>${of.active ? "● offered" : "○ off"}</span>`;
}

export default function Tools() {
  const { data, problem, isLoading } = useList("/tools", { everyMs: 5000 });
  const tools = /** @type {ToolView[]} */ (data?.items ?? []);
  const add = () => go("/new-tool");
  useKeys("Tools", { n: { does: "new tool", run: add } });
  return html`<div class="head">
      <h1>Tools</h1>
      <button type="button" class="primary" onClick=${add}>New tool <${Key}>n<//></button>
    </div>
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
    : tools.length > 0 ? html`<${Table} label="Tools" columns=${COLUMNS} rows=${tools} more=${data?.more}
      keyOf=${(/** @type {ToolView} */ tool) => tool.name}
      hrefOf=${(/** @type {ToolView} */ tool) => address(`/tools/${tool.name}`)} />`
    : !problem && html`<${Empty} title="No tool yet"><p>A handoff tool lets an agent's model hand the conversation, or a
      part of the work, to another agent. It is a standing approval of that one route.</p><//>`}`;
}
