/** Light or dark: as the system says, or as the reader chose on this device. */
import { signal, effect } from "../lib.js";

/** @typedef {"auto" | "light" | "dark"} Theme */
const KEY = "baton.theme";
const ORDER = /** @type {Theme[]} */ (["auto", "light", "dark"]);

const kept = /** @type {Theme} */ (localStorage.getItem(KEY));
export const theme = signal(ORDER.includes(kept) ? kept : "auto");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

export function nextTheme() {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "auto";
}
