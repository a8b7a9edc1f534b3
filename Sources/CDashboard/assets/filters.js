// Filters are a GET form: the address is the filter, a link can be sent, and Back works. The page is not loaded anew.

import { $, $$, el } from "./dom.js";
import { pipelines } from "./live.js";

/** What the address asks for: `{ state: ["failed"], name: "*.pdf" }`. */
export function wishes(keys) {
  const all = new URLSearchParams(location.search);
  return Object.fromEntries(
    keys.map((key) => [
      key,
      all
        .getAll(key)
        .flatMap((value) => value.split(","))
        .filter(Boolean),
    ]),
  );
}

export const wish = (key) => new URLSearchParams(location.search).get(key) ?? "";

/** Makes a form say what the address does, and the address what the form does; `changed` reads the list again. */
export function bind(form, changed) {
  const show = () => {
    const now = new URLSearchParams(location.search);
    for (const field of $$("input, select", form)) {
      const values = now.getAll(field.name).flatMap((value) => value.split(","));
      if (field.type === "checkbox" || field.type === "radio")
        field.checked =
          values.includes(field.value) ||
          (field.type === "radio" && !values.length && field.value === (field.dataset.usual ?? ""));
      else field.value = values.join(",");
    }
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    const query = new URLSearchParams(
      [...new FormData(form)].filter(([name, value]) => value && value !== $(`[name=${name}]`, form).dataset.usual),
    );
    const address = query.size ? `?${query}` : "";
    // A field that is left by Enter asks twice.
    if (address === location.search) return;
    history.pushState(null, "", address || location.pathname);
    changed();
  };
  form.onchange = () => form.requestSubmit();
  addEventListener("popstate", () => {
    show();
    changed();
  });
  show();
}

export function pipelineField() {
  const wished = wish("pipeline");
  const known = pipelines().map(({ name }) => name);
  const options = ["", ...known, ...(wished && !known.includes(wished) ? [wished] : [])];
  return el(
    "label",
    "Pipeline",
    el(
      "select",
      { name: "pipeline" },
      options.map((name) => el("option", { value: name }, name || "all")),
    ),
  );
}

export const textField = (label, name, attributes = {}, classes = "") =>
  el(`label${classes}`, label, el("input", { name, spellcheck: "false", autocomplete: "off", ...attributes }));

export const sinceField = (usual = "") =>
  el(
    "label",
    "Since",
    el(
      "select",
      { name: "since", "data-usual": usual || undefined },
      [
        ["", "ever"],
        ["1h", "1 h"],
        ["24h", "24 h"],
        ["7d", "7 d"],
      ].map(([value, text]) => el("option", { value }, text)),
    ),
  );

/** A choice of one or several, shown side by side. */
export function toggles(legend, type, name, choices, usual) {
  return el(
    "fieldset",
    el("legend.legend", legend),
    el(
      "div.toggles",
      choices.map(([value, label]) =>
        el(
          "label.tog",
          el("input", { type, name, value, "data-usual": type === "radio" ? (usual ?? "") : undefined }),
          label,
        ),
      ),
    ),
  );
}

/** Filters that fold on a small screen. */
export function folding(form) {
  const small = matchMedia("(max-width: 51.99rem)").matches;
  return el("details.fold-b", { open: !small || location.search !== "" }, el("summary.b", "Filters"), form);
}
