/** Who may decide, how many have to, and whether the reader may: of what an agent asks, and of a handoff by a rule of
 * the settings. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { who } from "../../core/session.js";
import { Ago, Said } from "../../ui/parts.js";

/** `wider`: a group that may, too, as no decision came in time. `further`: the requirements of other rules.
 * @typedef {{people: string[], group: string | null, wider?: string | null, needed: number | null,
 *   never: string[]}} OneRule */
/** @typedef {OneRule & {further?: OneRule[], by_rule?: boolean}} Approvers */

/** Why the reader may not decide, in words; empty if they may, as far as the page knows.
 * @param {Approvers | null} of @returns {string} */
export function useWhyNot(of) {
  const rules = of ? [of, ...(of.further ?? [])] : [];
  const isGrouped = rules.some((rule) => groupsOf(rule).length > 0);
  const { data: settings } = useLive(isGrouped ? "/workspace/settings" : null, { everyMs: 30_000 });
  if (rules.length === 0) return "";
  if (rules.every((rule) => rule.never.includes(`human:${who.value}`))) {
    return "You may not decide on this: you asked for it, or made the handoff.";
  }
  const mayOne = rules.some((rule) => mayBe(rule, settings?.groups));
  return mayOne ? "" : "You may not decide on this: others are named below.";
}

/** @param {OneRule} of @returns {string[]} */
const groupsOf = (of) => [of.group, of.wider].flatMap((name) => name ?? []);

/** True if the reader may decide by this rule, as far as the page knows.
 * @param {OneRule} of @param {Record<string, string[]> | undefined} members */
function mayBe(of, members) {
  const groups = groupsOf(of);
  if (of.never.includes(`human:${who.value}`)) return false;
  if (of.people.length === 0 && groups.length === 0) return true;
  if (of.people.includes(who.value) || (groups.length > 0 && !members)) return true;
  return groups.some((name) => members?.[name]?.includes(who.value));
}

/** Rows of facts. `needed` is null for a reader who may not read rules.
 * @param {Approvers} of @returns {[string, unknown][]} */
export const approverFacts = (of) => of.needed === null ? [["Chosen by", "a rule of the settings"]] : [
  ["Who may", html`<${Who} of=${of} />`],
  ["Who may not", of.never.length > 0 && html`<${Said} of=${of.never.join(", ")} />`],
  ["Needed", of.needed === 1 ? "one person" : `${of.needed} different people, who say the same`],
  ...(of.further ?? []).map((rule) => /** @type {[string, unknown]} */ (
    ["And also", html`${rule.needed} of <${Who} of=${rule} />`])),
  ["Chosen by", of.by_rule && "a rule of the settings"],
];

/** @param {{of: OneRule}} props */
export function Who({ of: { people, group, wider } }) {
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
  const said = why || (given.includes(who.value) ? "You approved it, and it waits for others." : "");
  const rules = [of, .../** @type {OneRule[]} */ (/** @type {any} */ (of).further ?? [])];
  return html`${said && html`<p class="notice" role="note">${said}</p>`}
    <p>
      ${rules.map((rule, at) => html`${at > 0 ? " And " : "It needs "}${rule.needed}${" "}
        ${rule.needed === 1 ? "approval" : "approvals"} by <${Who} of=${rule} />.`)}${" "}
      ${given.length > 0 ? html`Approved so far by <${Said} of=${given.join(", ")} />: ${given.length} of ${of.needed}.`
    : `0 of ${of.needed} so far.`}
    </p>
    ${of.then_at && html`<p class="faint">
      If nobody has by then, the group <${Said} of=${of.then_group} /> may, too: <${Ago} at=${of.then_at} />.
    </p>`}`;
}
