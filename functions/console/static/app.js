/** The console's beginning: a session, then the page that the address names. */
import { html, render } from "./lib.js";
import { pause } from "./core/api.js";
import { keepListening } from "./core/bell.js";
import { rung } from "./core/live.js";
import { keepTelling } from "./core/told.js";
import { keepCounting } from "./core/waiting.js";
import { begin, isLeaving, isSignedIn, sessionId } from "./core/session.js";
import "./core/theme.js";
import { Asking } from "./ui/ask.js";
import { Batches } from "./ui/batch.js";
import { offerLink } from "./ui/link.js";
import { loadPage, Shell } from "./ui/shell.js";
import { SignIn } from "./ui/signin.js";

/** A session has a frame of its own: nothing that one person's page holds is there for the next. */
function App() {
  const page = isLeaving.value ? html`<main class="signin" id="content">
      <p role="status">Signing out: what is on its way is sent first …</p>
    </main>`
    : isSignedIn.value ? html`<${Shell} key=${sessionId.value} />`
    : html`<${SignIn} />`;
  return html`${page}<${Asking} /><${Batches} />`;
}

/** For so long the page's file is waited for, so that it is drawn and asks with the frame, not after it; and what the
 * frame asks. */
const FILE_MS = 300, FRAME_MS = 2000;

await begin();
const file = isSignedIn.value ? loadPage() : undefined;
await Promise.race([file, pause(FILE_MS)]);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
addEventListener("hashchange", () => { void offerLink(); });
void offerLink();
await Promise.race([file, pause(FRAME_MS)]);
keepListening(rung);
keepCounting();
keepTelling();
