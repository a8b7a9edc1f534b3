// Questions. The focus is on "Leave it", Escape is the same, and it goes back to where it was. While one is open the
// page stands still.

import { el } from "./dom.js";
import { nameNode } from "./names.js";
import { count } from "./sizes.js";
import { hold } from "./still.js";

let number = 0;

/** Opens a dialog with a head, content and buttons; comes back with the button's value, or "" if it was left. */
export function open(head, content, buttons) {
  number += 1;
  const id = `ask-${number}`;
  const form = el("form", { method: "dialog" }, el("h2", { id }, head), content, el("div.acts", buttons));
  const dialog = el("dialog", { "aria-labelledby": id }, form);
  const before = document.activeElement;
  hold(id, true);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      hold(id, false);
      if (before?.isConnected) before.focus();
      const data = Object.fromEntries(
        [...form.elements].filter(({ name }) => name).map(({ name, value }) => [name, value]),
      );
      resolve({ answer: dialog.returnValue, data });
    });
  });
}

/**
 * Asks before something is changed. `yes` repeats the verb and the count. Comes back with the fields of the question, or
 * nothing if it was left.
 */
export async function question(head, content, yes) {
  const { answer, data } = await open(head, content, [
    el("button.b", { type: "submit", value: "", autofocus: true }, "Leave it"),
    el("button.b.main", { type: "submit", value: "yes" }, yes),
  ]);
  return answer === "yes" ? data : undefined;
}

/** Tells something that has to be read, such as why some of many were refused. */
export const tell = (head, content) =>
  open(head, content, [el("button.b.main", { type: "submit", value: "", autofocus: true }, "Close")]);

/** The first names of what is about to be changed. `records` are names as the API gives them, or text. */
export function names(records, all = records.length) {
  if (!records.length) return false;
  const shown = records
    .slice(0, 5)
    .map((record) => el("li", nameNode(typeof record === "string" ? { name: record } : record)));
  return el(
    "ul.names",
    { tabindex: 0, role: "group", "aria-label": "The first names" },
    shown,
    all > shown.length && el("li.dim", `and ${count(all - shown.length)} more`),
  );
}

/** A field of a question. */
export const field = (label, control) => el("label.f", label, control);
