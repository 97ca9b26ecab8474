/** What is dear to draw comes a frame late: the key that changed it is answered first. */
import { useEffect, useState } from "../lib.js";

/** Returns the value as it was until the page has been painted once with what is cheap.
 * @template {string | number} T @param {T} value @returns {T} */
export function useDeferred(value) {
  const [drawn, setDrawn] = useState(value);
  useEffect(() => setDrawn(value), [value]); // after the next paint
  return drawn;
}
