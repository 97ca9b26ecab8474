/** What a person does with alerts, one or many: each gets its answer. */
import { post, Problem } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { asField, fromField, morning } from "../../core/time.js";
import { toast } from "../../core/toasts.js";
import { ask } from "../../ui/ask.js";

/** @typedef {import("api").AlertView} AlertView */
/** What came of each, by id; empty: it was done. @typedef {ReadonlyMap<string, string>} Answers */
/** @typedef {"acknowledge" | "snooze" | "resolve"} Verb */

const AT_ONCE = 5;
const WORDS = {
  acknowledge: { title: "Acknowledge", done: "acknowledged", text: "You have seen it, and somebody is on it." },
  resolve: { title: "Resolve", done: "resolved", text: "It is over. If its reason comes again, so does an alert." },
  snooze: { title: "Snooze", done: "snoozed", text: "Out of sight for everybody until then; it is back by itself." },
};
const NOTE = { name: "note", label: "Note", type: "textarea" };

/** @param {AlertView[]} alerts @param {Verb} verb @param {(answers: Answers) => void} then */
export function handle(alerts, verb, then) {
  const { title, text } = WORDS[verb];
  ask({
    title: alerts.length === 1 ? `${title} this alert` : `${title} ${alerts.length} alerts`,
    text,
    fields: verb === "snooze" ? until() : [NOTE],
    confirm: title,
    run: ({ note, preset, other }) => {
      if (verb !== "snooze") return each(alerts, verb, note ? { note } : {}, then);
      const at = preset || (other && fromField(other));
      if (!at) throw new Error("Choose until when.");
      return each(alerts, verb, { until: at }, then);
    },
  });
}

/** @param {AlertView[]} alerts @param {(answers: Answers) => void} then */
export const wake = (alerts, then) => each(alerts, "snooze", { until: null }, then, "brought back");

/** One that fails alone is said where it was asked for.
 * @param {AlertView[]} alerts @param {Verb} verb @param {object} body
 * @param {(answers: Answers) => void} then @param {string} [word] */
async function each(alerts, verb, body, then, word = WORDS[verb].done) {
  const answers = new Map();
  for (let at = 0; at < alerts.length; at += AT_ONCE) {
    await Promise.all(alerts.slice(at, at + AT_ONCE).map(async ({ id }) => {
      try {
        await post(`/alerts/${id}/${verb}`, body);
        answers.set(id, "");
      } catch (error) {
        if (alerts.length === 1) throw error;
        answers.set(id, error instanceof Problem ? error.message : String(error));
      }
    }));
  }
  const done = [...answers.values()].filter((wrong) => !wrong).length;
  const said = alerts.length === 1 ? `It is ${word}.` : `${done} of ${alerts.length} ${word}.`;
  toast(said, done < alerts.length ? { kind: "failed" } : {});
  lookAgain();
  then(answers);
}

/** @returns {import("../../ui/ask.js").FieldOf[]} */
function until() {
  const in_ = (/** @type {number} */ hours) => new Date(Date.now() + hours * 3_600_000);
  const monday = (8 - new Date(`${asField(new Date())}Z`).getUTCDay()) % 7 || 7;
  /** @type {[string, string][]} each with its time */
  const presets = [
    ["In an hour", in_(1).toISOString()], ["In four hours", in_(4).toISOString()],
    ["Tomorrow at 9:00", morning(1)], ["Monday at 9:00", morning(monday)],
  ];
  return [
    {
      name: "preset", label: "Until", type: "radio", required: true, value: presets[0]?.[1] ?? "",
      options: [...presets.map(([name, at]) => /** @type {[string, string]} */ ([at, name])), ["", "Another time:"]],
    },
    {
      name: "other", label: "Another time", type: "datetime-local",
      min: asField(new Date()), max: asField(in_(24 * 30)), hint: "30 days ahead at most",
    },
  ];
}
