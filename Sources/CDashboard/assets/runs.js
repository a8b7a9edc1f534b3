// Something that is done to many jobs: how far it is, a way to end it, and what was refused.

import { get, pathOf, post } from "./api.js";
import { tell } from "./dialog.js";
import { $, el, fill, patchChildren } from "./dom.js";
import { nameNode } from "./names.js";
import { button, progress } from "./parts.js";
import { say } from "./shell.js";
import { count } from "./sizes.js";

const DONE = {
  retry: "sent in again",
  replay: "copied into the inbox",
  cancel: "cancelled",
  dismiss: "dismissed",
  release: "sent back",
};
const finished = new Set();

/** Calls back when a run is over, so that lists can be read again. */
export const onRunOver = (listener) => finished.add(listener);

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function draw(bar, { verb, done, jobs, halt, halting }) {
  const text = `${count(done)} of ${count(jobs)} ${DONE[verb] ?? verb}`;
  patchChildren(
    bar,
    el(
      "div",
      el("span", el("b", text)),
      progress(done, jobs, text),
      el("span.acts", halting ? el("span", "Ends after the job at hand.") : button("Halt", halt, { classes: ".s" })),
    ),
  );
}

/** Shows a run until it is over, then says what became of it. A run goes on without this page. */
export async function followRun(run, verb, jobs) {
  const bar = el("div.bulk.run", { role: "region", "aria-label": "A run under way" });
  $("#float").append(bar);
  const results = [];
  let halting = false;
  let last = {};
  let known = 0;
  const halt = async () => {
    halting = true;
    await post(pathOf("/runs", run, "halt")).catch((problem) => say(problem.text, { stays: true }));
    draw(bar, { verb, done: results.length, jobs, halting });
  };
  try {
    while (!last.over) {
      draw(bar, { verb, done: results.length, jobs, halt, halting });
      last = await get(pathOf("/runs", run), { after: known });
      known += last.results?.length ?? 0;
      results.push(...(last.results ?? []));
      jobs = last.jobs ?? jobs;
      if (!last.over) await pause(300);
    }
  } catch (problem) {
    last = { problem: problem.text };
  }
  bar.remove();
  for (const listener of finished) listener();
  return report(verb, jobs, results, last);
}

function report(verb, jobs, results, { problem, left = 0 }) {
  const refused = results.filter(({ done }) => !done);
  const done = results.length - refused.length;
  const sum = `${count(done)} of ${count(jobs)} ${DONE[verb] ?? verb}${left ? `; ${count(left)} left` : ""}.`;
  if (!refused.length) return say([sum, problem].filter(Boolean).join(" "), { stays: Boolean(problem) || left > 0 });
  const rows = refused
    .slice(0, 100)
    .map((result) => el("li", result.path && nameNode(result, "path"), el("span.two-l", result.text)));
  return tell(sum, [
    problem && el("p", problem),
    el("p.soft", `${count(refused.length)} not:`),
    el("ul.names", { tabindex: 0, role: "group", "aria-label": "Refused" }, rows),
  ]);
}

/** Takes away what floats, for pages that go. */
export const clearFloat = () => fill($("#float"));
