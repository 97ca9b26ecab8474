/** The key of a form's request: sent again after a lost answer, the same request is done once. */
import { useRef } from "../lib.js";
import { newKey } from "./api.js";
import { useTyped } from "./typed.js";

/** `of`: the key of a request, a new one for another body. `done`: the next request is a new one, whatever it says. */
export function useOneKey() {
  const last = useRef({ text: "", key: "" });
  const typed = useTyped("key", () => (last.current.text ? last.current : undefined));
  if (typed && !last.current.text) last.current = typed;
  const of = (/** @type {unknown} */ body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: newKey() };
    return last.current.key;
  };
  return { of, done: () => { last.current = { text: "", key: "" }; } };
}
