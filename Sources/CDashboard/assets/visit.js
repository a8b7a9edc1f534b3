// The uploads of this visit in a list: how far each is, how it ended, and the job that became of it.

import { get, pathOf } from "./api.js";
import { el } from "./dom.js";
import { isUnfinished, progressText, why } from "./joblist.js";
import { on } from "./live.js";
import { nameNode, nameText } from "./names.js";
import { address, mark, plain, progress } from "./parts.js";
import { bytes, count, counted, duration, rate } from "./sizes.js";
import * as up from "./uploads.js";
import { calmly } from "./view.js";

function right(upload, changed) {
  const { state: its, sent, size, speed, part } = upload;
  const all = upload.parts
    ? `${counted(upload.parts.filter(({ file }) => file).length, "file")}, ${bytes(size)}`
    : bytes(size);
  const small = (text) => el("span.small.soft.nowrap", text);
  const quiet = (label, act) => plain(label, act, ".s.quiet");
  const drop = () => {
    up.forget(upload);
    changed();
  };
  if (its === "arriving") {
    const rest = speed > 0 && (size - sent) / speed;
    return [
      small([
        part && `file ${count(part[0])} of ${count(part[1])}, `,
        `${bytes(sent)} of ${bytes(size)}`,
        speed > 0 && `, ${rate(speed)}`,
        rest > 1 && `, ${duration(rest)}`,
      ]),
      quiet("Cancel", () => up.cancel(upload, changed)),
    ];
  }
  if (its === "waits" || its === "checking")
    return [small(all), its === "waits" && quiet("Cancel", () => up.cancel(upload, changed))];
  if (its === "arrived") return [mark("processed", { text: "arrived" }), small(all)];
  const taken = upload.problem?.code === "name.taken";
  const can =
    (upload.file || upload.parts) &&
    upload.problem &&
    (upload.problem.code === "serve.unreachable" || upload.problem.status >= 500);
  return [
    mark(its === "refused" ? "failed" : "cancelled", { text: its }),
    small(all),
    taken
      ? plain("Send under another name", () => up.again(upload, up.otherName(upload.path), changed), ".s")
      : can && plain("Send again", () => up.again(upload, upload.path, changed), ".s"),
    quiet("Dismiss", drop),
  ];
}

/** When it is looked for a job once more though nothing was heard of one, in milliseconds. */
const LOOKS = [2000, 5000, 15_000, 60_000];

const without = (left) => left > 0 && `; left out ${counted(left, "file")} of the desktop’s own`;

function below({ state: its, pipeline, problem, job, as, left }) {
  if (its === "waits") return `for ${pipeline}; ${count(up.AT_ONCE)} arrive at a time`;
  if (its === "arriving") return [`arriving in ${pipeline}`, without(left)];
  if (its === "checking") return `all there; gets its name in the inbox of ${pipeline}`;
  if (its === "arrived" && job)
    return [
      el("a.row", { href: pathOf("/jobs", job.id) }, mark(job.state)),
      " ",
      job.progress && isUnfinished(job) ? `${job.stage_kind}: ${progressText(job.progress)}` : why(job),
    ];
  if (its === "arrived")
    return [
      `in the inbox of ${as?.pipeline ?? pipeline}; `,
      el("a", { href: address("/waiting", { pipeline }) }, "claimed once it is complete"),
      without(left),
    ];
  return its === "cancelled" ? "Called off; nothing was left in the inbox." : problem?.text;
}

export const line = (changed) => (upload) =>
  el(
    "li",
    { "data-key": `u${upload.key}` },
    nameNode(upload),
    el("span.r", right(upload, changed)),
    (upload.state === "arriving" || upload.state === "checking") &&
      progress(upload.sent, upload.size, nameText(upload)),
    el("span.two-l", below(upload)),
  );

export function sum() {
  const number = (...states) => up.uploads.filter(({ state: its }) => states.includes(its)).length;
  return [
    [number("waits", "arriving", "checking"), "arriving"],
    [number("arrived"), "arrived"],
    [number("refused"), "refused"],
    [number("cancelled"), "called off"],
  ]
    .filter(([amount]) => amount)
    .map(([amount, word]) => `${count(amount)} ${word}`)
    .join(", ");
}

/**
 * What was dropped here is followed once it is a job: by its path, and then by its id. Comes back with what is to be
 * called when something may have arrived: that may have been a job before the page heard of its end.
 */
export function followJobs(changed) {
  const arrived = () => up.uploads.filter(({ state: its }) => its === "arrived");
  const stale = new Set();
  const find = async (upload) => {
    const path = upload.as?.path ?? upload.path;
    const again = LOOKS[upload.looks ?? 0];
    upload.looks = (upload.looks ?? 0) + 1;
    if (again) setTimeout(look, again);
    const { jobs } = await get("/jobs", { pipeline: upload.pipeline, since: upload.at, limit: 50 });
    upload.job = jobs.find((job) => (job.path ?? job.name) === path);
  };
  const look = calmly(1000, async () => {
    for (const upload of arrived()
      .filter(({ job }) => !job)
      .sort((one, other) => (one.looks ?? 0) - (other.looks ?? 0))
      .slice(0, up.AT_ONCE))
      await find(upload);
    for (const upload of arrived()
      .filter(({ job }) => stale.has(job?.id))
      .slice(0, up.AT_ONCE)) {
      stale.delete(upload.job.id);
      upload.job = await get(pathOf("/jobs", upload.job.id));
    }
    changed();
    if (stale.size) look();
  });
  on("jobs", ({ changes = [] }) => {
    const mine = new Set(arrived().map(({ job }) => job?.id));
    for (const { job } of changes) if (mine.has(job)) stale.add(job);
    const claimed = changes.some(({ pipeline: its }) =>
      arrived().some(({ job, pipeline }) => !job && pipeline === its),
    );
    if (stale.size || claimed) look();
  });
  on("progress", ({ jobs }) => {
    for (const { id, progress: its } of jobs) for (const { job } of arrived()) if (job?.id === id) job.progress = its;
    changed();
  });
  return () => arrived().some(({ job, looks }) => !job && !looks) && look();
}
