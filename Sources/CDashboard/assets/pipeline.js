// One pipeline: its stages as a row with their queues and workers, what is at work, the file as loaded.

import { holdPipeline, resumePipeline } from "./actions.js";
import { get, pathOf } from "./api.js";
import { el } from "./dom.js";
import { differences, fileOf } from "./file.js";
import { following, item } from "./joblist.js";
import { on, pipelineNamed, state } from "./live.js";
import { address, banner, button, code, empty, facts, mark, meter, panel, title } from "./parts.js";
import { changedFile, sentenceOf } from "./pipes.js";
import { may, mayDropInto, setTitle } from "./shell.js";
import { bytes, count, duration } from "./sizes.js";
import * as spark from "./spark.js";
import { stages } from "./stages.js";
import { age, ageOf, clock } from "./times.js";
import { calmly, drawn, patiently } from "./view.js";

function head(pipeline) {
  const { name, state: its, hold, jobs, waiting, oldest_unfinished_s: oldest } = pipeline;
  const figures = [
    [waiting?.drops, "waiting"],
    [jobs.running, "running"],
    [jobs.queued, "queued"],
    [jobs.deferred, "deferred"],
    [jobs.settling, "settling"],
  ]
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${count(number)} ${word}`)
    .join(", ");
  const below = [
    mark(its, {
      chip: true,
      text:
        hold && its === hold.kind.replace(/e?$/, "ed")
          ? `${hold.kind === "drain" ? "drained" : "paused"} by ${hold.by}`
          : undefined,
    }),
    figures || "nothing waits and nothing runs",
    oldest > 0 && ["; oldest unfinished ", ageOf(oldest, state.overview.daemon.now)],
  ];
  const operate = may("operate");
  return title(name, below, {
    crumb: [el("a", { href: "/" }, "Overview"), " / pipelines"],
    acts: [
      operate && hold && button("Resume", () => resumePipeline(name), { classes: ".main" }),
      operate &&
        hold?.kind !== "pause" &&
        button(pipeline.trouble ? "Pause as well" : "Pause", () => holdPipeline("pause", name)),
      operate && hold?.kind !== "drain" && button("Drain", () => holdPipeline("drain", name)),
      pipeline.upload && mayDropInto(name) && el("a.b", { href: address("/drop", { pipeline: name }) }, "Drop files"),
    ],
  });
}

function notices({ name, hold, trouble, stalled, state: its }) {
  return [
    trouble &&
      banner("bad", "trouble", [
        el("p", el("strong", trouble.summary)),
        el("p", trouble.remedy),
        el(
          "p.soft",
          trouble.since && ["Since ", clock(trouble.since), ". "],
          "Nobody has to press anything, and no drop is lost or failed by it. ",
          code(trouble.code),
        ),
      ]),
    hold &&
      banner("hold", "paused", [
        el(
          "p",
          el("strong", `${hold.by ?? "A person"} ${hold.kind === "drain" ? "drains" : "paused"} this pipeline`),
          hold.since && [" at ", clock(hold.since)],
          hold.until && [", until ", clock(hold.until, { seconds: false }), ", in ", age(hold.until)],
          hold.reason ? `: “${hold.reason}”.` : ".",
        ),
        el(
          "p.soft",
          hold.kind === "drain"
            ? "What is claimed goes to its end; nothing more is claimed."
            : "Nothing is claimed and no stage begins; stages that run end.",
          " What waits stays in the inbox, nobody has to send it again. Neither a restart nor a reload lifts this.",
        ),
      ]),
    stalled &&
      banner(
        "bad",
        "stalled",
        el(
          "p",
          el("strong", `${name} is stalled`),
          sentenceOf({ state: "stalled", stalled }),
          ". ",
          stalled.job && el("a", { href: pathOf("/jobs", stalled.job) }, "Open the job"),
        ),
      ),
    its === "silent" &&
      banner(
        "bad",
        "stalled",
        el(
          "p",
          el("strong", "The folders of this pipeline do not answer. "),
          "Look at the file system that they are on; work goes on by itself.",
        ),
      ),
  ];
}

function lastHour({ minutes, last_hour: hour }) {
  if (!minutes && !hour) return false;
  return panel(
    "lh",
    "Last hour",
    {},
    el(
      "div.in",
      facts([
        [
          "Jobs",
          (minutes || hour) && [
            minutes && spark.minutes("jobs", minutes),
            hour && `${count(hour.jobs)}, ${hour.failed ? `${count(hour.failed)} failed` : "none failed"}`,
          ],
        ],
        [
          "Bytes",
          (minutes?.bytes || hour) && [minutes?.bytes && spark.amount(minutes.bytes, bytes), bytes(hour?.bytes)],
        ],
        ["Half took less than", duration(hour?.half_took_less_than_s)],
        ["1 in 20 took more than", duration(hour?.one_in_twenty_took_more_than_s)],
      ]),
    ),
  );
}

function folders({ folders: its, free = [], inbox }) {
  const watched =
    its?.watched_by === "polling"
      ? `looked at every ${duration(its.poll_s)}, since the kernel does not report changes here`
      : its?.watched_by === "events" && "watched by events";
  return panel(
    "pf",
    "Folders",
    {},
    el(
      "div.in",
      facts([
        ["Inbox", [its?.inbox ?? inbox, watched && el("span.two-l", watched)]],
        ["Processed", its?.processed],
        ["Failed", its?.failed],
        [
          its?.outputs?.length === 1 ? "Output" : "Outputs",
          its?.outputs?.length > 0 && its.outputs.map((folder) => el("div", folder)),
        ],
        [
          "Free",
          free.length > 0 &&
            free.map(({ folder, free: is, total, kept }) =>
              el(
                "div",
                `${bytes(is)} of ${bytes(total)} at ${folder}`,
                meter(total - is, total, is <= kept * 1.1),
                kept > 0 && el("span.two-l", `${bytes(kept)} are kept free`),
              ),
            ),
        ],
      ]),
    ),
  );
}

export async function show(main, name) {
  setTitle(name);
  let more = {};
  let draw = () => {};
  const changed = () => draw();
  const working = following(
    { pipeline: name, state: "queued,running,deferred,settling", limit: 10 },
    { changed, relevant: ({ pipeline }) => pipeline === name },
  );
  const read = async () => {
    more = await get(pathOf("/pipelines", name));
  };
  const file = fileOf(name);
  const readFile = calmly(1000, async () => {
    try {
      await file.read(more.file);
    } finally {
      changed();
    }
  });
  try {
    await patiently(main, Promise.all([read(), working.read()]));
  } catch (problem) {
    if (problem.status === 404)
      main.replaceChildren(
        el("div.panel", empty("search", "No such pipeline", problem.text, el("a.b", { href: "/" }, "Overview"))),
      );
    else throw problem;
    return;
  }
  on(
    "snapshot",
    calmly(2000, async () => {
      await read();
      readFile();
      changed();
    }),
  );
  on("board", () => file.isOld(more.file) && readFile());
  readFile();

  draw = drawn(main, () => {
    // What is live also says what is not any more: only what it never has is taken from elsewhere.
    const { folders: places, last_hour } = more;
    const now = pipelineNamed(name);
    const pipeline = now ? { folders: places, last_hour, ...now } : more;
    const own = differences(pipeline.file);
    const rows = working.rows();
    return [
      head(pipeline),
      notices(pipeline),
      own.length > 0 && changedFile(own, state.overview.files.loaded),
      stages(pipeline),
      el(
        "div.cols.wide",
        el(
          "div.cols",
          panel(
            "aw",
            "At work",
            {
              beside: working.more("job"),
              more: el("a", { href: address("/jobs", { pipeline: name }) }, `All jobs of ${name}`),
            },
            rows.length
              ? el(
                  "ul.list",
                  rows.map((job) => item(job, { pipeline: false })),
                )
              : el("p.in.dim", "Nothing is claimed."),
          ),
          file.panel(),
        ),
        el("div.cols", lastHour(pipeline), folders(pipeline)),
      ),
    ];
  });
}
