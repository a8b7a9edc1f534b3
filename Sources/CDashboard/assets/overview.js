// Does anything need me? Where is my file? What failed? Each answered without a click.

import { holdPipeline, reload, resumePipeline } from "./actions.js";
import { el } from "./dom.js";
import { failedItem, following, item } from "./joblist.js";
import { isStale, pipelines, state } from "./live.js";
import { address, button, cell, empty, figure, lead, mark, meter, panel, row, table, title } from "./parts.js";
import { changedFile, refusedReload, sentenceOf } from "./pipes.js";
import { needs } from "./needs.js";
import { nodes, nodesPanel } from "./nodes.js";
import { may } from "./shell.js";
import { bytes, count, counted } from "./sizes.js";
import * as spark from "./spark.js";
import { ageOf, clock } from "./times.js";
import { drawn, patiently } from "./view.js";

const sum = (of) => pipelines().reduce((total, pipeline) => total + (of(pipeline) ?? 0), 0);
const most = (of) => Math.max(...pipelines().map((pipeline) => of(pipeline) ?? -1));

function step(word, number, below, href, bad) {
  return el(
    `li${bad ? ".bad" : ""}`,
    el("a", { href }, el("small", word), el("b", count(number)), el("small", below || "\u00A0")),
  );
}

function flow() {
  const oldest = most(({ waiting }) => waiting?.oldest_s);
  const stages = sum(({ stages = [] }) => stages.filter(({ queued }) => queued > 0).length);
  const failed = sum(({ jobs }) => jobs.failed);
  const recent = sum(({ minutes }) => minutes?.failed?.reduce((a, b) => a + b, 0));
  // Stages and workers are those of one node.
  const workers = sum(({ workers: w }) => w?.all);
  const queued = sum(({ jobs }) => jobs.queued);
  const deferred = sum(({ jobs }) => jobs.deferred);
  return el(
    "ul.flow",
    { "aria-label": "All pipelines together" },
    step(
      "waiting",
      sum(({ waiting }) => waiting?.drops),
      oldest >= 0 && ["oldest ", ageOf(oldest, state.overview.daemon.now)],
      "/waiting",
    ),
    step("queued", queued, queued > 0 && stages > 0 && !nodes().length && `for ${counted(stages, "stage")}`, "/jobs?state=queued"),
    step(
      "running",
      sum(({ jobs }) => jobs.running),
      workers > 0 && !nodes().length && `of ${counted(workers, "worker")}`,
      "/jobs?state=running",
    ),
    step(
      "processed today",
      sum(({ today }) => today?.processed),
      bytes(sum(({ today }) => today?.bytes)),
      "/jobs?state=processed",
    ),
    step("deferred", deferred, deferred > 0 && "each tries again by itself", "/jobs?state=deferred"),
    step(
      "failed",
      failed,
      recent > 0 ? `${count(recent)} in the last hour` : failed > 0 && "none in the last hour",
      "/failed",
      failed > 0,
    ),
  );
}

/** What there is least of decides. */
function free(folders = []) {
  const left = ({ free: is, kept = 0 }) => is - kept;
  const worst = folders.toSorted((a, b) => left(a) - left(b))[0];
  if (!worst) return "";
  const { free: is, total, kept = 0 } = worst;
  return [meter(total - is, total, is <= kept * 1.1), el("span.fr", bytes(is))];
}

function pipelineRow(pipeline) {
  const { name, waiting, jobs, today, minutes } = pipeline;
  const at = (path, query) => address(path, { ...query, pipeline: name });
  const oldest = pipeline.oldest_unfinished_s ?? waiting?.oldest_s;
  const quiet = !minutes?.jobs.some((value) => value > 0);
  return row(
    { "data-key": name },
    lead(
      el("a.row", { href: `/pipelines/${encodeURIComponent(name)}` }, name),
      el("span.two-l", mark(pipeline.state), el("span.soft", sentenceOf(pipeline))),
    ),
    figure(waiting?.drops, at("/waiting"), "waiting"),
    figure(jobs.queued, at("/jobs", { state: "queued" }), "queued"),
    figure(jobs.running, at("/jobs", { state: "running" }), "running"),
    figure(jobs.deferred, at("/jobs", { state: "deferred" }), "deferred", ".amber"),
    figure(jobs.failed, at("/failed"), "failed", ".bad"),
    figure(today?.processed, at("/jobs", { state: "processed" }), "processed today"),
    cell(
      `.num${oldest === undefined ? ".z" : ""}`,
      { "data-b": "oldest" },
      oldest === undefined ? "–" : ageOf(oldest, state.overview.daemon.now),
    ),
    hasMinutes() && cell(`.sp${quiet ? ".none" : ""}`, {}, minutes && spark.minutes(name, minutes)),
    hasFree() && cell(".num.xl.soft", { "data-b": "free" }, free(pipeline.free)),
  );
}

const hasMinutes = () => pipelines().some(({ minutes }) => minutes);
const hasFree = () => pipelines().some(({ free: folders }) => folders?.length);

function pipelineTable() {
  const columns = [
    ["Pipeline"],
    ["Waiting", ".num"],
    ["Queued", ".num"],
    ["Running", ".num"],
    ["Deferred", ".num"],
    ["Failed", ".num"],
    ["Processed today", ".num.two"],
    ["Oldest", ".num"],
    hasMinutes() && ["Last hour"],
    hasFree() && ["Free", ".num.xl"],
  ].filter(Boolean);
  return panel(
    "pipes",
    "Pipelines",
    { more: hasMinutes() && ["jobs a minute, last hour; ", el("span.st.st-failed", "red"), " where some failed"] },
    el(
      "div.scroll",
      { role: "region", "aria-label": "Table of pipelines", tabindex: 0 },
      table(".pipes", "Pipelines and what is in them", columns, pipelines().map(pipelineRow)),
    ),
  );
}

function short(id, head, list, all, what, make, none) {
  const rows = list.rows();
  return panel(
    id,
    head,
    { beside: list.more(what), more: rows.length > 0 && all },
    rows.length
      ? el(
          "ul.list",
          rows.map((job) => make(job)),
        )
      : el("p.in.dim", none),
  );
}

/** What is below is not how it is. */
function asItWas() {
  const stands = state.daemon === "down" && " Nothing is claimed and nothing runs until the daemon is back.";
  return ["How it was at ", clock(state.asOf), ".", stands];
}

export async function show(main) {
  let draw = () => {};
  const changed = () => draw();
  const running = following({ state: "running", limit: 5 }, { changed });
  const failed = following(
    { state: "failed", limit: 5 },
    { changed, relevant: ({ event }) => event === "failed", elsewhere: ({ failed: more }) => more },
  );
  const needed = needs(changed);
  await patiently(main, Promise.allSettled([running.read(), failed.read(), needed.read()]));

  draw = drawn(main, () => {
    const held = pipelines().some(({ hold }) => hold);
    const files = state.overview.files ?? {};
    const acts = may("operate")
      ? [
          held && button("Resume all", () => resumePipeline()),
          pipelines().length > 0 && button("Pause all", () => holdPipeline("pause")),
          button("Reload", reload, { "data-verb": "reload" }),
        ]
      : [];
    const head = title("Overview", isStale() ? asItWas() : needed.sentence(), { acts });
    if (!pipelines().length) {
      return [
        head,
        el(
          "div.panel",
          empty("drop", "No pipeline yet", [
            "A pipeline is one YAML file. Write the first with ",
            el("code", "dropmill init"),
            ", then reload.",
          ]),
        ),
      ];
    }
    return [
      head,
      refusedReload(files),
      (files.changed ?? []).length > 0 && !files.refused?.length && changedFile(files.changed, files.loaded),
      flow(),
      needed.panel(),
      pipelineTable(),
      nodesPanel(),
      el(
        "div.cols.two",
        short(
          "run",
          "Running",
          running,
          el("a", { href: "/jobs?state=running" }, `All ${count(sum(({ jobs }) => jobs.running))}`),
          "job",
          item,
          "Nothing runs.",
        ),
        short(
          "new",
          "Newest failures",
          failed,
          el("a", { href: "/failed" }, "All, grouped"),
          "job",
          failedItem,
          "Nothing has failed.",
        ),
      ),
    ];
  });
}
