/** Questions at the desk of approvals: which one is chosen, what of it is on the screen, what a key does to it. */
import { useState } from "../../lib.js";
import { approve, change, refuse, reply, standing } from "./acts.js";
import { useQuestions } from "./list.js";

/** @typedef {import("./one.js").Act} Act */
/** @typedef {import("./one.js").Shown} Shown */
/** @typedef {Record<"task" | "question" | "of", string | null>} Stop what is chosen, in the address */

/** @type {Stop} */
export const NOWHERE = { task: null, question: null, of: null };
/** @param {string} id of a task */
export const atTask = (id) => ({ ...NOWHERE, task: id });
/** @param {{id: string, task_id: string}} question */
export const atQuestion = (question) => ({ ...NOWHERE, question: question.id, of: question.task_id });

/** One that waits no more is chosen by its address. @param {Record<string, string>} query */
export function useAsks(query) {
  const asks = useQuestions(query.q ?? "");
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const { question = "", of = "" } = query;
  const isNamed = /^\w+$/.test(question) && /^\w+$/.test(of);
  const chosen = asks.questions.find((each) => each.id === question)
    ?? (isNamed ? { id: question, task_id: of } : null);
  return { ...asks, chosen, shown, setShown };
}

/** What a key means for a question that is no action. @type {Partial<Record<Act, typeof approve>>} */
const SAID = { approve: reply, reply, refuse };
const ALLOWED = { approve, reply: approve, change, standing, refuse };

/** @param {Shown} shown @param {Act} act @param {() => void} then @param {unknown} [proposed] */
export function decideOn({ seen }, act, then, proposed) {
  if (seen.kind !== "action") SAID[act]?.(seen, then);
  else if (act === "change") change(seen, then, proposed);
  else ALLOWED[act](seen, then);
}
