/** Who may decide, how many have to, and whether the reader may: of what an agent asks, and of a handoff by a rule of
 * the settings. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { who } from "../../core/session.js";
import { Ago, Said } from "../../ui/parts.js";

/** `wider`: a group that may, too, as nobody has decided in time.
 * @typedef {{people: string[], group: string | null, wider?: string | null, needed: number,
 *   never: string[]}} Approvers */

/** Why the reader may not decide, in words; empty if they may, as far as the page knows.
 * @param {Approvers | null} of @returns {string} */
export function useWhyNot(of) {
  const groups = [of?.group, of?.wider].flatMap((name) => name ?? []);
  const { data: settings } = useLive(groups.length > 0 ? "/workspace/settings" : null, { everyMs: 30_000 });
  if (!of) return "";
  if (of.never.includes(`human:${who.value}`)) {
    return "You may not decide on this: you asked for it, or made the handoff.";
  }
  const isAnybodys = of.people.length === 0 && groups.length === 0;
  if (isAnybodys || of.people.includes(who.value) || (groups.length > 0 && !settings?.groups)) return "";
  const isMember = groups.some((name) => settings.groups[name]?.includes(who.value));
  return isMember ? "" : "You may not decide on this: others are named below.";
}

/** Rows of facts. @param {Approvers} of @returns {[string, unknown][]} */
export const approverFacts = (of) => [
  ["Who may", html`<${Who} of=${of} />`],
  ["Who may not", of.never.length > 0 && html`<${Said} of=${of.never.join(", ")} />`],
  ["Needed", of.needed === 1 ? "one person" : `${of.needed} different people, who say the same`],
];

/** @param {{of: Approvers}} props */
function Who({ of: { people, group, wider } }) {
  const groups = [group, wider].map((name) => name && html`the group <${Said} of=${name} />`);
  const named = [people.length > 0 && html`<${Said} of=${people.join(", ")} />`, ...groups].filter(Boolean);
  return named.length === 0 ? "any person" : html`${named.map((each, at) => html`${at > 0 && ", and "}${each}`)}`;
}

/** What a rule of the settings asks for before a handoff goes on.
 * @param {{of: import("api").ListedTask["approval"] | undefined}} props */
export function Rule({ of }) {
  const why = useWhyNot(of ?? null);
  if (!of) return null;
  const given = of.given.map((each) => each.by);
  const said = why || (given.includes(who.value) ? "You have approved it: others have to, too." : "");
  return html`${said && html`<p class="notice" role="note">${said}</p>`}
    ${given.length > 0 && html`<p>
      Approved so far by <${Said} of=${given.join(", ")} />:${" "}
      ${given.length} of ${of.needed}.
    </p>`}
    ${of.then_at && html`<p class="faint">
      If nobody has by then, the group <${Said} of=${of.then_group} /> may, too: <${Ago} at=${of.then_at} />.
    </p>`}`;
}
