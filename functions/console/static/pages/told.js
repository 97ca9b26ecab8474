/** What the browser says while nobody looks at the console: chosen by each person on each device. */
import { html, useState } from "../lib.js";
import { choose, CHOICES, chosen } from "../core/told.js";

/** @type {Record<string, string>} */
const STATES = {
  granted: "The browser may show them.",
  denied: "The browser was told not to show any: allow it beside the page's address, and come back.",
  default: "The browser asks you once, when you choose one.",
  none: "This browser has none for pages such as this one.",
};

export default function Told() {
  const [permission, setPermission] = useState("Notification" in window ? Notification.permission : "none");
  const change = async (/** @type {import("../core/told.js").Choice} */ choice, /** @type {boolean} */ isOn) => {
    choose(choice, isOn);
    if (permission === "default") setPermission(await Notification.requestPermission());
  };
  return html`<div class="head"><h1>Notifications</h1></div>
    <section class="card making" aria-labelledby="what"><h2 id="what">Tell me, while I don't look at the console</h2>
      ${CHOICES.map(([choice, title]) => html`<p key=${choice}><label>
        <input type="checkbox" checked=${chosen.value.includes(choice)} disabled=${permission === "none"}
          onChange=${() => change(choice, !chosen.value.includes(choice))} /> ${title}</label></p>`)}
      <p role="status">${STATES[permission]}</p>
      <p class="faint">For you alone, in this workspace, on this device; while a tab of the console is open. Each thing
        ${" "}is told once, with its title and no more. A click on it opens it.</p>
    </section>`;
}
