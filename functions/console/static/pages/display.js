/** How the console looks and says times: chosen on each device. */
import { html, useEffect, useState } from "../lib.js";
import { density, DENSITIES, theme, THEMES, times, TIMES } from "../core/theme.js";
import { exactIn, now } from "../core/time.js";
import { chosen, HERE, isZone, learn, workspaceZone, zones } from "../core/zone.js";

/** @type {Record<string, string>} */
const WORDS = {
  auto: "as the system", light: "light", dark: "dark",
  comfortable: "comfortable", compact: "compact: a third more rows on a screen",
  ages: "ages, such as “4 min ago”", exact: "times, such as “17:13:51”",
};
/** What browsers offer by themselves. */
const NAMES = Intl.supportedValuesOf?.("timeZone") ?? [];

export default function Display() {
  useEffect(learn, []);
  return html`<div class="head"><h1>Display</h1></div>
    <p class="faint">On this device, for whoever uses the console in this browser.</p>
    <section class="card making" aria-labelledby="times"><h2 id="times">Times</h2>
      <${Zone} />
      <${Choice} name="times" title="Shown as" of=${TIMES} choice=${times} />
      <p class="faint">Point at a time, or press <kbd>z</kbd>, for the exact one in your zone, in the workspace's, and
        ${" "}by UTC; <kbd>Z</kbd> turns ages into times everywhere. Days of counts
        ${" "}and of decisions are days of UTC.</p>
      <dl class="zones" aria-label="It is now">${zones().map(([whose, zone]) => html`<div key=${zone}><dt>${whose}</dt>
        <dd>${exactIn(new Date(now.value).toISOString(), zone)}</dd></div>`)}</dl></section>
    <section class="card making" aria-labelledby="looks"><h2 id="looks">Looks</h2>
      <${Choice} name="theme" title="Colours" of=${THEMES} choice=${theme} />
      <${Choice} name="density" title="Rows" of=${DENSITIES} choice=${density} /></section>`;
}

/** @param {{name: string, title: string, of: string[], choice: import("../vendor/signals.js").Signal<string>}} props */
function Choice({ name, title, of, choice }) {
  return html`<fieldset class="field choices"><legend>${title}</legend>${of.map((each) => html`<label key=${each}>
    <input type="radio" name=${name} checked=${choice.value === each} onChange=${() => { choice.value = each; }} />
    <span>${WORDS[each]}</span></label>`)}</fieldset>`;
}

/** A zone that isn't one is said, and not taken. */
function Zone() {
  const named = chosen.value !== "workspace" && chosen.value !== "UTC" ? chosen.value : "";
  const [text, setText] = useState(named);
  const [isOther, setOther] = useState(named !== "");
  const choose = (/** @type {string} */ value) => () => {
    chosen.value = value;
    setOther(false);
  };
  const type = (/** @type {any} */ event) => {
    setText(event.target.value);
    if (isZone(event.target.value.trim())) chosen.value = event.target.value.trim();
  };
  const radio = (/** @type {string} */ value, /** @type {any} */ words) => html`<label><input type="radio" name="zone"
    checked=${!isOther && chosen.value === value} onChange=${choose(value)} /> <span>${words}</span></label>`;
  const isWrong = isOther && text.trim() !== "" && !isZone(text.trim());
  return html`<fieldset class="field choices"><legend>Your time zone</legend>
    ${radio("", `this device's: ${HERE}`)}
    ${radio("workspace", `the workspace's: ${workspaceZone.value || "…"}`)}
    ${radio("UTC", "UTC")}
    <label><input type="radio" name="zone" checked=${isOther} onChange=${() => setOther(true)} />
      <span>another one</span></label>
    ${isOther && html`<div class="field"><label for="zone">Its name</label>
      <input id="zone" list="zones" value=${text} onInput=${type} autocomplete="off" placeholder="Europe/Vienna"
        aria-invalid=${isWrong ? "true" : undefined} aria-describedby="zone-wrong" />
      <datalist id="zones">${NAMES.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
      <p id="zone-wrong" class="wrong">${isWrong
        && "This browser knows no zone of that name. Names are IANA's, such as Europe/Vienna."}</p></div>`}
    </fieldset>`;
}
