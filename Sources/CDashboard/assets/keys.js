// The keyboard. Single keys can be turned off (WCAG 2.1.4), and never act in a field, with a modifier or in a question.

import { open } from "./dialog.js";
import { $, $$, el } from "./dom.js";

const KEYS = [
  ["/", "Find a name, a pattern or an id; an id opens its job"],
  ["g then o w j f d l", "Overview, Waiting, Jobs, Failed, Drop, Changes"],
  ["j k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row; with Shift and a click up to here"],
  ["n", "Show what has come in meanwhile"],
  ["r", "Retry this job, or what is selected; asks first"],
  ["Esc", "Clear the selection, close"],
  ["?", "This list"],
];
const PLACES = { o: "/", w: "/waiting", j: "/jobs", f: "/failed", d: "/drop", l: "/changes" };
const ROWS = "main tbody tr, main .list > li, main .fg, main .need > li";

const store = {
  // Storage may be forbidden; then the keys are on.
  get on() {
    try {
      return localStorage.getItem("keys") !== "off";
    } catch {
      return true;
    }
  },
  set on(is) {
    try {
      localStorage.setItem("keys", is ? "on" : "off");
    } catch {
      // It holds for this page only, which is what can be had.
    }
  },
};

let at;
let pending = "";

const rows = () => $$(ROWS).filter((row) => row.offsetParent && $("a, button, input", row));

function step(by) {
  const all = rows();
  if (!all.length) return;
  const from = at?.isConnected ? all.indexOf(at) : -1;
  at?.removeAttribute("data-at");
  at = all[Math.max(0, Math.min(all.length - 1, from + by))];
  at.setAttribute("data-at", "");
  $("a.row, a, button", at)?.focus({ preventScroll: true });
  at.scrollIntoView({ block: "nearest" });
}

/** The list of keys. */
export function showKeys() {
  const terms = KEYS.map(([keys, does]) => [
    el(
      "dt",
      keys.split(" ").map((key) => (key === "then" ? " then " : [el("kbd", key), " "])),
    ),
    el("dd", does),
  ]);
  const box = el("input", {
    type: "checkbox",
    id: "keys-on",
    checked: store.on,
    onchange: () => {
      store.on = box.checked;
    },
  });
  return open(
    "Keyboard shortcuts",
    [el("dl.keymap", terms), el("label", box, " Single-key shortcuts are on")],
    [el("button.b.main", { type: "submit", value: "", autofocus: true }, "Close")],
  );
}

const single = {
  "/": () => $("#find").focus(),
  "?": showKeys,
  n: () => $("[data-newer]")?.click(),
  r: () => ($("#float [data-verb=retry]") ?? $("main .title [data-verb=retry]"))?.click(),
  j: () => step(1),
  k: () => step(-1),
  x: () => at && $("input[type=checkbox]", at)?.click(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("dialog[open]")) return;
  if (event.key === "Escape") {
    $("#clear-selection")?.click();
    return;
  }
  if (event.target.matches?.("input:not([type=checkbox], [type=radio]), select, textarea") || !store.on) return;
  const place = pending === "g" && PLACES[event.key];
  pending = event.key === "g" ? "g" : "";
  if (place && (place !== "/drop" || $("#nav-drop"))) location.assign(place);
  else if (single[event.key]) {
    event.preventDefault();
    single[event.key]();
  }
}

/** What is searched for opens if it is the id of a job. */
function find(event) {
  const text = $("#find").value.trim();
  if (/^[0-9A-HJKMNP-TV-Z]{26}$/i.test(text)) {
    event.preventDefault();
    location.assign(`/jobs/${text.toUpperCase()}`);
  } else if (text === "") event.preventDefault();
}

export function startKeys() {
  addEventListener("keydown", pressed);
  $("#finder").addEventListener("submit", find);
  $("#show-keys").addEventListener("click", showKeys);
}
