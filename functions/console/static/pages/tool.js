/** One handoff tool: its form, and beside it what a model is shown of it. */
import { html, useEffect, useRef, useState } from "../lib.js";
import { change, post } from "../core/api.js";
import { useBusy } from "../core/busy.js";
import { lookAgain, useList, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { useTyped } from "../core/typed.js";
import { Field } from "../ui/ask.js";
import { Ago, Data, Empty, Loading, Said, Trouble } from "../ui/parts.js";
import { Standing } from "./tools.js";
import { Schema, usePreview, wrongAt } from "./tool/preview.js";
import { rowsOf, Variables, variablesOf } from "./tool/variables.js";

/** @typedef {import("api").ToolView} ToolView */
/** @typedef {import("./tool/variables.js").Row} Row */

/** @param {{params: Record<string, string>}} props */
export default function ToolPage({ params }) {
  const name = params.name ?? "";
  const { data, problem, isLoading } = useLive(name ? `/tools/${encodeURIComponent(name)}` : null);
  const tool = /** @type {ToolView | null} */ (data);
  if (isLoading) return html`<h1>Tool</h1><${Loading} />`;
  if (name && !tool) return html`<h1>Tool</h1>
    <${Trouble} of=${problem} what="The tool can't be read." />
    <p><a href=${address("/tools")}>All tools</a></p>`;
  return html`<article class="task">
    <header>
      <p class="row">${tool && html`<${Standing} of=${tool} /> <span class="faint">
        changed <${Ago} at=${tool.updated_at} /> by <${Said} of=${tool.updated_by} /></span>`}</p>
      <h1 class="title">${tool ? html`<${Said} of=${tool.name} />` : "New tool"}</h1>
    </header>
    ${tool?.suspended && html`<p class="trouble">
      <${Said} of=${tool.suspended.reason} /> <a href=${address(`/agents/${tool.config.target_agent}`)}>See its
      target</a>; save the tool to offer it again.</p>`}
    <${Halves} key=${name} tool=${tool} />
  </article>`;
}

/** The form, and what a model would see of it. @param {{tool: ToolView | null}} props */
function Halves({ tool }) {
  const [draft, setDraft] = useState(/** @type {import("./tool/preview.js").Draft | null} */ (null));
  const preview = usePreview(draft);
  const saved = useLive(tool && `/tools/${encodeURIComponent(tool.name)}/schema`,
    { everyMs: 10_000, when: tool?.version });
  return html`<div class="halves">
    <${Form} tool=${tool} preview=${preview} onDraft=${setDraft} />
    <div>
      <${Schema} of=${preview.schema ?? saved.data} problem=${preview.problem ?? saved.problem} />
      ${tool && html`<${DryRun} tool=${tool} />`}
    </div>
  </div>`;
}

/** @param {{tool: ToolView | null, preview: import("./tool/preview.js").Preview,
 *   onDraft: (draft: import("./tool/preview.js").Draft) => void}} props */
function Form({ tool, preview, onDraft }) {
  const { data, problem, isLoading } = useList("/agents", { everyMs: 30_000 });
  const [isBusy, busy] = useBusy();
  const typed = /** @type {{variables: Row[], based: Based, targets: Targets} | undefined} */ (
    useTyped("tool", () => ({ variables: latest.current, based, targets: targets.current })));
  const [variables, setVariables] = useState(() => typed?.variables ?? rowsOf(tool?.config.context_variables ?? []));
  const [based, setBased] = useState(typed?.based ?? basedOn(tool));
  const now = basedOn(tool);
  const targets = useRef(typed?.targets ?? null);
  if (data) targets.current ??= versions(data.items);
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const agents = /** @type {import("api").SeenAgentView[]} */ (data?.items ?? [])
    .filter((agent) => agent.active).map((agent) => agent.slug);
  if (tool && !agents.includes(tool.config.target_agent)) agents.unshift(tool.config.target_agent);
  useEffect(() => { if (!tool) document.getElementById("field-name")?.focus(); }, []);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const latest = useRef(variables);
  const show = () => {
    const { name, body } = definition(form.current, latest.current);
    onDraft({ name: tool?.name ?? name, body: tool ? body : { version: 0, ...body } });
  };
  const putVariables = (/** @type {Row[]} */ next) => { latest.current = next; setVariables(next); show(); };
  const save = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const { name, body } = definition(form.current, variables);
    setTrouble(null);
    try {
      if (now.version === based.version && now.target_version !== based.target_version)
        throw new Error("Its target was changed. Show the tool as it is now, and look at its target.");
      const saved = /** @type {ToolView} */ (await change("PUT", `/tools/${encodeURIComponent(tool?.name ?? name)}`,
        { version: based.version, ...seen(based, targets.current, body.config.target_agent), ...body }));
      setBased(basedOn(saved));
      targets.current = null;
      toast("Saved");
      lookAgain();
      if (!tool) go(`/tools/${saved.name}`);
    } catch (error) {
      setTrouble(error);
    }
  };
  if (agents.length === 0) {
    return html`<section class="card">
      ${isLoading ? html`<${Loading} />`
      : problem ? html`<${Trouble} of=${problem} what="Agents can't be read, and a tool hands over to one." />`
      : html`<${Empty} title="No agent to hand over to">
        <p><a href=${address("/new-agent")}>Register one</a> first.</p><//>`}
    </section>`;
  }
  const config = tool?.config;
  return html`<section class="card" aria-labelledby="form">
    <h2 id="form">What it does</h2>
    <form ref=${form} onSubmit=${(/** @type {SubmitEvent} */ event) => busy(() => save(event))} onInput=${show}>
      ${!tool && html`<${Field} of=${{ name: "name", label: "Name", required: true,
        hint: "As a model calls it, such as handoff_to_sales.", wrong: wrongAt(preview, "name") }} />`}
      <${Field} of=${{ name: "description", label: "Description", type: "textarea", value: tool?.description ?? "",
        hint: "When a model should use it.", wrong: wrongAt(preview, "description") }} />
      <${Field} of=${{ name: "target_agent", label: "Hands over to", type: "select", required: true,
        value: config?.target_agent ?? "", options: agents.map((slug) => [slug, slug]),
        wrong: wrongAt(preview, "config.target_agent") }} />
      <${Field} of=${{ name: "mode", label: "Mode", type: "select", required: true, value: config?.mode ?? "transfer",
        options: [["transfer", "transfer: the target takes the conversation"],
          ["delegate", "delegate: its result comes back"]] }} />
      <${Field} of=${{ name: "history", label: "What the target sees", type: "select", required: true,
        value: config?.history ?? "full", options: [["full", "all of the conversation"],
          ["last_message", "the last turn"], ["none", "only the user's message"]] }} />
      <${Field} of=${{ name: "handoff_instructions", label: "Instructions for the target", type: "textarea",
        value: config?.handoff_instructions ?? "", wrong: wrongAt(preview, "config.handoff_instructions") }} />
      <${Field} of=${{ name: "active", label: "Offered to models", type: "select", required: true,
        value: tool && !tool.active ? "no" : "yes", options: [["yes", "yes"], ["no", "no: switched off"]] }} />
      <${Variables} of=${variables} set=${putVariables} wrong=${(/** @type {string} */ place) =>
        wrongAt(preview, `config.context_variables${place}`, place === "")} />
      <${Trouble} of=${trouble} what="It isn't saved." />
      ${tool && JSON.stringify(now) !== JSON.stringify(based) && html`<p class="notice">
        Somebody has changed it, or its target, since you opened it.${" "}
        <button type="button" onClick=${() => location.reload()}>Show theirs</button></p>`}
      <div class="row end">
        <a href=${address("/tools")}>All tools</a>
        <button type="submit" class="primary" aria-disabled=${isBusy}>${isBusy ? "Saving …" : "Save"}</button>
      </div>
    </form>
  </section>`;
}

/** The fields of a tool as first shown: a save is based on them. @typedef {ReturnType<typeof basedOn>} Based */
/** @param {ToolView | null} tool */
const basedOn = (tool) => ({
  version: tool?.version ?? 0,
  target: tool?.config.target_agent ?? "",
  target_version: tool?.suspended?.target_version ?? 0,
});

/** The agents' versions as first shown. @typedef {Record<string, number> | null} Targets */
/** @param {import("api").SeenAgentView[]} agents @returns {Record<string, number>} */
const versions = (agents) => Object.fromEntries(agents.map(({ slug, version }) => [slug, version]));

/** A save approves the target as its reader has seen it, and no later version.
 * @param {Based} based @param {Targets} targets @param {string} target */
const seen = (based, targets, target) => ({ target_version:
  based.target_version && target === based.target ? based.target_version : targets?.[target] });

/** What the form says now. @param {HTMLFormElement | null} form @param {Row[]} variables */
function definition(form, variables) {
  const values = form ? new FormData(form) : new FormData();
  const text = (/** @type {string} */ key) => String(values.get(key) ?? "");
  const config = { target_agent: text("target_agent"), mode: text("mode"), history: text("history"),
    handoff_instructions: text("handoff_instructions"), context_variables: variablesOf(variables) };
  return { name: text("name"), body: { description: text("description"), active: text("active") === "yes", config } };
}

/** @param {{tool: ToolView}} props */
function DryRun({ tool }) {
  const [told, setTold] = useState(/** @type {import("api").DryRunView | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, busy] = useBusy();
  const run = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const text = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("arguments") ?? "");
    setTrouble(null);
    try {
      setTold(await post(`/tools/${encodeURIComponent(tool.name)}/dry-run`, { arguments: JSON.parse(text || "{}") }));
    } catch (error) {
      setTrouble(error);
    }
  };
  return html`<section class="card" aria-labelledby="dry">
    <h2 id="dry">Try it</h2>
    <p class="faint">Nothing is handed over.</p>
    <form onSubmit=${(/** @type {SubmitEvent} */ event) => busy(() => run(event))}>
      <${Field} of=${{ name: "arguments", label: "Arguments, as JSON", type: "textarea", required: true,
        value: "{}" }} />
      <div class="row end"><button type="submit" aria-disabled=${isBusy}>${isBusy ? "Trying …" : "Try"}</button></div>
    </form>
    <${Trouble} of=${trouble} />
    ${told && html`<div role="status">
      ${told.ok ? html`<p class="good"><${Said} of=${told.would} /></p>
        <${Data} of=${told.context} title="What the target gets" open />`
      : html`<div class="trouble">
        <p><strong>It would be refused.</strong></p>
        <ul>${told.errors.map((each) => html`<li><code>${each.field}</code> <${Said} of=${each.message} /></li>`)}</ul>
      </div>`}
    </div>`}
  </section>`;
}
