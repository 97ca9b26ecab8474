/** The console's beginning: a session, then the page that the address names. */
import { html, render } from "./lib.js";
import { isSignedIn, keepAlive, redeem, redeemFromAddress, who } from "./core/session.js";
import "./core/theme.js";
import { ask } from "./ui/ask.js";
import { Shell } from "./ui/shell.js";
import { SignIn } from "./ui/signin.js";

function App() {
  return isSignedIn.value ? html`<${Shell} />` : html`<${SignIn} />`;
}

const offered = await redeemFromAddress();
keepAlive();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
if (offered) {
  ask({
    title: "Sign in by this link?",
    text: `You are signed in as ${who.value}. The link signs in whoever made it: go on only if that was you.`,
    confirm: "Sign in by the link",
    run: () => redeem(offered),
  });
}
