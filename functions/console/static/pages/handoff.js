/** A handoff is shown by its task: its address leads there. */
import { html, useEffect } from "../lib.js";
import { useLive } from "../core/live.js";
import { address, leadTo } from "../core/router.js";
import { Loading, Trouble } from "../ui/parts.js";

/** @param {{params: Record<string, string>}} props */
export default function Handoff({ params }) {
  const { data, problem } = useLive(`/handoffs/${encodeURIComponent(params.id ?? "")}`);
  const task = /** @type {import("api").HandoffView | null} */ (data)?.task_id;
  useEffect(() => { if (task) leadTo(address(`/tasks/${task}`)); }, [task]);
  return html`<h1>Handoff</h1>${problem ? html`<${Trouble} of=${problem} what="It can't be opened." />`
    : html`<${Loading} />`}`;
}
