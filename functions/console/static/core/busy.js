/** What is on its way, so that whoever has pressed something sees at once that it was heard. */
import { signal, useState } from "../lib.js";

/** Changes that a person waits for. */
export const sending = signal(0);

/** One action at a time, and whether it is on its way: its button is `aria-disabled` then, and keeps the focus.
 * @returns {[boolean, (work: () => Promise<unknown>) => Promise<void>]} */
export function useBusy() {
  const [isBusy, setBusy] = useState(false);
  return [isBusy, async (work) => {
    if (isBusy) return;
    setBusy(true);
    await work().finally(() => setBusy(false));
  }];
}
