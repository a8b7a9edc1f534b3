// The stages of a pipeline as a row, between its inbox and what is processed, with their queues and workers.

import { el, svg } from "./dom.js";
import { state } from "./live.js";
import { address, mark, panel } from "./parts.js";
import { usually } from "./pipes.js";
import { count } from "./sizes.js";
import { ageOf } from "./times.js";

const worker = (busy) =>
  svg(
    "svg",
    { viewBox: "0 0 12 12" },
    svg(`rect.${busy ? "on" : "off"}`, { x: 1, y: 1, width: 10, height: 10, rx: 2 }),
  );

function node({ kind, label, workers, running, queued, deferred, usually_s: usual, failed_last_hour: failed }, name) {
  const boxes = workers <= 12 ? Array.from({ length: workers }, (_, index) => worker(index < running)) : [];
  const jobs = (its, text) => el("a", { href: address("/jobs", { state: its, pipeline: name }) }, text);
  return el(
    "li",
    el(
      `div.node${running > 0 ? ".busy" : ""}`,
      el("h3", kind, label && label !== kind && el("span.dim", label)),
      el("div.wk", { "aria-hidden": "true" }, boxes),
      el("span.soft", `${count(running)} of ${count(workers)} at work, ${count(queued)} queued`),
      el("span.dim", usually(usual)),
      deferred > 0 && mark("deferred", { small: true, text: jobs("deferred", `${count(deferred)} deferred`) }),
      failed > 0 && mark("failed", { small: true, text: jobs("failed", `${count(failed)} failed in 1 h`) }),
    ),
  );
}

export function stages(pipeline) {
  const { name, stages: some = [], waiting, jobs, today, hold, trouble } = pipeline;
  const query = { pipeline: name };
  return panel(
    "sg",
    "Stages",
    { more: some.some(({ usually_s: usual }) => usual !== undefined) && "times are medians" },
    el(
      "div.stages-box",
      el(
        `ol.stages${hold ? ".held" : trouble ? ".stuck" : ""}`,
        el(
          "li.end",
          el(
            "div.node",
            el("h3", el("a", { href: address("/waiting", query) }, "inbox")),
            el("span.soft", waiting ? `${count(waiting.drops)} waiting` : "does not answer"),
            waiting?.oldest_s > 0 && el("span.dim", "oldest ", ageOf(waiting.oldest_s, state.overview.daemon.now)),
            waiting?.complete > 0 && el("span.dim", `${count(waiting.complete)} complete`),
          ),
        ),
        some.map((stage) => node(stage, name)),
        el(
          "li.end",
          el(
            "div.node",
            el("h3", el("a", { href: address("/jobs", { ...query, state: "processed" }) }, "processed")),
            today && el("span.soft", `${count(today.processed)} today`),
            jobs.failed > 0 &&
              mark("failed", {
                small: true,
                text: el("a", { href: address("/failed", query) }, `${count(jobs.failed)} failed`),
              }),
          ),
        ),
      ),
    ),
  );
}
