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

const DELIVERABLE = "expectations.deliverables.0.";

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
    { group: "What is to come of it", name: "description", at: DELIVERABLE + "description", label: "Result",
      hint: "Such as: the session module, and its tests." },
    { group: "What is to come of it", name: "type", at: DELIVERABLE + "type", label: "Kind of result",
      type: "select", value: "", options: [["", "not said"], ...choices(results)],
      hint: "One that the target produces." },
    { group: "What is to come of it", name: "acceptance_criteria", at: DELIVERABLE + "acceptance_criteria",
      label: "Criteria, one a line", type: "textarea", as: "lines", hint: "Whoever completes it has to answer each." },
    { group: "How", name: "kind", label: "Kind", type: "select", value: "transfer", required: true,
      options: choices(["transfer", "delegation", "continuation", "rollback"]) },
    { group: "How", name: "priority", at: "metadata.priority", label: "Priority", type: "select", value: "P2",
      required: true, options: choices(PRIORITIES) },
    { group: "How", name: "effort", at: "metadata.effort", label: "Effort", type: "select", value: "",
      options: [["", "not said"], ...choices(["S", "M", "L"])] },
    { group: "How", name: "labels", at: "metadata.labels", label: "Labels, one a line", type: "textarea", as: "pairs",
      hint: "Such as team=payments." },
    { group: "How", name: "deadline", at: "expectations.deadline", label: "Deadline", type: "datetime-local",
      as: "time" },
    { group: "How", name: "fail_on_deadline", at: "expectations.fail_on_deadline", label: "After the deadline",
      type: "select", as: "json", value: "", options: [["", "an alert is raised"], ["true", "it fails"]] },
    { group: "How", name: "not_before", at: "metadata.not_before", label: "Not before", type: "datetime-local",
      as: "time" },
    { group: "How", name: "on_failure", at: "rollback.on_failure", label: "Who gets a failure back", type: "select",
      value: "", options: [["", "whom it is from"], ...choices(agents)] },
    { group: "The whole workflow", name: "workflow_id", at: "metadata.workflow_id", label: "Belongs to the workflow",
      hint: "Empty: it begins a new one." },
    ...[["max_handoffs", "Handoffs"], ["max_model_calls", "Model calls"], ["max_tokens", "Tokens"]].map(
      ([name = "", label]) => /** @type {Entry} */ ({ group: "The whole workflow", name, at: `budget.${name}`,
        label: `${label} at most`, type: "number", as: "number", min: "1" })),
    { group: "The memory", name: "scope", label: "Part of the work", hint: "A path, such as src/auth." },
    { group: "The memory", name: "auto_snapshot", label: "Newest decisions, warnings and findings go with it",
      type: "select", as: "json", value: "", options: [["", "no"], ["true", "yes"]] },
    { group: "The memory", name: "auto_memories", label: "Entries that come with its claim", type: "number",
      as: "number", min: "0", max: "5" },
  ];
}

/** @param {Record<string, any>} values @param {string} key */
async function send(values, key) {
  const { source, target, reason, variables, constraints, deadline, fail_on_deadline, on_failure, ...rest } = values;
  const { type, description, acceptance_criteria, max_handoffs, max_model_calls, max_tokens, ...further } = rest;
  const { priority, effort, labels, not_before, workflow_id, ...plain } = further;
  const deliverable = given({ type, description, acceptance_criteria });
  const deliverables = Object.keys(deliverable).length > 0 ? [deliverable] : null;
  const body = given({
    ...plain,
    source: { agent: source },
    target: given({ agent: target, reason }),
    context: given({ variables }),
    expectations: given({ deliverables, constraints, deadline, fail_on_deadline }),
    rollback: given({ on_failure }),
    metadata: given({ priority, effort, labels, not_before, workflow_id }),
    budget: given({ max_handoffs, max_model_calls, max_tokens }),
  });
  const made = /** @type {import("api").HandedOff} */ (await post("/handoffs", body, { key }));
  toast(made.task.state === "needs" ? "Handed over: it waits for approval." : "Handed over");
  lookAgain();
  go(`/tasks/${made.task.id}`);
}
