/** An agent's registration: a new one, or what of it is changed. */
import { html, useState } from "../lib.js";
import { change } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { Form } from "../ui/form.js";
import { Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").WholeAgentView} WholeAgentView */
/** @typedef {import("../ui/form.js").Entry} Entry */

/** @param {{params: Record<string, string>}} props */
export default function EditAgent({ params }) {
  const slug = params.slug ?? "";
  const { data, problem, isLoading } = useLive(slug ? `/agents/${encodeURIComponent(slug)}` : null);
  const agent = /** @type {WholeAgentView | null} */ (data);
  if (isLoading) return html`<h1>Agent</h1><${Loading} />`;
  if (slug && !agent) return html`<h1>Agent</h1><${Trouble} of=${problem} what="The agent can't be read." /><p><a href=${address("/agents")}>All agents</a></p>`;
  return html`<div class="head"><h1>${agent ? html`Change <${Said} of=${agent.slug} />` : "New agent"}</h1></div><${Edit} now=${agent} />`;
}

/** `base`: what the changes are based on, whatever comes in the meantime. @param {{now: WholeAgentView | null}} props */
function Edit({ now }) {
  const [base] = useState(now);
  const of = fields(base);
  const send = async (/** @type {Record<string, any>} */ { slug = base?.slug, ...values }) => {
    const before = Object.fromEntries(of.map((entry) => [entry.name, entry.value ?? ""]));
    const changed = Object.fromEntries(Object.entries(values).filter(([name, value]) => textOf(value) !== before[name]));
    await change("PUT", `/agents/${encodeURIComponent(slug)}`, { ...changed, version: base?.version ?? 0 });
    toast(base ? "Saved" : "Registered");
    lookAgain();
    go(`/agents/${slug}`);
  };
  return html`${now && base && now.version !== base.version && html`<p class="notice" role="status">Somebody has changed it since you began.
      ${" "}<button type="button" onClick=${() => location.reload()}>Begin anew with theirs</button></p>`}
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
  /** @type {(group: string, name: keyof WholeAgentView, label: string, min: number, max: number, hint?: string) => Entry} */
  const number = (group, name, label, min, max, hint = "") => one(group, name, label, { type: "number", as: "number", min: String(min), max: String(max), hint });
  const lines = /** @type {Partial<Entry>} */ ({ type: "textarea", as: "lines" });
  const choice = (/** @type {[string, string][]} */ options, /** @type {string} */ first) =>
    /** @type {Partial<Entry>} */ ({ type: "select", required: true, options, ...(agent ? {} : { value: first }) });
  const slug = /** @type {Entry[]} */ (agent ? [] : [{ group: "Agent", name: "slug", label: "Slug", required: true,
    hint: "1 to 63 of a-z, 0-9 and hyphens. It names the agent for good." }]);
  const who = [
    one("Agent", "name", "Name"), one("Agent", "aliases", "Aliases, one a line", lines),
    one("Agent", "description", "Description", { type: "textarea" }),
    one("Agent", "accepts", "Types of work that it accepts, one a line", lines),
    one("Agent", "produces", "Types that it produces, one a line", lines),
  ];
  const how = [
    one("Approval and limits", "approval", "What is handed to it", choice([["manual", "waits for a person"], ["auto", "is approved by itself"]], "manual")),
    number("Approval and limits", "max_concurrent", "Claims at once", 1, 100, "Empty: no limit."),
    number("Approval and limits", "root_handoffs_per_hour", "Workflows that it may begin in a direction in an hour", 1, 1000, "Empty: the workspace's number."),
    one("Approval and limits", "dispatch_rank", "Dispatch rank", { type: "number", as: "number", min: "0", required: true, hint: "A lower one goes first.",
      ...(agent ? {} : { value: "100" }) }),
    one("Approval and limits", "requeue", "Lost work", choice([["same", "goes back to it"], ["needs", "waits for a person"]], "same")),
    one("Approval and limits", "runtime", "Run by", choice([["pull", "its own worker"], ["run", "Baton, on a model"]], "pull")),
  ];
  const profile = [
    one("Where Baton runs it", "system_prompt", "Prompt", { type: "textarea", rows: 6 }),
    one("Where Baton runs it", "model", "Model", { hint: "<provider>[:<id>]; empty: the deployment's own." }),
    one("Where Baton runs it", "tools", "Handoff tools, one a line", lines),
    number("Where Baton runs it", "max_turns", "Turns a task", 1, 100), number("Where Baton runs it", "max_tokens", "Tokens a task", 1000, 10_000_000),
    number("Where Baton runs it", "max_reply_tokens", "Tokens of a reply", 16, 65_536),
  ];
  return [...slug, ...who, ...how, ...profile];
}
