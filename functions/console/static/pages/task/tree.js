/** Questions about a chain. */

/** @typedef {import("api").ChainNode} ChainNode */

const OPEN = new Set(["needs", "delegated", "next", "claimed", "waiting"]);

/** @param {string} state */
export const isOpen = (state) => OPEN.has(state);

/** Every node, parents first. @param {ChainNode[]} nodes @returns {ChainNode[]} */
export function flat(nodes) {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

/** What came of a task. @param {{nodes: ChainNode[]} | null} chain @param {string} id @returns {ChainNode[]} */
export function below(chain, id) {
  const found = flat(chain?.nodes ?? []).find((node) => node.task_id === id);
  return found ? flat(found.children) : [];
}
