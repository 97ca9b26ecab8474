/** The console's pages in Node.js: as much of a browser as they need, answers by path, and their requests. */
class Node {
  childNodes = [];
  parentNode = null;
  get nextSibling() { return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) + 1] ?? null; }
  get firstChild() { return this.childNodes[0] ?? null; }
  get textContent() { return this.childNodes.map((each) => each.textContent).join(""); }
  appendChild(child) { return this.insertBefore(child, null); }
  insertBefore(child, before) {
    child.remove();
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, child);
    child.parentNode = this;
    return child;
  }
  removeChild(child) {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
  }
  remove() { this.parentNode?.removeChild(this); }
  contains() { return false; }
  addEventListener(name, run) { (this.listeners ??= {})[name] = run; }
  removeEventListener() {}
}
class Text extends Node {
  nodeType = 3;
  constructor(data) { super(); this.data = data; }
  get textContent() { return String(this.data); }
}
class Element extends Node {
  nodeType = 1;
  attributes = [];
  style = {};
  dataset = {};
  namespaceURI = "http://www.w3.org/1999/xhtml";
  onclick = null;
  onsubmit = null;
  oninput = null;
  constructor(name) { super(); this.localName = name; }
  setAttribute(name, value) { this[name] = value; }
  removeAttribute(name) { delete this[name]; }
  getClientRects() { return [{}]; }
  getBoundingClientRect() { return { bottom: screens.now * 100 }; }
  querySelector() { return null; }
  querySelectorAll() { return []; }
  showModal() {}
  close() {}
  focus() {}
  reset() {}
  scrollIntoView() {}
}
/** The values of the next form. */
export const typed = {};
/** How many screens the article is long. */
export const screens = { now: 1 };
const nothing = () => {};
const page = new Element("document");
const made = { createElement: (name) => new Element(name), createTextNode: (data) => new Text(data), body: new Element("body"),
  createElementNS: (_, name) => new Element(name), createTreeWalker: () => ({ nextNode: () => null }), visibilityState: "visible",
  documentElement: new Element("html"), cookie: "", getElementById: () => null, querySelector: () => new Element("article") };
const storage = { getItem: () => null, setItem: nothing, removeItem: nothing };
const globals = { document: Object.assign(page, made), window: globalThis, localStorage: storage, sessionStorage: storage, Element,
  HTMLElement: Element, innerHeight: 100, CSS: {}, history: { replaceState: nothing, pushState: nothing },
  location: { hash: "#/", href: "https://x/console/", origin: "https://x", pathname: "/console/", reload: nothing },
  addEventListener: nothing, matchMedia: () => ({ addEventListener: nothing }), requestAnimationFrame: (run) => setTimeout(run, 0),
  cancelAnimationFrame: clearTimeout, BroadcastChannel: class { addEventListener() {} postMessage() {} },
  FormData: class { get(name) { return typed[name] ?? null; } [Symbol.iterator]() { return Object.entries(typed)[Symbol.iterator](); } } };
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

/** Answers by the end of a path before its query; others are empty lists. A function gets the body that was sent last, the method and
 * the query: it returns status and answer. */
export const served = {};
export const sent = [];
let reading = 0;
globalThis.fetch = async (url, { method = "GET", body } = {}) => {
  const { pathname: path, searchParams: query } = new URL(url);
  const found = served[Object.keys(served).find((each) => path.endsWith(each))] ?? { items: [], next_cursor: null };
  if (method !== "GET") sent.push(JSON.parse(body));
  const [status, answer] = typeof found === "function" ? found(sent.at(-1), method, query) : [200, found];
  reading += 1;
  setTimeout(() => { reading -= 1; });
  return new Response(JSON.stringify(answer), { status, headers: { "content-type": "application/json" } });
};

const { html, render } = await import("./static/lib.js");
const { Asking } = await import("./static/ui/ask.js");
const { lookAgain } = await import("./static/core/live.js");
const root = new Element("main");
const ROUND_MS = 50, QUIET_ROUNDS = 4;
/** Until the page has read and drawn all. */
async function wait() {
  for (let quiet = 0; quiet < QUIET_ROUNDS; quiet += 1) {
    await new Promise((done) => { setTimeout(done, ROUND_MS); });
    if (reading > 0 || text().includes("Comparing with earlier")) quiet = -1;
  }
}

export async function open(name, params) {
  const { default: Page } = await import(`./static/pages/${name}.js`);
  render(html`<div><${Page} params=${params} /><${Asking} /></div>`, root);
  await wait();
}

/** Brings changes from elsewhere to the page. */
export async function look() {
  lookAgain();
  await wait();
}

/** The text in sight, without folded parts. */
export function text(of = root) {
  const shown = of.localName === "details" && !of.open ? of.childNodes.filter((each) => each.localName === "summary") : of.childNodes;
  return of.nodeType === 3 ? of.textContent : shown.map((each) => text(each)).join(" ");
}

const every = (of) => [of, ...of.childNodes.flatMap(every)];

/** Types into the field of this name. */
export async function type(name, value) {
  typed[name] = value;
  const field = every(root).find((each) => each.name === name);
  field.value = value;
  field.listeners.input.call(field, { type: "input", target: field, currentTarget: field });
  await wait();
}

/** Presses the last button that begins with these words; a form's button sends it. Returns false for a disabled one. */
export async function press(words) {
  const button = every(root).filter((each) => each.localName === "button" && text(each).trim().startsWith(words)).at(-1);
  if (!button || button.disabled) return false;
  let form = button;
  while (form && form.localName !== "form") form = form.parentNode;
  const [at, type] = button.type === "submit" ? [form, "submit"] : [button, "click"];
  at.listeners[type].call(at, { type, preventDefault: nothing, stopPropagation: nothing, currentTarget: at, target: at });
  await wait();
  return true;
}
