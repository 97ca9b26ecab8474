/** Warnings about a handoff, a question or an action before a person decides on it: docs/warnings.md. The command line
 * has the same rules in Python; both pass the cases of tests/support/warnings/cases.json. */
import { amountOf } from "./warnings/amounts.js";
import { differences, flatOf, MOST_VALUES, peersOf } from "./warnings/comparison.js";
import { inspected, lookalikes } from "./warnings/inspection.js";
import { finding, inOrder, leaves, short, texts } from "./warnings/places.js";
import { newReferences, references, sensitivePaths } from "./warnings/references.js";

/** @typedef {import("./warnings/places.js").Finding} Finding */
/** `warnings`: by kind, hidden and misleading texts first. `usual`: other differences from the most similar earlier
 * request. `notable`: addresses, accounts, files and commands, if nothing was approved before. `similar`: the
 * number of that request in the list, null if none is similar.
 * @typedef {{warnings: Finding[], usual: Finding[], notable: Finding[], compared: number,
 *   similar: number | null}} Report */

export const MOST_EARLIER = 20;
/** A new reference is named once, not also as a new or changed value. */
const REFERENCES = ["address", "account", "path", "command"];
const PLAIN = ["value", "added"];
/** Full paths of a handoff's view that identify it or record its progress. They differ in every handoff. */
const LEFT_OUT = new Set(["handoff_id", "task_id", "kind", "status", "state", "revision", "digest", "timestamp", "url",
  "completion", "failure", "source.agent_id", "snapshot.taken_at", "snapshot.decision_ids", "snapshot.warning_ids",
  "snapshot.finding_ids", "metadata.workflow_id", "metadata.parent_handoff", "metadata.depth", "metadata.hops",
  "rollback.checkpoint_id", "rolls_back.handoff_id", "rolls_back.task_id", "rolls_back.checkpoint_id",
  "retries.handoff_id", "retries.checkpoint_id", "retries.checkpoint.at", "continues.handoff_id",
  "continues.completion_id", "part_of.handoff_id", "part_of.task_id", "escalation.workflow_id",
  "conversation.earlier", "hops"]);

/** Texts and values of earlier requests, as long as the requests are kept.
 * @type {WeakMap<object, {theirs: import("./warnings/places.js").Text[],
 *   flat: import("./warnings/comparison.js").Flat}>} */
const kept = new WeakMap();

/** @param {unknown} earlier */
function partsOf(earlier) {
  const key = Object(earlier);
  const parts = kept.get(key) ?? { theirs: texts(earlier, LEFT_OUT), flat: flatOf(leaves(earlier, LEFT_OUT)) };
  kept.set(key, parts);
  return parts;
}

/** Inspects a request and compares it with earlier approved ones, the newest first.
 * @param {unknown} now @param {unknown[]} earlier @returns {Report} */
export function report(now, earlier) {
  const mine = texts(now, LEFT_OUT);
  const before = earlier.map(partsOf);
  const theirs = before.flatMap((each) => each.theirs);
  const flat = flatOf(leaves(now, LEFT_OUT));
  const flats = before.map((each) => each.flat);
  const peers = peersOf(flat, flats);
  const found = [...inspected(texts(now)), ...lookalikes(mine, theirs)];
  if (flat.size > MOST_VALUES) found.push(finding("uncompared", "", String(flat.size - MOST_VALUES)));
  if (earlier.length === 0) found.push(finding("first", ""), ...sensitivePaths(mine));
  else found.push(...newReferences(mine, theirs));
  const isUnlike = peers.length === 0 && earlier.length > 0;
  if (isUnlike) found.push(finding("unlike", "", String(earlier.length)));
  const compared = differences(flat, isUnlike ? flats : peers.flatMap((at) => flats[at] ?? []))
    .filter(([{ kind }, isOdd]) => !isUnlike || (isOdd && kind !== "added" && kind !== "removed"));
  const named = new Set(found.filter(({ kind }) => REFERENCES.includes(kind)).map(({ at }) => at));
  found.push(...compared.filter(([{ kind, at }, isOdd]) => isOdd && !(PLAIN.includes(kind) && named.has(at)))
    .map(([each]) => each));
  return {
    warnings: inOrder(found),
    usual: compared.filter(([, isOdd]) => !isOdd).map(([each]) => each),
    notable: earlier.length > 0 ? [] : references(mine),
    compared: earlier.length,
    similar: peers[0] ?? null,
  };
}

/** `earlier`: of a question that was read alone.
 * @typedef {import("api").QuestionView & {earlier?: import("api").BeforeView[]}} Asked */

/** Only actions are compared with earlier ones: approved actions of the same agent and tool. The texts that the target
 * of a handoff tool gets are inspected. @param {Asked} question @returns {Report} */
export function reportOfQuestion(question) {
  const found = compared(question);
  const more = report({ handoff: textsOf(question.handoff ?? {}) }, []).warnings.filter(({ kind }) => kind !== "first");
  return { ...found, warnings: [...namesOf(question, found.warnings), ...inOrder([...found.warnings, ...more])] };
}

const NO_TEXTS = ["target_agent", "conversation_id", "history", "earlier"];

/** Fields of a question's handoff with texts of agents. @param {object} handoff @returns {Record<string, any>} */
export const textsOf = (handoff) =>
  Object.fromEntries(Object.entries(handoff).filter(([name]) => !NO_TEXTS.includes(name)));

/** Names that the API marks by Unicode's table of confusable letters, unless they are marked already.
 * @param {Asked} question @param {Finding[]} found */
const namesOf = ({ warnings = [] }, found) => warnings
  .filter(({ kind, name }) => kind === "looks_like" || !found.some((each) => each.now.includes(name)))
  .map(({ at, name, like }) => finding("confusable", at, name, like ?? ""));

/** @param {Asked} question @returns {Report} */
function compared({ kind, tool, text, arguments: given, options, form, earlier = [] }) {
  const now = { tool, text, arguments: given, options, form };
  if (kind === "action") {
    return report(now, earlier.map((each) => ({ tool, text: each.text, arguments: each.arguments })));
  }
  const found = report(now, []);
  return { ...found, notable: [], warnings: found.warnings.filter((each) => each.kind !== "first") };
}

const AMOUNT = /amount|total|sum|price|cost|value|quantity|count/i;
const TARGET = new RegExp("^(?:to|target|recipient|payee|account|iban|path|file|url|host|address|environment|branch|"
  + "table|name|id)$", "i");
const MOST_OF_GIST = 3;

/** Up to three values with their places: an amount, then addresses, accounts, files and other targets, then the rest.
 * @param {unknown} given @param {boolean} [hasRest] @returns {Finding[]} */
export function gistOf(given, hasRest = true) {
  const all = leaves(given, new Set()).map(({ at, value }) => ({ at, value, name: at.split(".").at(-1) ?? at }));
  const amounts = all.filter(({ value }) => amountOf(value) !== null);
  const amount = amounts.find(({ name }) => AMOUNT.test(name)) ?? amounts[0];
  const named = new Set(references(texts(given)).filter(({ kind }) => kind !== "command").map(({ at }) => at));
  const isTarget = (/** @type {{at: string, name: string}} */ { at, name }) => named.has(at) || TARGET.test(name);
  const targets = all.filter((each) => each !== amount && isTarget(each));
  const others = !hasRest ? [] : all.filter((each) => each !== amount && !isTarget(each));
  return [...(amount ? [amount] : []), ...targets, ...others].slice(0, MOST_OF_GIST)
    .map(({ at, value }) => finding("", at, short(value)));
}
