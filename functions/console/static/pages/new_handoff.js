/** A handoff that a person makes: what an agent would send, as a form. */
import { html } from "../lib.js";
import { post } from "../core/api.js";
import { PRIORITIES } from "../core/filters.js";
import { lookAgain, useList } from "../core/live.js";
import { address, go } from "../core/router.js";
import { who } from "../core/session.js";
import { toast } from "../core/toasts.js";
import { Form, given } from "../ui/form.js";
import { Loading, Trouble } from "../ui/parts.js";

/** @typedef {import("../ui/form.js").Entry} Entry */

export default function NewHandoff() {
  const { data, problem, isLoading } = useList("/agents", { everyMs: 60_000 });
  const { data: routes } = useList("/routes", { everyMs: 60_000 });
  if (isLoading) return html`<h1>New handoff</h1><${Loading} />`;
  const known = /** @type {import("api").SeenAgentView[]} */ (data?.items ?? []);
  const agents = known.filter((agent) => agent.active).map((agent) => agent.slug);
  const results = [...new Set(known.flatMap((agent) => agent.produces))].sort();
  const types = /** @type {import("api").RouteView[]} */ (routes?.items ?? []).map((route) => route.work_type);
  return html`<div class="head"><h1>New handoff</h1></div>
    <p class="faint">What you hand over in your own name is approved by that, but where a rule asks for others.</p>
    <${Trouble} of=${problem} what="Agents can't be read: only your own name can be chosen." />
    <${Form} of=${fields(agents, types, results)} confirm="Hand over" what="Nothing was handed over." send=${send}
      back=${html`<a href=${address("/tasks")}>All tasks</a>`} />`;
}

/** @param {string[]} texts */
const choices = (texts) => texts.map((each) => /** @type {[string, string]} */ ([each, each]));

/** @param {string[]} agents @param {string[]} types @param {string[]} results @returns {Entry[]} */
function fields(agents, types, results) {
  return [
    { group: "Who", name: "source", at: "source.agent", label: "From", type: "select", required: true, value: who.value,
      options: [[who.value, "me"], ...choices(agents)], hint: "In an agent's name if you may act for it." },
    { group: "Who", name: "target", at: "target.agent", label: "To", type: "select", value: "",
      options: [["", "whoever takes this type of work, or anyone"], ...choices(agents)] },
    { group: "Who", name: "work_type", label: "Type of work", type: "select", value: "",
      options: [["", "none"], ...choices(types)], hint: "Its route names the target." },
    { group: "What", name: "reason", at: "target.reason", label: "What is asked, and why", type: "textarea",
      required: true },
    { group: "What", name: "summary", label: "Title", hint: "One line; left out, it is what is asked." },
    { group: "What", name: "variables", at: "context.variables", label: "Values that go with it", type: "textarea",
      as: "json", isCode: true, hint: 'An object of JSON, such as {"order": 4127}.' },
    { group: "What", name: "constraints", at: "expectations.constraints", label: "Constraints, one a line",
      type: "textarea", as: "lines" },
    { group: "What is to come of it", name: "deliverable", at: "expectations.deliverables.0.description",
      label: "Result", hint: "Such as: the session module, and its tests." },
    { group: "What is to come of it", name: "type", at: "expectations.deliverables.0.type", label: "Kind of result",
      type: "select", value: "", options: [["", "not said"], ...choices(results)],
      hint: "One that the target produces." },
    { group: "What is to come of it", name: "criteria", at: "expectations.deliverables.0.acceptance_criteria",
      label: "Criteria, one a line", type: "textarea", as: "lines", hint: "Whoever completes it has to answer each." },
    { group: "How", name: "priority", at: "metadata.priority", label: "Priority", type: "select", value: "P2",
      required: true, options: choices(PRIORITIES) },
    { group: "How", name: "effort", at: "metadata.effort", label: "Effort", type: "select", value: "",
      options: [["", "not said"], ...choices(["S", "M", "L"])] },
    { group: "How", name: "labels", at: "metadata.labels", label: "Labels, one a line", type: "textarea", as: "pairs",
      hint: "Such as team=payments." },
    { group: "How", name: "deadline", at: "expectations.deadline", label: "Deadline", type: "datetime-local",
      as: "time" },
    { group: "How", name: "not_before", at: "metadata.not_before", label: "Not before", type: "datetime-local",
      as: "time" },
  ];
}

/** @param {object} value */
const isSaid = (value) => Object.keys(value).length > 0;

/** @param {Record<string, any>} values @param {string} key */
async function send(values, key) {
  const { source, target, reason, work_type, summary, variables, constraints, deadline, ...rest } = values;
  const { deliverable, type, criteria, ...metadata } = rest;
  const result = given({ type, description: deliverable, acceptance_criteria: criteria });
  const body = given({
    source: { agent: source },
    target: given({ agent: target, reason }),
    work_type,
    summary,
    context: given({ variables }),
    expectations: given({ deliverables: [result].filter(isSaid), constraints, deadline }),
    metadata: given(metadata),
  });
  const made = /** @type {import("api").HandedOff} */ (await post("/handoffs", body, { key }));
  toast(made.task.state === "needs" ? "Handed over: it waits for approval." : "Handed over");
  lookAgain();
  go(`/tasks/${made.task.id}`);
}
