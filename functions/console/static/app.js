/** The console's beginning: a session, then the page that the address names. */
import { html, render } from "./lib.js";
import { isSignedIn, keepAlive, redeemFromAddress } from "./core/session.js";
import "./core/theme.js";
import { Shell } from "./ui/shell.js";
import { SignIn } from "./ui/signin.js";

function App() {
  return isSignedIn.value ? html`<${Shell} />` : html`<${SignIn} />`;
}

await redeemFromAddress();
keepAlive();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
