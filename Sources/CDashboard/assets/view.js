// How a page is drawn: a function makes a fresh tree of what is known, and only what differs is changed in the document.

import { el, fill, patchChildren } from "./dom.js";
import { on } from "./live.js";
import { complain, markActions } from "./shell.js";
import { held, onHold } from "./still.js";

/**
 * Draws `view()` into a node: at once, whenever the daemon has said something, and when the function that comes back is
 * called. While the page stands still nothing is drawn but what `drawn.now()` asks for.
 */
export function drawn(root, view) {
  let wanted = false;
  const now = () => {
    wanted = false;
    patchChildren(root, el("div", view()));
    markActions();
  };
  const later = () => {
    if (wanted || held()) return;
    wanted = true;
    // Whoever holds the page in between has it drawn when it goes on.
    requestAnimationFrame(() => {
      if (!wanted) return;
      wanted = false;
      if (!held()) now();
    });
  };
  on("state", later);
  onHold(later);
  now();
  return Object.assign(later, { now });
}

/** Says that the page waits for its data, if it does so for long enough to be noticed. */
export async function patiently(root, promise) {
  const timer = setTimeout(() => fill(root, el("p.dim.waiting", { role: "status" }, "Asking the daemon…")), 300);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    if (root.firstElementChild?.matches(".waiting")) fill(root);
  }
}

/** At most one call each `least` milliseconds, the last one always; a call that runs is waited for. */
export function calmly(least, work) {
  let wanted = false;
  let busy = false;
  const run = async () => {
    if (busy) return;
    busy = true;
    while (wanted) {
      wanted = false;
      try {
        await work();
      } catch (problem) {
        // The page keeps what it has; whether to believe it the mark at the top tells.
        if (problem.status && problem.status < 500) complain(problem);
      }
      await new Promise((resolve) => setTimeout(resolve, least));
    }
    busy = false;
  };
  return () => {
    wanted = true;
    run();
  };
}

/** Tints what has just changed, for a moment. */
export function tint(node) {
  node?.setAttribute("data-fresh", "");
  node?.addEventListener("animationend", () => node.removeAttribute("data-fresh"), { once: true });
}
