// Elements from data. Every value reaches the document as text or as an attribute; nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";
/** What a person opened stays open, what has just changed stays tinted, where the keyboard is stays marked. */
const KEPT = ["open", "data-fresh", "data-at"];
const HANDLERS = ["onclick", "onchange", "oninput", "onsubmit"];

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const isAttributes = (value) => value?.constructor === Object;

function build(node, rest) {
  const attributes = isAttributes(rest[0]) ? rest.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (HANDLERS.includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of rest.flat(9)) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

/** An element: `el("p.soft.small", { id: "hint" }, "text", anotherNode)`. What is undefined, null or false is left out. */
export function el(tag, ...rest) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  return build(node, rest);
}

/** An element of SVG. */
export function svg(tag, ...rest) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElementNS(SVG, name);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  return build(node, rest);
}

/** A sign of the sprite. With a label it stands for a word; without, a word stands beside it. */
export function icon(name, { size = "", label } = {}) {
  const said = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg(`svg.i${size && `.${size}`}`, said, svg("use", { href: `#i-${name}` }));
}

/** Replaces what a node has. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(9).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

const keyOf = (node) => node?.dataset?.key;

/**
 * Makes a tree the same as a fresh one without replacing what is already right, so that focus, selection, scroll
 * positions and whatever the pointer is on stay. Children with a `data-key` are known by it; what has the same
 * `data-own` stays as it is.
 */
export function patch(old, fresh) {
  if (old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    old.replaceWith(fresh);
  } else if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else if (!fresh.dataset.own || old.dataset.own !== fresh.dataset.own) {
    patchAttributes(old, fresh);
    patchChildren(old, fresh);
  }
}

function patchAttributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !KEPT.includes(name)) old.removeAttribute(name);
  }
  for (const name of HANDLERS) {
    if (old[name] !== fresh[name]) old[name] = fresh[name];
  }
}

/** Makes the children of a node those of a fresh one. */
export function patchChildren(old, fresh) {
  const known = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let next = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const mate = keyOf(child) ? known.get(keyOf(child)) : keyOf(next) ? undefined : next;
    if (!mate) {
      old.insertBefore(child, next);
      continue;
    }
    if (mate === next) next = next.nextSibling;
    else old.insertBefore(mate, next);
    patch(mate, child);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}
