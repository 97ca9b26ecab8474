/** The bell: a connection that rings when something has changed. While it is heard, nothing is asked for again by
 * itself; while it isn't, for whatever reason, all is as if there were none (docs/spec/bell.md). A ring is a hint: it
 * only makes the page look. */
import { effect, signal } from "../lib.js";
import { calm, get, isOnline, pause, post } from "./api.js";
import { sessionId } from "./session.js";
import { local } from "./storage.js";
import { toast } from "./toasts.js";

/** True while a change would be heard of. */
export const isHeard = signal(false);

/** A bell that answers later is silent. */
const ANSWERED_MS = 10_000;
/** A person who returns often causes one poll in this time: Baton closes a connection that polls too often. */
const BACK_MS = 10_000;
/** A bell that refuses does so for a minute. */
const REFUSED_MS = 60_000;
const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
/** So many failures are no accident any more. */
const TOLD_AFTER = 3;
const TOLD = "baton.bell-told";
/** What tells that a person is back. What no ring tells is looked at then, and a connection that was lost in a sleep is
 * found. */
const BACK = ["visibilitychange", "focus", "online"];

/** What a ring does: looks once, and so many times after it. @typedef {(following?: number) => void} Rung */

/** Listens as long as a session lasts. @param {Rung} rung */
export function keepListening(rung) {
  effect(() => {
    if (!sessionId.value) return undefined;
    const stop = new AbortController();
    void listenAgain(stop.signal, rung);
    return () => stop.abort();
  });
}

/** Who lost the connection looks first, then listens again: each time after twice as long, and never all at once.
 * @param {AbortSignal} stop @param {Rung} rung */
async function listenAgain(stop, rung) {
  let failures = 0;
  await calm();
  for (;;) {
    const over = await listened(stop, rung).catch(() => "failed");
    isHeard.value = false;
    if (stop.aborted) return;
    rung();
    failures = over === "heard" ? 0 : failures + 1;
    if (over === "off") tell("This deployment has no bell: what changes is asked for every two seconds.");
    else if (failures >= TOLD_AFTER && isOnline.value) tell("The bell isn't heard: what changes is asked for every "
      + "two seconds, until it is.");
    const isSilent = over === "off" || failures >= TOLD_AFTER;
    const again = over === "refused" ? REFUSED_MS : Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
    await Promise.race([
      pause(over === "off" ? LONGEST_MS : again * (1 + Math.random())),
      ended(stop),
    ]);
    if (isSilent) await looked(stop);
    if (stop.aborted) return;
  }
}

/** Once in this browser, until it is heard again. @param {string} words */
function tell(words) {
  if (local.getItem(TOLD) !== words) toast(words);
  local.setItem(TOLD, words);
}

/** Returns once the connection is over.
 * @param {AbortSignal} stop @param {Rung} rung @returns {Promise<"off" | "failed" | "heard" | "refused">} */
async function listened(stop, rung) {
  const { url, look_seconds: everySeconds } = /** @type {import("api").BellView} */ (await get("/bell", stop));
  if (url === null) return "off";
  const { ticket } = await post("/bell/tickets", {}, { isQuiet: true });
  if (stop.aborted) return "failed";
  const socket = new WebSocket(`${url}?listen=lists`, ["baton", `baton.ticket.${ticket}`]);
  return new Promise((over) => {
    let wasHeard = false;
    let askedAt = 0;
    const end = () => {
      clearTimeout(timer);
      for (const name of BACK) removeEventListener(name, back);
      socket.onopen = () => socket.close(); // a browser reports one that is closed while it is opened
      if (socket.readyState !== WebSocket.CONNECTING) socket.close();
      over(wasHeard ? "heard" : "failed");
    };
    let timer = setTimeout(end, ANSWERED_MS);
    const ask = () => {
      clearTimeout(timer);
      timer = setTimeout(end, ANSWERED_MS);
      askedAt = performance.now();
      socket.send('{"action":"look"}');
    };
    const look = () => { rung(0); ask(); };
    const back = () => {
      if (!isHeard.value || document.visibilityState !== "visible") return;
      if (performance.now() - askedAt < BACK_MS) rung(0);
      else look();
    };
    socket.onopen = ask;
    socket.onclose = end;
    socket.onmessage = ({ data }) => {
      const told = JSON.parse(data);
      if ("looked" in told) {
        clearTimeout(timer);
        timer = setTimeout(look, 1000 * everySeconds);
        isHeard.value = true;
        if (!wasHeard) rung();
        wasHeard = true;
        local.removeItem(TOLD);
      } else if ("refused" in told) {
        over("refused");
        end();
      } else if ("ring" in told) rung();
    };
    stop.addEventListener("abort", end, { once: true });
    for (const name of BACK) addEventListener(name, back);
  });
}

/** @param {AbortSignal} stop @returns {Promise<void>} */
const ended = (stop) => new Promise((done) => { stop.addEventListener("abort", () => done(), { once: true }); });

/** Until the page is looked at. @param {AbortSignal} stop @returns {Promise<void>} */
export function looked(stop) {
  if (document.visibilityState === "visible" || stop.aborted) return Promise.resolve();
  return new Promise((done) => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    stop.addEventListener("abort", () => done(), { once: true });
  });
}
