/** Links that sign in: the one-use code of one, and whom it would sign in. */
import { change } from "./api.js";
import { leadTo } from "./router.js";

/** Whom a link signs in. @typedef {{code: string, who: string, workspace: string}} Offer */

/** The one-use code of a link, such as the command line makes: out of the address at once. @returns {string | null} */
export function codeFromAddress() {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code) leadTo("#/");
  return code;
}

/** Whom a code would sign in. It isn't used up by that. @param {string} code @returns {Promise<Offer>} */
export async function lookAt(code) {
  const { principal } = await change("POST", "/sessions/redeem", { code, look: true }, { session: "" });
  return { code, who: principal.id, workspace: principal.workspace };
}
