// What failed and was neither sent in again nor dismissed, in groups: one sentence, one remedy, one click for all of it.

import { changeMany, showRuns } from "./actions.js";
import { get, pathOf } from "./api.js";
import { el } from "./dom.js";
import { bind, pipelineField, sinceField, wish } from "./filters.js";
import { on } from "./live.js";
import { nameNode, sentenceNodes } from "./names.js";
import { address, button, code, empty, newer, title } from "./parts.js";
import { onRunOver } from "./runs.js";
import { may } from "./shell.js";
import { count, counted } from "./sizes.js";
import * as spark from "./spark.js";
import { clock } from "./times.js";
import { calmly, drawn, patiently } from "./view.js";

const keyOf = ({ pipeline, code: reason }) => `${pipeline} ${reason}`;

function when({ jobs, first_at: first, last_at: last }) {
  if (!last) return "";
  if (jobs > 1 && first && first !== last)
    return [", between ", clock(first, { seconds: false }), " and ", clock(last, { seconds: false })];
  return [", at ", clock(last, { seconds: false })];
}

function group(its) {
  const { pipeline, code: reason, jobs, newest = [], hours, retry } = its;
  const filter = { state: "failed", pipeline, code: reason, ...(wish("since") && { since: wish("since") }) };
  const id = `g-${keyOf(its).replace(/[^\w-]/g, "-")}`;
  const all = jobs === 1 ? "it" : `all ${count(jobs)}`;
  const acts = may("operate")
    ? [
        retry === true && button(`Retry ${all}`, () => changeMany("retry", { filter }), { "data-verb": "retry" }),
        retry !== true && newest[0] && el("a.b", { href: pathOf("/jobs", newest[0].id) }, "Open"),
        button(`Dismiss ${all}`, () => changeMany("dismiss", { filter }), { classes: ".quiet" }),
      ]
    : newest[0] && [el("a.b", { href: pathOf("/jobs", newest[0].id) }, "Open")];
  return el(
    "article.fg",
    { "aria-labelledby": id, "data-key": keyOf(its) },
    el("p.cnt", count(jobs)),
    el(
      "div",
      el("h2", { id }, sentenceNodes(its.sentence)),
      el("p.rem", sentenceNodes(its.remedy), typeof retry === "string" && [" ", retry]),
      el("p.small.soft", code(reason), " in ", el("a", { href: pathOf("/pipelines", pipeline) }, pipeline), when(its)),
      el(
        "div.eg",
        newest.map((job) => el("span", el("a.row", { href: pathOf("/jobs", job.id) }, nameNode(job)))),
        jobs > newest.length && el("span.dim", `and ${count(jobs - newest.length)} more`),
      ),
    ),
    hours && spark.day(hours),
    el("div.acts", acts, el("a.b.quiet", { href: address("/jobs", filter) }, "List")),
  );
}

export async function show(main) {
  let data = { total: 0, groups: [] };
  let news = 0;
  let draw = () => {};
  const read = async () => {
    data = await get("/failed", { pipeline: wish("pipeline"), since: wish("since") });
    news = 0;
    draw();
  };
  await patiently(main, read());
  const head = el("div");
  const list = el("div.stack");
  const form = el(
    "form.filters",
    { action: "/failed" },
    sinceField(),
    pipelineField(),
    el("span.small.dim.note.xl", "bars: failures an hour, last 24 h"),
  );
  main.replaceChildren(head, form, list);
  bind(form, read);
  drawn(head, () =>
    title(
      "Failed",
      data.total
        ? [
            `${counted(data.total, "drop")} failed and ${data.total === 1 ? "was" : "were"} neither sent in again nor dismissed, in ${counted(data.groups.length, "group")}. The originals are in each pipeline’s `,
            el("code", "failed"),
            " folder.",
          ]
        : "What failed and was neither sent in again nor dismissed.",
      { acts: [el("a.b", { href: "/jobs?state=failed" }, "As a list")] },
    ),
  );
  draw = drawn(list, () => [
    el("div.newer-line", newer(news, `${counted(news, "more failure")}: show`, read)),
    data.groups.length > 0
      ? el("div.panel", data.groups.map(group))
      : el(
          "div.panel",
          wish("pipeline") || wish("since")
            ? empty(
                "search",
                "No failure matches",
                "Others may have failed before, or elsewhere.",
                el("a.b", { href: "/failed" }, "Show all failures"),
              )
            : empty("processed", "Nothing has failed", [
                "What fails is told here with its reason and what to do. The originals are kept in each pipeline’s ",
                el("code", "failed"),
                " folder.",
              ]),
        ),
  ]);
  on("jobs", ({ changes = [] }) => {
    const more = changes.filter(
      ({ event, pipeline }) => event === "failed" && (!wish("pipeline") || wish("pipeline") === pipeline),
    ).length;
    if (!more) return;
    news += more;
    draw();
  });
  const look = calmly(5000, async () => {
    const fresh = await get("/failed", { pipeline: wish("pipeline"), since: wish("since") });
    news = Math.max(news, fresh.total - data.total);
    draw();
  });
  on("elsewhere", ({ failed: more }) => more && look());
  onRunOver(read);
  if (may("operate")) showRuns();
}
