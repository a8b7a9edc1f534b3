// Jobs in rows: what each tells in its second line, and lists of them that follow the daemon without moving.

import { get, pathOf } from "./api.js";
import { $, el } from "./dom.js";
import { on } from "./live.js";
import { nameNode, nameText } from "./names.js";
import { code, mark, newer, progress, UNFINISHED } from "./parts.js";
import { bytes, count, counted, percent, rate } from "./sizes.js";
import { keepPlaces } from "./still.js";
import { age, clock } from "./times.js";
import { calmly, tint } from "./view.js";

export const isUnfinished = ({ state }) => UNFINISHED.includes(state);

/** `1.4 GiB of 2.3 GiB, 410 MB/s`; without the second where nobody knows it. */
export function progressText({ done, of: whole, unit, rate: speed }) {
  const parts =
    unit === "entries"
      ? whole
        ? `${count(done)} of ${counted(whole, "entry", "entries")}`
        : counted(done, "entry", "entries")
      : whole
        ? `${bytes(done)} of ${bytes(whole)}`
        : bytes(done);
  return speed ? `${parts}, ${unit === "entries" ? `${count(Math.round(speed))} a second` : rate(speed)}` : parts;
}

const ENDS = ["processed", "failed", "cancelled", "lost", "deferred"];

const attempt = ({ failures = 0 }) => (failures > 0 ? `, attempt ${count(failures + 1)}` : "");

/** The sentence of a job: why it is where it is. Nodes, or nothing where its state says it all. */
export function why(job) {
  const { state, stage_kind: kind, failure, held, paused } = job;
  if (held && isUnfinished(job)) {
    const place = held.node ? ` on ${held.node}` : "";
    return `held by the ${held.kind ?? "pause"} of ${held.by ?? "a person"}${place}`;
  }
  if (paused && isUnfinished(job)) return `waits: ${paused.summary}`;
  if (state === "running") return `${kind ?? "runs"}${attempt(job)}`;
  if (state === "queued") return kind && `waits for ${kind}${attempt(job)}`;
  if (state === "deferred")
    return [
      failure?.summary,
      " Next attempt ",
      job.next_attempt_at ? ["at ", clock(job.next_attempt_at)] : "later",
      ".",
    ];
  if (state === "settling") return "outputs and original get their places";
  return failure?.summary;
}

/** A job in a short list: its name, where it is, its sentence. `pipeline` says whether to name that. */
export function item(job, { pipeline = true } = {}) {
  const { progress: part, failure, state } = job;
  const over = !isUnfinished(job);
  const right = over
    ? mark(state)
    : job.gone
      ? "over"
      : part?.of && state === "running"
        ? `${job.stage_kind} ${percent(part.done, part.of)} %`
        : state === "running"
          ? [job.stage_kind, " ", age(job.stage_started_at ?? job.claimed_at)]
          : state;
  const told = part && state === "running" ? progressText(part) : why(job);
  return el(
    "li",
    { "data-key": job.id },
    el("a.row", { href: pathOf("/jobs", job.id) }, nameNode(job)),
    el("span.r", right),
    part?.of && state === "running" && progress(part.done, part.of, `${job.stage_kind} of ${nameText(job)}`),
    el("span.two-l", pipeline && [job.pipeline, told && ": "], told, failure && over && [" ", code(failure.code)]),
  );
}

/** A failed job in a short list. */
export function failedItem(job) {
  return el(
    "li",
    { "data-key": job.id },
    el("a.row", { href: pathOf("/jobs", job.id) }, nameNode(job)),
    el("span.r", job.pipeline, ", ", clock(job.finished_at ?? job.claimed_at, { seconds: false })),
    el("span.two-l", job.failure?.summary, " ", code(job.failure?.code)),
  );
}

function tintAll(jobs) {
  for (const { id } of jobs) tint($(`[data-key="${id}"]`));
}

/**
 * A list of jobs that is read by `query` and follows the daemon: rows stay where they are, what is new is counted.
 * Gives `rows()`, `more()` (the button for what is new) and `read()`; `changed` is called when there is something to draw.
 */
export function following(query, { changed, relevant = () => true, elsewhere = () => true, every = 2000 }) {
  let shown = [];
  let fresh = [];
  let coming = 0;
  // How jobs ended that the query has no more.
  const ends = new Map();
  const read = async () => {
    fresh = (await get("/jobs", query)).jobs;
    shown = fresh;
    coming = 0;
    changed();
  };
  const look = calmly(every, async () => {
    fresh = (await get("/jobs", query)).jobs;
    const before = new Map(shown.map((job) => [job.id, job.state]));
    ({ rows: shown, coming } = keepPlaces(shown, fresh, ({ id }) => id));
    shown = shown.map((job) => (job.gone && ends.has(job.id) ? { ...job, ...ends.get(job.id) } : job));
    changed();
    requestAnimationFrame(() => tintAll(shown.filter(({ id, state }) => before.get(id) !== state)));
  });
  const take = ({ changes = [] }) => {
    for (const { job, event } of changes)
      if (ENDS.includes(event) && shown.some(({ id }) => id === job)) ends.set(job, { state: event, gone: false });
    if (changes.some(relevant)) look();
  };
  on("jobs", take);
  on("snapshot", look);
  on("missed", look);
  on("elsewhere", (told) => elsewhere(told) && look());
  on("progress", ({ jobs }) => {
    const now = new Map(jobs.map(({ id, progress: part }) => [id, part]));
    if (!shown.some(({ id }) => now.has(id))) return;
    shown = shown.map((job) => (now.has(job.id) ? { ...job, progress: now.get(job.id) } : job));
    changed();
  });
  const show = () => {
    shown = fresh;
    coming = 0;
    changed();
  };
  return { rows: () => shown, read, more: (what) => newer(coming, `${counted(coming, what)} more: show`, show) };
}
