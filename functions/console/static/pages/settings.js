/** The workspace's settings: what each means, and a change that is based on the version that was read. */
import { html, useState } from "../lib.js";
import { change } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { useTyped } from "../core/typed.js";
import { workspaceZone } from "../core/zone.js";
import { Key, Loading, Trouble } from "../ui/parts.js";
import { changesOf, GROUPS, isPending, shown, WAITS } from "./settings/fields.js";
import { Rules } from "./settings/rules.js";

/** @typedef {import("./settings/fields.js").Setting} Setting */
/** @typedef {import("api").SettingsView} Settings */

export default function SettingsPage() {
  const { data, problem, isLoading } = useLive("/workspace/settings", { everyMs: 5000 });
  const settings = /** @type {Settings | null} */ (data);
  return html`<div class="head">
      <h1>Settings</h1>
      ${settings && html`<span class="faint">version ${settings.version}</span>`}
    </div>
    <p class="faint">They hold for the whole workspace. Notion's are on
      the <a href=${address("/tracker")}>tracker's page</a>.</p>
    <${Trouble} of=${problem} what="The settings can't be read." />
    ${isLoading ? html`<${Loading} />` : settings && html`<${Form} now=${settings} /><${Rules} of=${settings} />`}`;
}

/** `base`: the settings that the changes are based on; those of another version came in the meantime.
 * @param {{now: Settings}} props */
function Form({ now }) {
  const typed = /** @type {{base: Settings, texts: Record<string, string>} | undefined} */ (
    useTyped("settings", () => (names.length > 0 ? { base, texts } : undefined)));
  const [base, setBase] = useState(typed?.base ?? now);
  const [texts, setTexts] = useState(typed?.texts ?? {});
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  const changes = changesOf(texts, base);
  const names = Object.keys(changes);
  if (base.version < now.version && names.length === 0) setBase(now);
  const set = (/** @type {string} */ name, /** @type {string} */ text) => setTexts({ ...texts, [name]: text });
  const forget = () => { setTexts({}); setTrouble(null); setBase(now); };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isBusy || names.length === 0) return;
    setBusy(true);
    setTrouble(null);
    try {
      const answer = await change("PUT", "/workspace/settings", { ...changes, version: base.version });
      setTexts({});
      if (isPending(answer)) {
        toast(WAITS);
        setBusy(false);
        lookAgain();
        return;
      }
      const saved = /** @type {Settings} */ (answer);
      setBase(saved);
      workspaceZone.value = saved.time_zone;
      toast("Saved: it holds from now on, limits of callers within a minute.");
    } catch (error) {
      setTrouble(error);
    }
    setBusy(false);
    lookAgain();
  };
  useKeys("Settings", { Escape: { does: "forget the changes", run: forget } });
  return html`<form class="settings" onSubmit=${save}>
    ${base.version < now.version && html`<p class="notice" role="status">
      Somebody else has changed the settings since you began. Yours are kept here, and can't be saved over theirs.${" "}
      <button type="button" onClick=${() => { setBase(now); setTrouble(null); }}>
        Base them on version ${now.version}</button></p>`}
    ${GROUPS.map((group) => html`<fieldset class="card" key=${group.title}><legend>${group.title}</legend>
      ${group.settings.map((setting) => html`<${Row} key=${setting.name} of=${setting}
        text=${texts[setting.name] ?? shown(setting, base)}
        isChanged=${(texts[setting.name] ?? shown(setting, base)) !== shown(setting, base)} set=${set} />`)}
    </fieldset>`)}
    <${Trouble} of=${trouble} what="Nothing was saved." />
    <div class="row save">
      <button type="submit" class="primary" aria-disabled=${isBusy || names.length === 0}>
        ${isBusy ? "Saving …" : names.length > 0 ? `Save ${names.length} changed` : "Nothing is changed"}</button>
      ${names.length > 0 && html`<button type="button" onClick=${forget}>Forget the changes <${Key}>Esc<//></button>`}
    </div>
  </form>`;
}

/** @param {{of: Setting, text: string, isChanged: boolean, set: (name: string, text: string) => void}} props */
function Row({ of, text, isChanged, set }) {
  const id = `setting-${of.name}`;
  const common = { id, "aria-describedby": `${id}-means`,
    onInput: (/** @type {any} */ event) => set(of.name, event.target.value) };
  return html`<div class="setting">
    <label for=${id}>${of.title}${isChanged && html` <span class="flag">changed</span>`}</label>
    <div>${control(of, text, common)} ${of.unit && html`<span class="faint">
      ${of.unit}, ${of.from?.toLocaleString()} to ${of.to?.toLocaleString()}</span>`}</div>
    <p id=${`${id}-means`} class="faint">${of.means} <code>${of.name}</code></p>
  </div>`;
}

/** @param {Setting} of @param {string} text @param {Record<string, unknown>} common */
function control(of, text, common) {
  if (of.type === "number") return html`<input ...${common} type="number" required min=${of.from} max=${of.to}
    value=${text} />`;
  if (of.type === "lines") return html`<textarea ...${common} rows="3" value=${text}></textarea>`;
  if (of.type === "text") return html`<input ...${common} type="text" required value=${text} autocomplete="off" />`;
  const choices = of.type === "switch" ? [["true", "on"], ["false", "off"]]
    : (of.choices ?? []).map((each) => [each, each]);
  return html`<select ...${common}>
    ${choices.map(([value, word]) => html`<option value=${value} selected=${value === text}>${word}</option>`)}
  </select>`;
}
