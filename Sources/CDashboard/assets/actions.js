// What a person can change: pipelines are held and let go, files are read again, jobs are called off, sent in again,
// put first, taken out of the count. Each asks first where it ends something or touches more than one job.

import { get, pathOf, post, remove } from "./api.js";
import { field, names, question, tell } from "./dialog.js";
import { el } from "./dom.js";
import { pipelines } from "./live.js";
import { followRun } from "./runs.js";
import { complain, say } from "./shell.js";
import { bytes, count, counted } from "./sizes.js";
import { secondsUntil } from "./times.js";

/** What each verb is called on a button, and what it does. */
export const VERBS = {
  retry: ["Retry", "sent in again through the inbox"],
  replay: ["Replay", "copied from processed into the inbox and processed once more"],
  cancel: [
    "Cancel",
    "cancelled. What runs is stopped first, a program with SIGTERM, then with SIGKILL; the end is failed",
  ],
  release: ["Release", "sent back into the inbox under its own name; what the stages made of it goes"],
  dismiss: ["Dismiss", "taken out of the count of failures; the original stays where it is"],
  bump: ["Bump", "put first in line"],
};

/** Runs something that was wished for; what is refused is told until it was read. */
async function attempt(work) {
  try {
    return await work();
  } catch (problem) {
    complain(problem);
    return undefined;
  }
}

const HOLDS = {
  pause: [
    "Pause",
    "Nothing more is claimed and no stage begins; stages that run end. Neither a restart nor a reload lifts it.",
  ],
  drain: [
    "Drain",
    "Nothing more is claimed; what is claimed goes to its end. Neither a restart nor a reload lifts it.",
  ],
};

/** Pauses or drains a pipeline, or all of them if none is named. */
export async function holdPipeline(kind, name) {
  const [label, does] = HOLDS[kind];
  const what = name ?? `all ${count(pipelines().length)} pipelines`;
  const times = [
    ["", "until somebody resumes it"],
    [1800, "30 min"],
    [7200, "2 h"],
    [28_800, "8 h"],
    [secondsUntil(6), "until 06:00"],
  ];
  const answer = await question(
    `${label} ${what}?`,
    [
      el("p.soft", does),
      field(
        "Why (everybody sees it)",
        el("input", { name: "reason", maxlength: 200, placeholder: "RIP 2 is being serviced" }),
      ),
      field(
        "For how long",
        el(
          "select",
          { name: "time" },
          times.map(([value, text]) => el("option", { value }, text)),
        ),
      ),
    ],
    name ? label : `${label} all ${count(pipelines().length)}`,
  );
  if (!answer) return;
  const body = {
    kind,
    ...(answer.reason && { reason: answer.reason }),
    ...(answer.time && { for_s: Number(answer.time) }),
  };
  const path = name ? pathOf("/pipelines", name, "hold") : "/hold";
  await attempt(async () =>
    say(linesOf(await post(path, body), `${what}: ${kind === "pause" ? "paused" : "drained"}`)),
  );
}

/** Lets a pipeline go on, or all of them. */
export async function resumePipeline(name) {
  const what = name ?? "all pipelines";
  const answer = await question(
    `Resume ${what}?`,
    el("p.soft", "What is complete is claimed at once, in the pipeline’s order."),
    name ? "Resume" : "Resume all",
  );
  if (!answer) return;
  await attempt(async () =>
    say(linesOf(await remove(name ? pathOf("/pipelines", name, "hold") : "/hold"), `${what}: resumed`)),
  );
}

const linesOf = ({ lines = [] }, otherwise) => (lines.length ? lines.slice(0, 3).join("; ") : otherwise);

/** Reads the pipeline files again: all of them or none. */
export async function reload() {
  try {
    const { changes = [], warnings = [] } = await post("/reload");
    const changed = changes
      .filter(({ text }) => text !== "unchanged")
      .map(({ pipeline, text }) => `${pipeline} ${text}`);
    const rest = changes.length - changed.length;
    const told = [...changed, ...(rest ? [`${count(rest)} unchanged`] : [])].join(", ");
    say(`Reloaded: ${told || "nothing has changed"}.${warnings.length ? ` ${warnings.join(" ")}` : ""}`, {
      stays: warnings.length > 0,
    });
  } catch (problem) {
    if (!problem.problems?.length) return complain(problem);
    await tell("The reload was refused", [
      el("p.soft", "What was loaded stays in force. Correct this, then reload:"),
      errors(problem.problems),
    ]);
  }
  return undefined;
}

/** Lines such as `covers.yaml:14:9: error: unknown key`. */
export function errors(lines) {
  return el(
    "ul.errs",
    lines.map((line) => {
      const [, before, after] = line.match(/^(.*?)error:(.*)$/s) ?? [];
      return el("li", after === undefined ? line : [before, el("b", "error:"), after]);
    }),
  );
}

/** What is done to one job at once. */
export async function changeJob(verb, job) {
  const [label, does] = VERBS[verb];
  if (["retry", "replay", "dismiss"].includes(verb)) return changeMany(verb, { jobs: [job.id] });
  if (verb === "bump") return bump({ job: job.id });
  const answer = await question(
    `${label} this job?`,
    [el("p.soft", `1 job, ${bytes(job.size)}: ${does}.`), names([job])],
    label,
  );
  if (!answer) return undefined;
  return attempt(async () => {
    const {
      results: [result],
    } = await post(`/jobs/${verb}`, { jobs: [job.id] });
    say(result.text, { stays: !result.done });
    return result.done;
  });
}

/** Puts a job or a drop first in its line. */
export const bump = (what) =>
  attempt(async () => {
    const { text } = await post("/waiting/bump", { ...what, last: false });
    say(text);
    return true;
  });

/**
 * Does something to jobs: those selected, or all that match a filter. The daemon counts them first; what it counted is
 * what is done (`key`). Comes back with true once it is begun.
 */
export async function changeMany(verb, what) {
  const [label, does] = VERBS[verb];
  const preview = await attempt(() => post("/runs/preview", { verb, ...what }));
  if (!preview) return undefined;
  const { jobs, more, key } = preview;
  if (jobs === 0) return say(`No job is left to ${verb}.`, { stays: true });
  const which = jobs === 1 ? "this job" : counted(jobs, "job");
  const answer = await question(
    `${label} ${more ? `the oldest ${counted(jobs, "job")}` : which}?`,
    [
      el(
        "p.soft",
        `${counted(jobs, "job")}, ${bytes(preview.bytes)}: ${does}.${more ? ` More than ${count(jobs)} match; the same again takes the rest.` : ""}`,
      ),
      names(preview.names ?? [], jobs),
    ],
    jobs === 1 ? label : `${label} ${count(jobs)}`,
  );
  if (!answer) return undefined;
  return attempt(async () => {
    const { run } = await post("/runs", { verb, ...what, key });
    followRun(run, verb, jobs);
    return true;
  });
}

/** Runs that are under way, begun here or elsewhere: the newest is shown with its progress. */
export async function showRuns() {
  const { runs = [] } = await get("/runs").catch(() => ({}));
  const [run] = runs.filter(({ left }) => left > 0);
  if (run) followRun(run.run, run.verb, run.jobs);
}
