// The story of one job: the reason and the remedy first, then the program's last lines, the time line, files, facts.

import { changeJob } from "./actions.js";
import { get, pathOf } from "./api.js";
import { el, icon } from "./dom.js";
import { about, files, happened } from "./jobfacts.js";
import { isUnfinished, why } from "./joblist.js";
import { on } from "./live.js";
import { nameText, sentenceNodes, wholeName } from "./names.js";
import { own } from "./nodes.js";
import { address, button, code, empty, mark, panel, plain, title } from "./parts.js";
import { onRunOver } from "./runs.js";
import { may, say, setTitle } from "./shell.js";
import { bytes } from "./sizes.js";
import { timeline } from "./timeline.js";
import { age, clock, everySecond } from "./times.js";
import { calmly, drawn, patiently } from "./view.js";

const CLASSES = {
  file: "this drop is bad, others go on",
  transient: "it is tried again later",
  environment: "its surroundings, the pipeline pauses until they are well",
};
/** What may be offered in which state; the daemon says in `may` whether it can be done. */
const OFFERED = { failed: ["retry", "dismiss"], cancelled: ["retry"], lost: [], processed: ["replay"] };

function actions(job) {
  const offered = OFFERED[job.state] ?? ["cancel", "bump", "release"];
  const can = (verb) => job.may?.[verb];
  return offered
    .filter((verb) => can(verb) !== undefined)
    .map((verb) =>
      button(
        { retry: "Retry", replay: "Replay", cancel: "Cancel", bump: "Bump", release: "Release", dismiss: "Dismiss" }[
          verb
        ],
        () => changeJob(verb, job),
        {
          why: can(verb) === true ? undefined : can(verb),
          classes: verb === "retry" && can(verb) === true ? ".main" : "",
          "data-verb": verb,
        },
      ),
    );
}

/** Why something that is offered cannot be done, in sight and not only under the pointer. */
function refusals(job) {
  const texts = (OFFERED[job.state] ?? ["cancel", "bump", "release"])
    .map((verb) => job.may?.[verb])
    .filter((text) => typeof text === "string");
  return texts.length > 0 && [...new Set(texts)].map((text) => el("p.small.soft", text));
}

function head(job) {
  const { state, stage_kind: kind, failed_stage: failedAt, finished_at: ended, pipeline, producer, size } = job;
  const where =
    state === "failed" && failedAt !== undefined && kind
      ? [" in ", el("code", kind)]
      : isUnfinished(job) && state !== "settling" && kind
        ? [state === "running" ? " in " : " for ", el("code", kind)]
        : "";
  const when = ended ? [" ", age(ended), " ago"] : [" for ", age(job.claimed_at)];
  const copy = async () => {
    const text = `dropmill show ${job.id}`;
    try {
      await navigator.clipboard.writeText(text);
      say(`Copied: ${text}`);
    } catch {
      say(text, { stays: true });
    }
  };
  return title(
    wholeName(job),
    [
      mark(state, { chip: true }),
      where,
      when,
      "; ",
      bytes(size),
      producer && [" from ", el("a", { href: address("/jobs", { producer }) }, producer)],
      job.dismissed && el("span.two-l", `Dismissed by ${job.dismissed.by} `, clock(job.dismissed.at), "."),
      may("operate") && refusals(job),
    ],
    {
      crumb: [el("a", { href: "/jobs" }, "Jobs"), " / ", el("a", { href: address("/jobs", { pipeline }) }, pipeline)],
      acts: [may("operate") && actions(job), plain(["Copy ", el("code", "show")], copy)].flat(),
    },
  );
}

function reason(job) {
  const { failure, state } = job;
  // What a program wrote has lines; other details are one sentence.
  const output = failure?.detail?.includes("\n") ? failure.detail : job.output_tail;
  if (!failure && !output) return false;
  const failed = state === "failed" || state === "cancelled" || state === "lost";
  return el(
    `section.panel.why${failed ? "" : ".mild"}`,
    { "aria-labelledby": "why-h" },
    el(
      "div.in",
      el("h2.vh", { id: "why-h" }, failed ? "Why it failed" : failure ? "Why it is tried again" : "What it wrote"),
      failure && [
        el("p.sum", sentenceNodes(failure.summary)),
        failure.remedy && el("p.rem", icon("arrow"), el("span", sentenceNodes(failure.remedy))),
        failure.detail && failure.detail !== output && el("p.soft", sentenceNodes(failure.detail)),
        el(
          "p.small.soft",
          code(failure.code),
          failure.class && ` class ${failure.class}: ${CLASSES[failure.class] ?? ""}. `,
          state === "failed" &&
            el(
              "a",
              { href: address("/jobs", { state: "failed", pipeline: job.pipeline, code: failure.code }) },
              "Others that failed so",
            ),
        ),
      ],
      output && [
        el("h3", { id: "out-h" }, "What it wrote last"),
        el("pre.out", { tabindex: 0, role: "region", "aria-labelledby": "out-h" }, output),
      ],
    ),
  );
}

function held(job) {
  if (!isUnfinished(job) || !(job.held || job.paused)) return false;
  return el("p.soft", why(job));
}

export async function show(main, id) {
  let job;
  let folded = false;
  let draw = () => {};
  const read = async () => {
    job = await get(pathOf("/jobs", id));
    draw();
  };
  try {
    await patiently(main, read());
  } catch (problem) {
    setTitle("No such job");
    main.replaceChildren(
      el(
        "div.panel",
        empty(
          "lost",
          problem.status === 404 ? "No such job" : "This job cannot be shown",
          problem.text,
          el("a.b", { href: "/jobs" }, "Show all jobs"),
        ),
      ),
    );
    return;
  }
  setTitle(nameText(job));
  const again = calmly(1000, read);
  // Once it is sent in again the next job of its pipeline may be what it led to.
  let sentIn = false;
  const concerns = ({ job: its, pipeline }) => its === id || (sentIn && pipeline === job.pipeline);
  on("jobs", ({ changes = [] }) => changes.some(concerns) && again());
  on("snapshot", again);
  on("missed", again);
  on("elsewhere", () => isUnfinished(job) && job.node !== own() && again());
  onRunOver(() => {
    sentIn = true;
    again();
  });
  on("progress", ({ jobs }) => {
    const its = jobs.find(({ id: which }) => which === id);
    if (!its) return;
    job = { ...job, progress: its.progress };
    draw();
  });
  // What runs grows on its axis.
  everySecond(() => isUnfinished(job) && draw());

  const fold = (on_) => {
    folded = on_;
    draw.now();
  };
  draw = drawn(main, () => {
    const story =
      job.history?.length > 0 &&
      panel(
        "st",
        "What happened",
        { more: ["the same as ", el("code", "dropmill show")] },
        el("ol.story", job.history.map(happened)),
      );
    const next =
      job.what_next?.length > 0 &&
      panel(
        "nx",
        "What comes next",
        {},
        el(
          "ul.in.next",
          job.what_next.map((text) => el("li", sentenceNodes(text))),
        ),
      );
    const left = [next, files(job), story].filter(Boolean);
    return [
      head(job),
      held(job),
      reason(job),
      timeline(job, { folded, fold }),
      el(`div.cols${left.length ? ".wide" : ""}`, left.length > 0 && el("div.cols", left), about(job)),
    ];
  });
}
