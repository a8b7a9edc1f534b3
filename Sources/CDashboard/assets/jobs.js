// Jobs, newest first. The filter is the address; the selection is not. No total is counted: older ones exist, or not.

import { bump, changeMany, showRuns } from "./actions.js";
import { get, pathOf } from "./api.js";
import { showBulk } from "./bulk.js";
import { $, el } from "./dom.js";
import { bind, folding, pipelineField, sinceField, textField, toggles, wish, wishes } from "./filters.js";
import { isUnfinished, why } from "./joblist.js";
import { on } from "./live.js";
import { nameNode, nameText, sentenceNodes } from "./names.js";
import { own } from "./nodes.js";
import { address, cell, empty, JOB_STATES, lead, mark, newer, row, stateWord, table, title } from "./parts.js";
import { onRunOver } from "./runs.js";
import { may, say } from "./shell.js";
import { bytes, count, counted, duration } from "./sizes.js";
import { held, hold, onHold } from "./still.js";
import { age, clock } from "./times.js";
import { calmly, drawn, patiently, tint } from "./view.js";

const KEYS = ["state", "pipeline", "producer", "code", "name", "since", "until", "before"];
/** Of one job at most so many rows are asked about in a second; the rest follows. */
const AT_ONCE = 8;

/** What the filter says, in words. */
function said({ state, ...rest }) {
  const parts = [
    state.map(stateWord).join(" or "),
    ...Object.entries(rest)
      .filter(([key, [value]]) => value && key !== "before")
      .map(([key, [value]]) => `${key} ${value}`),
  ];
  return parts.filter(Boolean).join(", ");
}

/** Whether another node has it, of which no event tells. */
const isElsewhere = (job) => isUnfinished(job) && job.node && job.node !== own();

const query = () => Object.fromEntries(Object.entries(wishes(KEYS)).map(([key, values]) => [key, values.join(",")]));

export async function show(main) {
  let jobs = [];
  let next;
  let news = 0;
  let everything = false;
  let last;
  const selected = new Set();
  const stale = new Set();
  let draw = () => {};
  let drawHead = () => {};

  const read = async () => {
    let answer = await get("/jobs", query());
    // A page may end before any job that matches was found.
    while (!answer.jobs.length && answer.next) answer = await get("/jobs", { ...query(), before: answer.next });
    ({ jobs, next } = { next: undefined, ...answer });
    news = 0;
    clear();
    drawHead();
  };
  const clear = () => {
    selected.clear();
    everything = false;
    changed();
  };
  const changed = () => {
    hold("selection", selected.size > 0);
    draw.now?.();
    drawBulk();
  };
  const chosen = () => jobs.filter(({ id }) => selected.has(id));
  const select = (job, box, event) => {
    const from = jobs.findIndex(({ id }) => id === last);
    const to = jobs.indexOf(job);
    const range = event?.shiftKey && from >= 0 ? jobs.slice(Math.min(from, to), Math.max(from, to) + 1) : [job];
    for (const { id } of range)
      if (box.checked) selected.add(id);
      else selected.delete(id);
    last = job.id;
    everything = false;
    changed();
  };

  function jobRow(job) {
    const { id, state } = job;
    const sentence = why(job);
    const elsewhere = isElsewhere(job) && `on ${job.node}`;
    const box =
      may("operate") &&
      el("input", {
        type: "checkbox",
        "aria-label": `Select ${nameText(job)}`,
        onclick: (event) => select(job, event.target, event),
      });
    return row(
      { "data-key": id, "aria-selected": selected.has(id) ? "true" : undefined },
      box && cell(".x", {}, box),
      lead(
        el("a.row", { href: pathOf("/jobs", id) }, nameNode(job)),
        (sentence || elsewhere) &&
          el("span.two-l.clip", elsewhere && sentenceNodes(elsewhere), elsewhere && sentence && ": ", sentence),
      ),
      cell(".stc", {}, mark(state)),
      cell(".soft.pl", {}, job.pipeline),
      cell(".num.soft", {}, bytes(job.size)),
      cell(".num.soft", {}, clock(job.claimed_at)),
      cell(
        ".num.soft",
        { "data-b": isUnfinished(job) ? "for" : "took" },
        isUnfinished(job) ? age(job.claimed_at) : duration(job.duration_s),
      ),
      cell(".id.num", {}, el("span.mono.dim", id.slice(-5))),
    );
  }

  function list() {
    const filter = said(wishes(KEYS));
    if (!jobs.length) {
      return filter || wish("before")
        ? empty(
            "search",
            "No job matches",
            ["Nothing in the journal has all of: ", el("b", filter || "older than that"), "."],
            el("a.b", { href: "/jobs" }, "Show all jobs"),
          )
        : empty("jobs", "No job yet", [
            "Put a file into one of the inboxes",
            may("drop") && [", or ", el("a", { href: "/drop" }, "drop one here")],
            ". It is here a moment later.",
          ]);
    }
    const columns = [
      may("operate") && [
        el("input", {
          type: "checkbox",
          id: "all",
          "aria-label": "Select all that are shown",
          onclick: ({ target }) => {
            for (const { id } of jobs)
              if (target.checked) selected.add(id);
              else selected.delete(id);
            everything = false;
            changed();
          },
        }),
        ".c-x",
      ],
      ["Name"],
      ["State", ".c-st"],
      ["Pipeline", ".c-pl"],
      ["Size", ".num.c-sz"],
      ["Claimed", ".num.c-at"],
      ["Took", ".num.c-tk"],
      ["Id", ".num.c-id"],
    ].filter(Boolean);
    const older = next && address("/jobs", { ...query(), before: next });
    return [
      table(`.jobs${may("operate") ? "" : ".flat"}`, "Jobs, newest first", columns, jobs.map(jobRow)),
      el(
        "div.pager",
        el("span", `${count(jobs.length)} shown; ${next ? "older ones exist." : "there are no older ones."}`),
        el(
          "span.acts",
          wish("before") && el("a.b.s", { href: address("/jobs", { ...query(), before: "" }) }, "Newest"),
          older && el("a.b.s", { href: older }, "Older"),
        ),
      ),
    ];
  }

  function drawBulk() {
    const rows = chosen();
    const filter = Object.fromEntries(Object.entries(query()).filter(([key, value]) => value && key !== "before"));
    const act = async (verb, fit) => {
      const what = everything ? { filter, limit: 10_000 } : { jobs: fit.map(({ id }) => id) };
      if (verb === "bump") for (const { id } of fit) await bump({ job: id });
      else if (!(await changeMany(verb, what))) return;
      clear();
    };
    const all = () => {
      everything = true;
      drawBulk();
    };
    showBulk({ rows, everything, all: rows.length === jobs.length && next && !everything && all, act, clear });
  }

  await patiently(main, read());
  const form = el(
    "form.filters",
    { id: "filters", action: "/jobs" },
    toggles(
      "State",
      "checkbox",
      "state",
      JOB_STATES.map((state) => [state, mark(state)]),
    ),
    textField("Name", "name", { type: "search", placeholder: "invoice-*.pdf" }, ".grow"),
    el("span.brk"),
    pipelineField(),
    textField("Producer", "producer", { size: 10 }),
    textField("Code", "code", { size: 12, placeholder: "disk.full" }),
    sinceField(),
    el("button.b", { type: "submit" }, "Filter"),
  );
  const head = el("div");
  const body = el("section.panel", { "aria-label": "Jobs that match" });
  main.replaceChildren(head, folding(form), body);
  bind(form, read);
  drawHead = drawn(head, () => {
    const filter = said(wishes(KEYS));
    return title(
      "Jobs",
      el(
        "span.said",
        filter
          ? [`${filter}; newest first. `, el("a", { href: "/jobs" }, "Clear")]
          : "All states, all pipelines, newest first.",
      ),
    );
  });
  const tellNew = () => {
    const exact = !wish("name") && !wish("producer") && !wish("code");
    return newer(
      news,
      exact ? `${counted(news, "new job")}: show ${news === 1 ? "it" : "them"}` : "New jobs have come in: look again",
      () => read().then(() => scrollTo({ top: 0 })),
    );
  };
  draw = drawn(body, () => [el("div.newer-line", { "data-key": "new" }, tellNew()), list()]);
  const boxes = draw.now;
  draw.now = () => {
    boxes();
    const all = $("#all");
    if (all) {
      all.checked = jobs.length > 0 && selected.size === jobs.length;
      all.indeterminate = selected.size > 0 && !all.checked;
    }
    for (const { id } of jobs) {
      const box = $(`tr[data-key="${id}"] input`, body);
      if (box) box.checked = selected.has(id);
    }
  };

  // Rows that are shown follow their jobs. One at a time is asked about, a few in a second.
  const refresh = calmly(1000, async () => {
    if (held()) return;
    for (const id of [...stale].slice(0, AT_ONCE)) {
      stale.delete(id);
      const job = await get(pathOf("/jobs", id));
      const before = jobs.find((each) => each.id === id)?.state;
      jobs = jobs.map((each) => (each.id === id ? job : each));
      draw();
      if (before !== job.state) requestAnimationFrame(() => tint($(`tr[data-key="${id}"]`)));
    }
    if (stale.size) refresh();
  });
  onHold(() => stale.size && refresh());
  on("jobs", ({ changes = [] }) => {
    for (const { job, event, pipeline } of changes) {
      if (jobs.some(({ id }) => id === job)) stale.add(job);
      else if (event === "claimed" && !wish("before") && (!wish("pipeline") || wish("pipeline") === pipeline))
        news += 1;
    }
    if (stale.size) refresh();
    draw();
  });
  const refreshElsewhere = calmly(5000, async () => {
    if (held()) return;
    const fresh = new Map((await get("/jobs", query())).jobs.map((job) => [job.id, job]));
    // One that does not match any more is asked about by itself.
    for (const job of jobs) if (isElsewhere(job) && !fresh.has(job.id)) stale.add(job.id);
    jobs = jobs.map((job) => fresh.get(job.id) ?? job);
    draw();
    if (stale.size) refresh();
  });
  on("elsewhere", () => jobs.some(isElsewhere) && refreshElsewhere());
  on("missed", () => say("More has happened than is listed here: look again.", { stays: true }));
  onRunOver(read);
  if (may("operate")) showRuns();
}
