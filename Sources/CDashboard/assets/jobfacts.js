// The files and the facts of a job, and what happened to it in order.

import { pathOf } from "./api.js";
import { el, icon } from "./dom.js";
import { isUnfinished } from "./joblist.js";
import { sentenceNodes, wholeName } from "./names.js";
import { cell, facts, lead, panel, row, table } from "./parts.js";
import { bytes, count, duration } from "./sizes.js";
import { clock } from "./times.js";

export function files(job) {
  const { outputs = [], original, digests = {} } = job;
  const sums = Object.entries(digests).map(([kind, value]) =>
    el("span.two-l.hash", `${kind} ${typeof value === "string" ? value : Object.values(value).join(" ")}`),
  );
  const named = (value) =>
    typeof value === "string"
      ? wholeName({ name: value })
      : wholeName({ name: "", name_base64: value.base64, ...value });
  const rows = [
    original &&
      row({}, cell(".soft", {}, "original"), lead(wholeName(job, "original"), sums), cell(".num", {}, bytes(job.size))),
    ...outputs
      .slice(0, 200)
      .map((output) =>
        row(
          {},
          cell(".soft", {}, "output"),
          lead(named(output), !original && outputs.length === 1 && sums),
          cell(".num", {}, ""),
        ),
      ),
    outputs.length > 200 &&
      row({}, cell(".soft", {}, ""), lead(`and ${count(outputs.length - 200)} more`), cell("", {})),
    !outputs.length &&
      !isUnfinished(job) &&
      row({}, cell(".soft", {}, "outputs"), lead(el("span.dim", "none; nothing was published")), cell("", {})),
  ].filter(Boolean);
  return (
    rows.length > 0 &&
    panel("files", "Files", {}, table("", "Files of this job", [["What"], ["Where"], ["Size", ".num"]], rows))
  );
}

export const happened = ({ event, at, stage, duration_s: took, note, times, last_at: last }) =>
  el(
    "li",
    clock(at),
    el(
      "span",
      el("b", event),
      stage && [" ", typeof stage === "string" ? stage : ""],
      took !== undefined && `, ${duration(took)}`,
      note && [": ", sentenceNodes(note)],
      times > 1 && [`, ${count(times)} times until `, clock(last)],
    ),
  );

const jobLink = (id, text) => el("a", { href: pathOf("/jobs", id) }, text ?? el("code", id.slice(-5)));

function chain(ids, word) {
  return (
    ids?.length > 0 &&
    el(
      "div.chain",
      ids.map((id) => [icon("arrow", { size: "t" }), jobLink(id)]),
      word && el("span.dim", word),
    )
  );
}

export function about(job) {
  const tries = job.failures > 0 && `${count(job.failures)} failed`;
  return panel(
    "facts",
    "Facts",
    {},
    el(
      "div.in",
      facts([
        ["Job", el("span.hash", job.id)],
        ["Pipeline", el("a", { href: pathOf("/pipelines", job.pipeline) }, job.pipeline)],
        ["Dropped as", wholeName(job, job.path === undefined && !job.path_base64 ? "name" : "path")],
        ["Sender", job.producer],
        ["Node", job.node && sentenceNodes(job.node)],
        ["Dropped", clock(job.dropped_at)],
        ["Claimed", clock(job.claimed_at)],
        [
          "Over",
          job.finished_at && [
            clock(job.finished_at),
            job.duration_s !== undefined && `, after ${duration(job.duration_s)}`,
          ],
        ],
        ["Next attempt", job.next_attempt_at && clock(job.next_attempt_at)],
        ["Attempts", tries],
        ["Gone on with after a stop", job.recoveries > 0 && `${count(job.recoveries)} times`],
        ...Object.entries(job.facts ?? {}).map(([name, value]) => [
          name,
          sentenceNodes(typeof value === "string" ? value : JSON.stringify(value)),
        ]),
        ["Retry of", job.retry_of && jobLink(job.retry_of)],
        ["Replay of", job.replay_of && jobLink(job.replay_of)],
        ["Sent in again as", chain(job.retried_as)],
        ["Replayed as", chain(job.replayed_as)],
      ]),
    ),
  );
}
