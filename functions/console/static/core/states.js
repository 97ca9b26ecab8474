/** A task's states, as every page says them: one word each, for a badge, a filter, a box of a chain and a sentence. */

/** @type {Record<string, string>} */
const WORDS = { needs: "to approve", delegated: "ready", next: "ready by id", claimed: "in progress" };

export const STATES = ["needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled"];

/** @param {string} state as the API says it */
export const stateWord = (state) => WORDS[state] ?? state;
