/** The way in by a link. A link that others made must not say unseen in whose name, and where, one acts: each asks
 * first. */
import { html } from "../lib.js";
import { codeFromAddress, lastUsed, lookAt } from "../core/sessions.js";
import { changeTo, ended, isSignedIn, redeem, sessionId, who, workspace } from "../core/session.js";
import { failed, toast } from "../core/toasts.js";
import { ask } from "./ask.js";
import { Said } from "./parts.js";

/** Asks about the code in the address, if there is one. It is used up by the answer, not by the question. */
export async function offerLink() {
  const code = codeFromAddress();
  if (!code) return;
  try {
    const offer = await lookAt(code);
    if (offer.who === who.value && offer.workspace === workspace.value) {
      toast("You are signed in as the link says.");
      return;
    }
    ask({
      title: "Sign in by this link?",
      text: html`<p>It signs you in as ${named(offer)}.</p>
        ${isSignedIn.value && html`<p>This tab is of ${named({ who: who.value, workspace: workspace.value })}, who
          ${" "}stays signed in in other tabs.</p>`}
        <p>Go on only if you made the link yourself. Under a name of somebody else, what you type and decide is
          ${" "}theirs.</p>`,
      confirm: "Sign in by the link",
      keep: isSignedIn.value ? "Keep as it is" : "Don't sign in",
      isOfNobody: true,
      run: () => redeem(offer),
    });
  } catch (error) {
    if (isSignedIn.value) failed("The link's code doesn't work", error);
    else ended.value = `The link's code didn't work: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Who this tab is of: another one who is signed in here, or whoever signs in next. */
export function askWhose() {
  const here = lastUsed().map((one) => /** @type {[string, any]} */ ([one.id, named(one)]));
  ask({
    title: "Whose is this tab?",
    text: "Each tab is of one person in one workspace. Others stay as they are.",
    fields: [{
      name: "session",
      label: "It goes on as",
      type: "radio",
      required: true,
      value: sessionId.value,
      options: [...here, ["", "somebody else, who signs in"]],
    }],
    confirm: "Go on",
    isOfNobody: true,
    run: ({ session }) => (session === sessionId.value ? undefined : changeTo(session || null)),
  });
}

/** @param {{who: string, workspace: string}} of */
const named = (of) => html`<strong><${Said} of=${of.who} /></strong> in the workspace${" "}
  <strong><${Said} of=${of.workspace} /></strong>`;
