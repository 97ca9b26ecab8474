/** The time zone in which the console says times, and reads those that one types. */
import { computed, effect, signal } from "../lib.js";
import { get } from "./api.js";
import { isSignedIn, onSignOut } from "./session.js";
import { local } from "./storage.js";

const KEY = "baton.zone";
const KNOWN_MS = 5 * 60_000;

/** The device's own. */
export const HERE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** Empty: the device's; `workspace`: the workspace's; else a name of IANA. Kept on this device. */
export const chosen = signal(local.getItem(KEY) ?? "");
/** The workspace's, once it was asked for. */
export const workspaceZone = signal("");

export const zone = computed(() => {
  const name = chosen.value === "workspace" ? workspaceZone.value : chosen.value;
  return isZone(name) ? name : HERE;
});

/** @param {string} name */
export function isZone(name) {
  try {
    return Boolean(name && new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

let askedAt = 0;
onSignOut(() => {
  askedAt = 0;
  workspaceZone.value = "";
});
effect(() => {
  local.setItem(KEY, chosen.value);
  if (isSignedIn.value && chosen.value === "workspace") learn();
});

/** Asks for the workspace's zone, where somebody wants to see it. */
export function learn() {
  if (Date.now() - askedAt < KNOWN_MS) return;
  askedAt = Date.now();
  get("/workspace/settings").then((settings) => { workspaceZone.value = settings.time_zone; }, () => { askedAt = 0; });
}

/** Whose zones a time is said in: the same one once. @returns {[string, string][]} */
export function zones() {
  /** @type {Map<string, string[]>} */
  const named = new Map();
  for (const [whose, name] of [["Yours", zone.value], ["Workspace's", workspaceZone.value], ["UTC", "UTC"]]) {
    if (name) named.set(/** @type {string} */ (name), [...named.get(name) ?? [], /** @type {string} */ (whose)]);
  }
  return [...named].map(([name, whose]) => [whose.join(", "), name]);
}
