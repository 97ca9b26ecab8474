/** The way in: a human's token for a session of this browser, or on as somebody who is signed in here. */
import { html, useState } from "../lib.js";
import { changeTo, ended, lost, signIn } from "../core/session.js";
import { lastUsed } from "../core/sessions.js";
import { isStored } from "../core/storage.js";
import { Said, Trouble } from "./parts.js";

export function SignIn() {
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (isBusy) return;
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const token = String(new FormData(form).get("token") ?? "").trim();
    setBusy(true);
    setTrouble(null);
    try {
      await signIn(token);
    } catch (error) {
      setTrouble(error);
      setBusy(false);
    }
  };
  return html`<main class="signin" id="content">
    <form onSubmit=${submit}>
      <p class="brand"><span aria-hidden="true">⇥</span> Baton</p>
      <h1>Sign in</h1>
      ${!isStored && html`<p class="notice" role="status">This browser stores nothing for this page. You can sign in,
        but after a reload you have to sign in again.</p>`}
      ${ended.value && html`<p class="notice" role="status">${ended.value}</p>`}
      ${lost.value.length > 0 && html`<div class="trouble" role="alert">
        <ul>${lost.value.map((words) => html`<li key=${words}><${Said} of=${words} /></li>`)}</ul>
      </div>`}
      <div class="field">
        <label for="token">Your token</label>
        <input id="token" name="token" type="password" required autocomplete="off" spellcheck="false" autofocus
          placeholder="baton_…" aria-describedby="about" />
      </div>
      <${Trouble} of=${trouble} what="You aren't signed in." />
      <button type="submit" class="primary wide" aria-disabled=${isBusy}>
        ${isBusy ? "Signing in …" : "Sign in"}
      </button>
      <p id="about" class="faint">
        A token of a person; those of agents and services don't open the console. It is exchanged for a session of this
        browser, which lasts while a tab is open, for 12 hours at most. On a computer of several people, sign out when
        you leave.
      </p>
      ${lastUsed().map((one) => html`<button key=${one.id} type="button" class="wide" onClick=${() => changeTo(one.id)}>
        Go on as <strong><${Said} of=${one.who} /></strong> in${" "}
        <strong><${Said} of=${one.workspace} /></strong>
      </button>`)}
    </form>
  </main>`;
}
