/** How the console looks: its colours, how close its rows stand, whether times are ages. Chosen on this device. */
import { signal, effect } from "../lib.js";
import { local } from "./storage.js";

/** The first one holds until another is chosen. @template {string} T @param {string} name @param {T[]} of */
function kept(name, of) {
  const before = /** @type {T} */ (local.getItem(`baton.${name}`));
  const choice = signal(of.includes(before) ? before : /** @type {T} */ (of[0]));
  effect(() => {
    document.documentElement.dataset[name] = choice.value;
    local.setItem(`baton.${name}`, choice.value);
  });
  return choice;
}

export const THEMES = /** @type {("auto" | "light" | "dark")[]} */ (["auto", "light", "dark"]);
export const DENSITIES = /** @type {("comfortable" | "compact")[]} */ (["comfortable", "compact"]);
export const TIMES = /** @type {("ages" | "exact")[]} */ (["ages", "exact"]);
export const theme = kept("theme", THEMES);
export const density = kept("density", DENSITIES);
export const times = kept("times", TIMES);

/** @template T @param {import("../vendor/signals.js").Signal<T>} choice @param {T[]} of */
const turn = (choice, of) => { choice.value = /** @type {T} */ (of[(of.indexOf(choice.value) + 1) % of.length]); };
export const nextTheme = () => turn(theme, THEMES);
export const nextDensity = () => turn(density, DENSITIES);
export const nextTimes = () => turn(times, TIMES);
