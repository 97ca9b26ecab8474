/** The ends of a session: the sentences that explain them, and the parts of a page that act on them. */

/** The deed of a part of the page when a session ends: it forgets the session's data, and returns the losses,
 * as sentences. `id`: the session's while it is valid, for requests that must be sent before; null once it has ended.
 * @typedef {(id: string | null) => string[] | Promise<string[]> | void} Ending */

export const OVER = "Your session is over. Sign in again to go on where you were.";
export const NO_COOKIE = "This browser has no cookie of your session: it was cleared, or it takes none. Sign in again.";
export const ELSEWHERE = "Your session is over: it was ended in another tab, or this browser's data was cleared.";
export const NO_HALF =
  "This browser no longer has its part of your session: its data was cleared, or Baton was updated. Sign in again.";

/** @type {Ending[]} */
export const endings = [];
/** @type {((isSame: boolean) => void)[]} */
export const beginnings = [];

/** State that outlives a part of a page and belongs to a session registers here. @param {Ending} ending */
export const onSignOut = (ending) => { endings.push(ending); };
/** `isSame`: the previous session was the same person's. @param {(isSame: boolean) => void} beginning */
export const onSignIn = (beginning) => { beginnings.push(beginning); };
