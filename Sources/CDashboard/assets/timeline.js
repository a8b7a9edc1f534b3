// A job on a time axis: one row a stage, with its waits, runs and attempts. What the bars show stands in text, too.

import { el, svg } from "./dom.js";
import { progressText } from "./joblist.js";
import { sentenceNodes } from "./names.js";
import { cell, panel, progress, row } from "./parts.js";
import { count, duration, percent } from "./sizes.js";
import { age as ageText } from "./sizes.js";
import { clock, clockText, now } from "./times.js";

const STEPS = [
  0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800,
  2_592_000,
];
const WAITS = ["inbox", "queued", "deferred"];
/** With "shorten the waits" a wait is drawn at an eighth of its length. */
const SHORT = 1 / 8;

const secondsOf = (stamp) => Date.parse(stamp) / 1000;

/** Spans as seconds from the beginning, and how long all of it is on the axis. */
function measured({ first_seen: first, rows }) {
  const end = now() / 1000;
  const all = rows.flatMap(({ spans = [] }) => spans);
  const begin = Math.min(...[first, ...all.map(({ from }) => from)].filter(Boolean).map(secondsOf));
  const place = (span) => ({
    ...span,
    a: secondsOf(span.from) - begin,
    b: Math.max(secondsOf(span.from), span.to ? secondsOf(span.to) : end) - begin,
    open: !span.to,
  });
  const placed = rows.map((each) => ({ ...each, spans: (each.spans ?? []).map(place) }));
  const long = Math.max(0.001, ...placed.flatMap(({ spans }) => spans.map(({ b }) => b)));
  const step = STEPS.find((one) => long / one <= 5) ?? long / 4;
  const whole = Math.ceil(long / step) * step;
  return { begin, rows: placed, long, step, whole };
}

/** Where seconds lie on the axis, in percent; with waits shortened their time is compressed for all rows alike. */
function scale({ rows, whole }, folded) {
  if (!folded) return (at) => (at / whole) * 100;
  const spans = rows.flatMap(({ spans: some }) => some);
  const works = spans.filter(({ kind }) => !WAITS.includes(kind));
  const edges = [...new Set([0, ...spans.flatMap(({ a, b }) => [a, b])])].sort((a, b) => a - b);
  const places = new Map([[0, 0]]);
  let sum = 0;
  edges.slice(1).forEach((edge, index) => {
    const works_here = works.some(({ a, b }) => a <= edges[index] && edge <= b);
    sum += (edge - edges[index]) * (works_here ? 1 : SHORT);
    places.set(edge, sum);
  });
  return (at) => (places.get(at) / (sum || 1)) * 100;
}

const CLASSES = { inbox: "w", queued: "q", deferred: "d", settling: "k" };
const SHAPES = { w: [8, 4], q: [5, 10], d: [5, 10] };

function classOf({ kind, outcome, open }) {
  if (kind === "run" || kind === "settling") return open ? "g" : ({ again: "t", failed: "f" }[outcome] ?? "k");
  return CLASSES[kind] ?? "k";
}

const saying = { inbox: "in the inbox", queued: "queued", run: "ran", deferred: "deferred", settling: "settled in" };
const spanText = (span) =>
  `${span.open ? ({ run: "runs for", queued: "queued for" }[span.kind] ?? saying[span.kind]) : (saying[span.kind] ?? span.kind)} ${duration(span.b - span.a)}${span.outcome === "failed" ? ", failed" : span.outcome === "again" ? ", tries again" : ""}`;

function bar(spans, x, grid) {
  return svg(
    "svg.bar",
    { "aria-hidden": "true" },
    grid.map((at) => svg("rect.grid", { x: `${at}%`, width: 1, y: -20, height: 60 })),
    spans.map((span) => {
      const its = classOf(span);
      const [y, height] = SHAPES[its] ?? [2, 16];
      const width = x(span.b) - x(span.a);
      // What was too short to be seen is 3 px wide, and stays on the axis.
      return svg(
        `rect.${its}`,
        {
          x: `${Math.min(x(span.a), 99.6).toFixed(2)}%`,
          y,
          height,
          rx: its === "d" ? 3 : 2,
          width: width < 0.6 ? 3 : `${width.toFixed(2)}%`,
        },
        svg("title", spanText(span)),
      );
    }),
  );
}

function axis({ begin, step, whole }) {
  const ticks = Array.from({ length: Math.round(whole / step) + 1 }, (_, index) => index);
  const label = (index) =>
    index === 0
      ? clockText(new Date(begin * 1000).toISOString())
      : `+${step * index < 1 ? duration(step * index) : ageText(step * index)}`;
  return svg(
    "svg.axis",
    { "aria-hidden": "true" },
    ticks.map((index) =>
      svg(
        "text",
        {
          x: `${((index * step) / whole) * 100}%`,
          y: 12,
          "text-anchor": index === 0 ? "start" : index === ticks.length - 1 ? "end" : "middle",
        },
        label(index),
      ),
    ),
  );
}

/** Attempts, each as a line of text, where there is more to tell than the bar does. */
function attempts(spans) {
  const runs = spans.filter(({ kind, text, attempt }) => kind === "run" && (text || attempt > 1));
  return runs.map((run) =>
    row(
      { class: "sub" },
      el("th", { role: "rowheader", scope: "row" }, el("span.vh", "more of this stage")),
      cell(
        ".bars",
        {},
        run.attempt ? [`attempt ${count(run.attempt)} at `, clock(run.from), run.text && ": "] : "",
        run.text && sentenceNodes(run.text),
      ),
      cell(".num", {}, duration(run.b - run.a)),
    ),
  );
}

function stage(its, x, grid, job) {
  const { kind, label, workers, spans } = its;
  const took = spans.length ? Math.max(...spans.map(({ b }) => b)) - Math.min(...spans.map(({ a }) => a)) : undefined;
  const todo = !spans.length;
  const over = job.state === "failed" || job.state === "cancelled";
  const below = todo
    ? over
      ? "not reached"
      : "to come"
    : [label !== kind && label, workers > 1 && `${count(workers)} workers`].filter(Boolean).join(", ");
  const runs = job.state === "running" && spans.some(({ kind: which, open }) => which === "run" && open);
  return [
    row(
      { class: `stage${todo ? " todo" : ""}` },
      el("th", { role: "rowheader", scope: "row" }, el("b", kind), below && el("span.two-l", below)),
      cell(".bars", {}, bar(spans, x, grid), el("span.vh", todo ? below : spans.map(spanText).join(", "))),
      cell(".num.soft", {}, took === undefined ? (over ? "–" : "") : duration(took)),
    ),
    attempts(spans),
    runs &&
      job.progress &&
      row(
        { class: "sub" },
        el("th", { role: "rowheader", scope: "row" }, el("span.vh", "how far it is")),
        cell(
          ".bars",
          {},
          job.progress.of > 0 && progress(job.progress.done, job.progress.of, kind),
          progressText(job.progress),
        ),
        cell(".num", {}, job.progress.of > 0 && `${percent(job.progress.done, job.progress.of)} %`),
      ),
  ];
}

const key = (its, y, height, text) =>
  el(
    "span",
    svg(
      "svg.bar",
      { viewBox: "0 0 18 10", "aria-hidden": "true" },
      svg(`rect.${its}`, { x: 1, y, width: 16, height, rx: 2 }),
    ),
    text,
  );

const legend = () =>
  el(
    "div.pager",
    el(
      "div.keys",
      key("w", 3.5, 3, "in the inbox"),
      key("q", 2.5, 5, "queued"),
      key("k", 0.5, 9, "ran, done"),
      key("t", 0.5, 9, "ran, tries again"),
      key("f", 0.5, 9, "ran, failed"),
      key("d", 2.5, 5, "deferred"),
      key("g", 0.5, 9, "runs now"),
    ),
  );

/** The panel. `folded` shortens the waits, `fold` is called to change that. */
export function timeline(job, { folded, fold }) {
  const { timeline: its } = job;
  if (!its?.rows?.some(({ spans }) => spans?.length)) return false;
  const all = measured(its);
  const x = scale(all, folded);
  const grid = folded
    ? []
    : Array.from({ length: Math.round(all.whole / all.step) }, (_, index) => ((index * all.step) / all.whole) * 100);
  const work = all.rows
    .flatMap(({ spans }) => spans)
    .filter(({ kind }) => kind === "run")
    .reduce((sum, { a, b }) => sum + b - a, 0);
  const goesOn = all.rows.some(({ spans }) => spans.some(({ open }) => open));
  const held = (its.held ?? []).map(({ text, for_s: time }) =>
    el("li", `for ${duration(time)}: `, sentenceNodes(text)),
  );
  const box = el("input", { type: "checkbox", checked: folded, onchange: ({ target }) => fold(target.checked) });
  return panel(
    "tl",
    "Time line",
    {
      beside: el(
        "span.soft.small",
        `${duration(all.long)} ${goesOn ? "so far" : "from the inbox to the end"}, of which ${duration(work)} at work`,
      ),
      more: el("label", box, " shorten the waits"),
    },
    el(
      `table.tl${folded ? ".folded" : ""}`,
      { role: "table" },
      el("caption.vh", "Stages of this job with their waits, runs and attempts"),
      el(
        "thead",
        { role: "rowgroup" },
        row(
          {},
          el("th.c-s", { role: "columnheader", scope: "col" }, "Stage"),
          el(
            "th",
            { role: "columnheader", scope: "col" },
            el("span.vh", "When it waited and ran"),
            !folded && axis(all),
          ),
          el("th.num.c-d", { role: "columnheader", scope: "col" }, "Took"),
        ),
      ),
      el(
        "tbody",
        { role: "rowgroup" },
        all.rows.map((each) => stage(each, x, grid, job)),
      ),
    ),
    held.length > 0 && el("div.pager", el("span", "Held in the inbox"), el("ul.held", held)),
    legend(),
  );
}
