/** The browser's storage, which belongs to one scheme, host and port. Memory replaces it if the browser stores nothing
 * for this page. */

const PROBE = "baton.probe";

/** @param {() => Storage} of @returns {Storage} */
function usable(of) {
  try {
    const storage = of();
    storage.setItem(PROBE, "");
    storage.removeItem(PROBE);
    return storage;
  } catch {
    return inMemory();
  }
}

/** @returns {Storage} */
function inMemory() {
  const values = /** @type {Map<string, string>} */ (new Map());
  return {
    get length() { return values.size; },
    key: (at) => [...values.keys()][at] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => { values.set(key, String(value)); },
    removeItem: (key) => { values.delete(key); },
    clear: () => values.clear(),
  };
}

/** Shared by the tabs of this origin. */
export const local = usable(() => localStorage);
/** Of this tab, also after a reload. */
export const tab = usable(() => sessionStorage);

/** False if the stored values end with this page. */
export const isStored = (() => {
  try {
    return local === localStorage;
  } catch {
    return false;
  }
})();

/** @param {Storage} storage @returns {string[]} */
export const keysOf = (storage) => Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "");
