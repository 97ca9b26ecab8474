/** An agent's registration: a new one, or what of it is changed. */
import { html, useState } from "../lib.js";
import { change } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { Form } from "../ui/form.js";
import { Loading, Said, Trouble } from "../ui/parts.js";
import { isPending, WAITS } from "./settings/fields.js";

/** @typedef {import("api").WholeAgentView} WholeAgentView */
/** @typedef {import("../ui/form.js").Entry} Entry */

const [WHO, HOW, RUN] = ["Agent", "Approval and limits", "Where Baton runs it"];

/** @param {{params: Record<string, string>}} props */
export default function EditAgent({ params }) {
  const slug = params.slug ?? "";
  const { data, problem, isLoading } = useLive(slug ? `/agents/${encodeURIComponent(slug)}` : null);
  const agent = /** @type {WholeAgentView | null} */ (data);
  if (isLoading) return html`<h1>Agent</h1><${Loading} />`;
  if (slug && !agent) {
    return html`<h1>Agent</h1><${Trouble} of=${problem} what="The agent can't be read." />
      <p><a href=${address("/agents")}>All agents</a></p>`;
  }
  const title = agent ? html`Change <${Said} of=${agent.slug} />` : "New agent";
  return html`<div class="head"><h1>${title}</h1></div><${Edit} now=${agent} />`;
}

/** `base`: what the changes are based on, whatever comes in the meantime.
 * @param {{now: WholeAgentView | null}} props */
function Edit({ now }) {
  const [base] = useState(now);
  const of = fields(base);
  const send = async (/** @type {Record<string, any>} */ { slug = base?.slug, ...values }) => {
    const before = Object.fromEntries(of.map((entry) => [entry.name, entry.value ?? ""]));
    const isChanged = (/** @type {[string, unknown]} */ [name, value]) => textOf(value) !== before[name];
    const changed = Object.fromEntries(Object.entries(values).filter(isChanged));
    const body = { ...changed, version: base?.version ?? 0 };
    const saved = await change("PUT", `/agents/${encodeURIComponent(slug)}`, body);
    toast(isPending(saved) ? WAITS : base ? "Saved" : "Registered");
    lookAgain();
    go(`/agents/${slug}`);
  };
  const isBehind = now && base && now.version !== base.version;
  return html`${isBehind && html`<p class="notice" role="status">Somebody has changed it since you began.${" "}
      <button type="button" onClick=${() => location.reload()}>Begin anew with theirs</button></p>`}
    <${Form} of=${of} confirm=${base ? "Save" : "Register"} what="Nothing was saved." send=${send}
      back=${html`<a href=${address(base ? `/agents/${base.slug}` : "/agents")}>Back</a>`} />`;
}

/** @param {unknown} value */
const textOf = (value) => (Array.isArray(value) ? value.join("\n") : String(value ?? ""));

/** @param {WholeAgentView | null} agent @returns {Entry[]} */
function fields(agent) {
  const text = (/** @type {keyof WholeAgentView} */ name, otherwise = "") => textOf(agent ? agent[name] : otherwise);
  /** @type {(group: string, name: keyof WholeAgentView, label: string, more?: Partial<Entry>) => Entry} */
  const one = (group, name, label, more = {}) => ({ group, name, label, value: text(name), ...more });
  /** @type {(min: number, max: number, hint?: string) => Partial<Entry>} */
  const number = (min, max, hint = "") => ({ type: "number", as: "number", min: String(min), max: String(max), hint });
  const lines = /** @type {Partial<Entry>} */ ({ type: "textarea", as: "lines" });
  /** What a new agent begins with. @param {string} value */
  const first = (value) => (agent ? {} : { value });
  /** @type {(...options: [string, string][]) => Partial<Entry>} */
  const choice = (...options) => ({ type: "select", required: true, options, ...first(options[0]?.[0] ?? "") });
  const slug = /** @type {Entry[]} */ (agent ? [] : [{ group: WHO, name: "slug", label: "Slug", required: true,
    hint: "1 to 63 of a-z, 0-9 and hyphens. It names the agent for good." }]);
  return [
    ...slug,
    one(WHO, "name", "Name"),
    one(WHO, "aliases", "Aliases, one a line", lines),
    one(WHO, "description", "Description", { type: "textarea" }),
    one(WHO, "accepts", "Types of work that it accepts, one a line", lines),
    one(WHO, "produces", "Types that it produces, one a line", lines),
    one(HOW, "approval", "What is handed to it",
      choice(["manual", "waits for a person"], ["auto", "is approved by itself"])),
    one(HOW, "max_concurrent", "Claims at once", number(1, 100, "Empty: no limit.")),
    one(HOW, "root_handoffs_per_hour", "Workflows that it may begin in a direction in an hour",
      number(1, 1000, "Empty: the workspace's number.")),
    one(HOW, "dispatch_rank", "Dispatch rank",
      { ...number(0, 1000, "A lower one goes first."), required: true, ...first("100") }),
    one(HOW, "requeue", "Lost work", choice(["same", "goes back to it"], ["needs", "waits for a person"])),
    one(HOW, "runtime", "Run by", choice(["pull", "its own worker"], ["run", "Baton, on a model"])),
    one(HOW, "join", "What it delegates together",
      choice(["all", "it goes on once all have ended"], ["any", "with the first that ends"],
        ["quorum", "once a number of them has ended"])),
    one(HOW, "quorum", "That number", number(1, 10, "Only for a number of them.")),
    one(RUN, "system_prompt", "Prompt", { type: "textarea", rows: 6 }),
    one(RUN, "model", "Model", { hint: "<provider>[:<id>]; empty: the deployment's own." }),
    one(RUN, "tools", "Handoff tools, one a line", lines),
    one(RUN, "max_turns", "Turns a task", number(1, 100)),
    one(RUN, "max_tokens", "Tokens a task", number(1000, 10_000_000)),
    one(RUN, "max_reply_tokens", "Tokens of a reply", number(16, 65_536)),
  ];
}
