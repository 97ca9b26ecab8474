/** Every setting of a workspace: what it is called, what it is for, between which bounds. The bounds are those of
 * openapi.json. */

/** `name`: of the setting; `guardrails.…` is inside of that object. `unit`: what a number counts.
 * @typedef {{name: string, title: string, means: string, type: "number" | "text" | "lines" | "choice" | "switch",
 *   from?: number, to?: number, unit?: string, choices?: string[]}} Setting */
/** @typedef {{title: string, settings: Setting[]}} Group */

/** @type {Group[]} */
export const GROUPS = [
  { title: "Approvals and attempts", settings: [
    number("dispatch_delay_seconds", "Undo window",
      "How long an approval can be taken back: the task isn't claimable before.", 0, 900, "seconds"),
    number("max_attempts", "Attempts",
      "A task that was lost or failed this often waits for a person, with an alert.", 1, 20, "attempts"),
  ] },
  { title: "When people are told", settings: [
    number("unclaimed_alert_seconds", "Nobody takes it",
      "A ready task that nobody has claimed for so long raises an alert.", 60, 604_800, "seconds"),
    number("waiting_alert_seconds", "It waits for others",
      "A task that waits for branches or an answer for so long raises an alert.", 60, 604_800, "seconds"),
  ] },
  { title: "Escalations", settings: [
    number("escalation_cap", "Cap",
      "Escalations of one direction in the window; one more becomes a manual review.", 1, 20, "escalations"),
    number("handoff_window_days", "Window", "The days that the cap counts.", 1, 30, "days"),
    choice("breaker_scope", "What stops a second one",
      "open: an open task of the same direction. any: each one of the window, ended or not.", ["open", "any"]),
    { name: "time_zone", title: "Time zone",
      means: "Due dates are days of this zone. An IANA name, such as Europe/Vienna.", type: "text" },
    { name: "holidays", title: "Holidays",
      means: "No due date falls on them. One date a line, such as 2027-01-06.", type: "lines" },
  ] },
  { title: "Chains", settings: [
    { name: "loop_guard", title: "Loop guard",
      means: "Refuses handoffs that go in circles, by the limits below; a refused one becomes a manual review.",
      type: "switch" },
    number("max_depth", "Depth", "Handoffs from the beginning of a chain to its end.", 1, 50, "handoffs"),
    number("max_handoffs_per_workflow", "Handoffs of a workflow",
      "All branches together, a user's messages included.", 1, 500, "handoffs"),
    number("max_same_direction", "One direction in a chain",
      "How often the same agent may hand to the same other one.", 1, 20, "handoffs"),
    number("ping_pong_window", "To and fro",
      "So many handoffs in a row between only two agents are refused.", 4, 20, "handoffs"),
    number("root_handoffs_per_hour", "New workflows",
      "What agents and services begin in one direction in an hour.", 1, 300, "an hour"),
  ] },
  { title: "What one caller may ask for", settings: [
    number("requests_per_minute", "Requests",
      "Of one agent or service; a person has five times as many. More are refused with 429.", 60, 60_000, "a minute"),
    number("kept_bytes_per_minute", "Bytes to keep",
      "Of one agent or service, in what it sends to be kept; a person has five times as many.",
      300_000, 1_000_000_000, "bytes a minute"),
    number("kept_bytes_per_claim", "Bytes of a claim",
      "In checkpoints and notes of one claim.", 1_000_000, 1_000_000_000, "bytes"),
    number("polls_at_once", "Waiting requests",
      "Long polls of one caller, whoever it is, that wait at the same time.", 1, 25, "at once"),
  ] },
  { title: "What it costs", settings: [
    number("cents_per_million_tokens", "A million tokens",
      "What a model's cost on average, in cents, for How it goes; 0: unknown.", 0, 1_000_000, "cents"),
  ] },
  { title: "Who reads what", settings: [
    choice("agents_read", "Agents read",
      "own: tasks that they take part in. workspace: all of them.", ["own", "workspace"]),
  ] },
  { title: "Content", settings: [
    choice("guardrails.secrets", "Apparent secrets",
      "refuse: the message comes back. mask: the secret is replaced. off: nothing is done.", ["refuse", "mask", "off"]),
    { name: "guardrails.forbidden_patterns", title: "Forbidden patterns",
      means: "Searched in every text, ignoring case; * is any run of characters, ? one. One a line.", type: "lines" },
    number("guardrails.max_text_characters", "A text", "The longest single text.", 1000, 262_144, "characters"),
    number("guardrails.max_items", "A list", "The longest single array or object.", 100, 100_000, "items"),
  ] },
];

/** @param {string} name @param {string} title @param {string} means
 * @param {number} from @param {number} to @param {string} unit @returns {Setting} */
function number(name, title, means, from, to, unit) {
  return { name, title, means, type: "number", from, to, unit };
}

/** @param {string} name @param {string} title @param {string} means @param {string[]} choices @returns {Setting} */
function choice(name, title, means, choices) {
  return { name, title, means, type: "choice", choices };
}

/** What a setting's field holds. @param {Setting} setting @param {any} settings @returns {string} */
export function shown(setting, settings) {
  const value = valueOf(setting.name, settings);
  if (setting.type === "lines") return (value ?? []).join("\n");
  return String(value ?? "");
}

/** @param {string} name @param {any} settings @returns {any} */
function valueOf(name, settings) {
  return name.split(".").reduce((value, part) => value?.[part], settings);
}

/** What a field says, as the API takes it. @param {Setting} setting @param {string} text @returns {unknown} */
function read(setting, text) {
  if (setting.type === "number") return Number(text);
  if (setting.type === "switch") return text === "true";
  if (setting.type === "lines") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  return text.trim();
}

/** The fields that differ from the settings, by name, as a request.
 * @param {Record<string, string>} texts @param {any} settings @returns {Record<string, any>} */
export function changesOf(texts, settings) {
  /** @type {Record<string, any>} */
  const changes = {};
  for (const setting of GROUPS.flatMap((group) => group.settings)) {
    const text = texts[setting.name];
    if (text === undefined || text === shown(setting, settings)) continue;
    const [outer = "", inner] = setting.name.split(".");
    if (inner) changes[outer] = { ...changes[outer], [inner]: read(setting, text) };
    else changes[outer] = read(setting, text);
  }
  return changes;
}

/** Changes that loosen a rule wait for another administrator. */
export const WAITS = "The change waits for another administrator: see Changes.";

/** @param {unknown} answer of a change of settings or tokens @returns {boolean} */
export const isPending = (answer) =>
  typeof answer === "object" && answer !== null && "state" in answer && answer.state === "pending";
