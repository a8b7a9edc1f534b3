// What is done to selected jobs. An action stands there if it fits some of them, and says how many where not all.

import { VERBS } from "./actions.js";
import { $, el, patchChildren } from "./dom.js";
import { button, plain } from "./parts.js";
import { count } from "./sizes.js";

const FITS = {
  retry: ({ state }) => state === "failed" || state === "cancelled",
  replay: ({ state }) => state === "processed",
  bump: ({ state }) => state === "queued",
  cancel: ({ state }) => ["queued", "running", "deferred"].includes(state),
  dismiss: ({ state, dismissed }) => state === "failed" && !dismissed,
};

function label(verb, fit, rows, everything) {
  const [word] = VERBS[verb];
  return everything || fit.length === rows.length ? word : `${word} ${count(fit.length)} of ${count(rows.length)}`;
}

function bar({ rows, everything, all, act, clear }) {
  // All that match are not known here: the daemon takes those that it can be done to.
  const verbs = Object.keys(FITS)
    .map((verb) => [verb, everything ? rows : rows.filter(FITS[verb])])
    .filter(([verb, fit]) => (everything ? verb !== "bump" : fit.length > 0));
  return el(
    "div.bulk",
    { role: "region", "aria-label": "What is selected", "data-key": "bulk" },
    el("span", everything ? el("b", "All that match") : [el("b", count(rows.length)), " selected"]),
    all && plain("Select all that match", all, ".s"),
    el(
      "span.acts",
      verbs.map(([verb, fit]) =>
        button(label(verb, fit, rows, everything), () => act(verb, fit), {
          classes: verb === "retry" ? ".s.main" : ".s",
          "data-verb": verb,
        }),
      ),
      plain("Clear", clear, ".s", { id: "clear-selection" }),
    ),
  );
}

/**
 * Shows the bar for the selected `rows`, or takes it away. `all` selects all that match, if that is more than is shown;
 * `act(verb, fit)` does something to those that it fits.
 */
export function showBulk(selection) {
  const float = $("#float");
  // A run that is under way stays beside it.
  const runs = [...float.children].filter((child) => child.matches(".run"));
  patchChildren(float, el("div", selection.rows.length > 0 && bar(selection)));
  float.append(...runs);
}
