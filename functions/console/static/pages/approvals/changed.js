/** A decision that is refused as its agent has changed: the agent is shown, and the person is asked again. */
import { html } from "../../lib.js";
import { get, lookedAt } from "../../core/api.js";
import { failed } from "../../core/toasts.js";
import { ask } from "../../ui/ask.js";
import { Data, Said } from "../../ui/parts.js";

export const CHANGED = "agent_changed";

/** Shows the current agent, and asks again. False if it can't be read: there is no decision on an unseen agent.
 * @param {any} problem @param {string} what came before the change @param {string} verb @param {() => void} then */
export async function askAsItIsNow({ agent, changed_by: by, fields }, what, verb, then) {
  const now = await get(`/agents/${agent}`).catch(() => null);
  if (now === null) return false;
  ask({
    title: `${agent} has changed`,
    text: html`<p><${Said} of=${by} /> has changed it since ${what} came. It is now:</p>
      ${fields.map((/** @type {string} */ name) =>
        html`<${Data} key=${name} title=${name} of=${now[name]} open />`)}`,
    confirm: `${verb} for it as it is now`,
    keep: "Leave it waiting",
    run: then,
  });
  return true;
}

/** Shows the agent that a refusal names, and asks again. Raises any other error, and this one if the agent can't be
 * read.
 * @param {any} error @param {string} what @param {string} verb
 * @param {(known: import("../../core/api.js").LookedAt) => Promise<void>} again */
export async function askOfChanged(error, what, verb, again) {
  if (error.code !== CHANGED || !await askAsItIsNow(error.told, what, verb, () => {
    again(lookedAt(error.told)).catch((wrong) => failed(`${verb}: it isn't done`, wrong));
  })) throw error;
}
