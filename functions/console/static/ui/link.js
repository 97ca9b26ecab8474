/** The way in by a link. A link that others made must not say unseen in whose name, and where, one acts: each asks first. */
import { html } from "../lib.js";
import { codeFromAddress, ended, isSignedIn, lookAt, redeem, who, workspace } from "../core/session.js";
import { failed } from "../core/toasts.js";
import { ask } from "./ask.js";
import { Said } from "./parts.js";

/** Asks about the code in the address, if there is one. It is used up by the answer, not by the question. */
export async function offerLink() {
  const code = codeFromAddress();
  if (!code) return;
  try {
    const offer = await lookAt(code);
    ask({
      title: "Sign in by this link?",
      text: html`<p>It signs you in as <strong><${Said} of=${offer.who} /></strong> in the workspace <strong><${Said} of=${offer.workspace} /></strong>.</p>
        ${isSignedIn.value && html`<p>You are signed in as <strong><${Said} of=${who.value} /></strong> in <strong><${Said} of=${workspace.value} /></strong>: that session ends.</p>`}
        <p>Go on only if you made the link yourself. Under a name of somebody else, what you type and decide is theirs.</p>`,
      confirm: "Sign in by the link",
      keep: isSignedIn.value ? "Keep as it is" : "Don't sign in",
      isOfNobody: true,
      run: () => redeem(code),
    });
  } catch (error) {
    if (isSignedIn.value) failed("The link's code doesn't work", error);
    else ended.value = `The link's code didn't work: ${error instanceof Error ? error.message : String(error)}`;
  }
}
