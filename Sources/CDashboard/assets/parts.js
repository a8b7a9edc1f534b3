// The building blocks of the pages: what a state looks like, a panel, a banner, a table, a button.

import { el, icon, svg } from "./dom.js";
import { isStale } from "./live.js";
import { count } from "./sizes.js";

/** A state has a shape, a word and a colour, in this order of weight: [icon, word]. The colour is the style sheet's. */
const STATES = {
  waiting: ["waiting", "waiting"],
  queued: ["queued", "queued"],
  running: ["running", "running"],
  deferred: ["deferred", "deferred"],
  settling: ["settling", "settling"],
  processed: ["processed", "processed"],
  failed: ["failed", "failed"],
  cancelled: ["cancelled", "cancelled"],
  lost: ["lost", "lost"],
  working: ["running", "working"],
  idle: ["idle", "idle"],
  paused: ["paused", "paused"],
  drained: ["paused", "drained"],
  trouble: ["trouble", "paused by trouble"],
  stalled: ["stalled", "stalled"],
  silent: ["stalled", "does not answer"],
  outside_hours: ["hours", "outside its hours"],
  alive: ["processed", "alive"],
  dead: ["lost", "dead"],
};
export const JOB_STATES = ["queued", "running", "deferred", "settling", "processed", "failed", "cancelled", "lost"];
export const UNFINISHED = ["queued", "running", "deferred", "settling"];

export const stateWord = (name) => STATES[name]?.[1] ?? name;

/** The mark of a state with its word, or with another text. */
export function mark(name, { text, chip, small } = {}) {
  const [shape, word] = STATES[name] ?? ["idle", name];
  return el(
    `span.st.st-${name}${chip ? ".chip" : ""}${small ? ".small" : ""}`,
    icon(shape),
    Array.isArray(text) ? el("span", text) : (text ?? word),
  );
}

/** The mark alone, for a place where the word has no room: readers hear it. */
export function markAlone(name) {
  const [shape, word] = STATES[name] ?? ["idle", name];
  return el(`span.st.st-${name}`, icon(shape, { label: word }));
}

export const code = (text) => text && el("span.code", text);

/** The head of a page: its name, a line below, and what can be done to all of it. */
export function title(head, below, { crumb, acts } = {}) {
  const lines = el("div", crumb && el("p.crumb", crumb), el("h1", head), below && el("p", below));
  return el("div.title", lines, acts?.some(Boolean) && el("div.acts", acts));
}

/** A section with its head. `more` stands at the right of it. */
export function panel(id, head, { beside, more, classes = "", key } = {}, ...content) {
  return el(
    `section.panel${classes}`,
    { "aria-labelledby": `${id}-h`, "data-key": key, id: key },
    el("header", el("h2", { id: `${id}-h` }, head), beside, more && el("span.more", more)),
    content,
  );
}

/** `kind`: bad, warn, hold, note. A banner of the page itself is told to readers by `role`. */
export function banner(kind, sign, lines, { acts, role } = {}) {
  return el(
    `div.panel.banner.${kind}`,
    { role },
    icon(sign, { size: "l" }),
    el("div", lines),
    acts?.some(Boolean) && el("div.acts", acts),
  );
}

/** What stands where there is nothing: what is so, and what would change it. */
export function empty(sign, head, text, action) {
  return el("div.empty", icon(sign), el("h2", head), el("p", text), action);
}

/**
 * A button that changes something. `why` says why it cannot now: it stays where it is, can be reached, and tells it
 * when it is pressed. Every such button stands still while nothing is heard of the daemon.
 */
export function button(label, onclick, { why, classes = "", ...rest } = {}) {
  const reason = isStale() ? "What you see is not current: nothing can be changed now." : why;
  const disabled = reason ? { "aria-disabled": "true", title: reason } : {};
  return el(`button.b${classes}`, { type: "button", "data-act": "", onclick, ...disabled, ...rest }, label);
}

/** A button that only changes what is shown. */
export const plain = (label, onclick, classes = "", rest = {}) =>
  el(`button.b${classes}`, { type: "button", onclick, ...rest }, label);

/** A button in the head of a list that stands still: what came in meanwhile comes when asked. */
export function newer(coming, text, onclick) {
  return coming > 0 && el("button.newer", { type: "button", "data-newer": "", onclick }, text);
}

/** Columns are [head, classes]. Roles are written out, since as cards the table is none to CSS. */
export function table(classes, caption, columns, rows) {
  const head = columns.map(([text, its = ""]) => el(`th${its}`, { role: "columnheader", scope: "col" }, text));
  return el(
    `table.cards${classes}`,
    { role: "table" },
    el("caption.vh", caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)),
    el("tbody", { role: "rowgroup" }, rows),
  );
}

export const row = (attributes, ...cells) => el("tr", { role: "row", ...attributes }, cells);
export const lead = (...content) => el("th.lead", { role: "rowheader", scope: "row" }, content);
export const cell = (classes, attributes, ...content) => el(`td${classes}`, { role: "cell", ...attributes }, content);

/** A figure is a link to the list that it counts; a zero is only a zero. */
export function figure(number, href, label, classes = "") {
  return cell(`.num${number ? classes : ".z"}`, { "data-l": label }, number ? el("a", { href }, count(number)) : "0");
}

/** A list of facts: [name, value] where there is a value. */
export function facts(pairs) {
  const has = ([, value]) => value !== undefined && value !== null && value !== false && value !== "";
  return el(
    "dl.facts",
    pairs.filter(has).map(([name, value]) => [el("dt", name), el("dd", value)]),
  );
}

export function meter(part, whole, low) {
  const width = `${whole > 0 ? Math.round((part / whole) * 100) : 0}%`;
  return svg(
    `svg.meter${low ? ".low" : ""}`,
    { "aria-hidden": "true" },
    svg("rect.bg", { width: "100%", height: 4, rx: 2 }),
    svg("rect.fg", { width, height: 4, rx: 2 }),
  );
}

export const progress = (part, whole, label, classes = "") =>
  el(`progress${classes}`, {
    max: 100,
    value: whole > 0 ? Math.min(100, (part / whole) * 100).toFixed(1) : 0,
    "aria-label": label,
  });

/** The address of a page with a query; what is empty is left out. */
export function address(path, query = {}) {
  const some = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return some.length ? `${path}?${new URLSearchParams(some)}` : path;
}

/** A list in words: `a`, `a and b`, `a, b and c`. */
export function inWords(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
