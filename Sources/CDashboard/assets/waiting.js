// Every drop that is not claimed, with the sentence that `dropmill explain` says. A reason that holds a whole pipeline
// stands once in its head, and below it only what waits for something besides.

import { bump, resumePipeline } from "./actions.js";
import { get } from "./api.js";
import { el } from "./dom.js";
import { bind, pipelineField, textField, toggles, wish } from "./filters.js";
import { on, pipelines, state } from "./live.js";
import { nameNode, sentenceNodes } from "./names.js";
import { address, button, cell, empty, lead, mark, newer, panel, plain, row, table, title } from "./parts.js";
import { holdSentence, sentenceOf } from "./pipes.js";
import { may } from "./shell.js";
import { bytes, count, counted } from "./sizes.js";
import { keepPlaces } from "./still.js";
import { ageOf } from "./times.js";
import { calmly, drawn, patiently } from "./view.js";

const LOOK_AGAIN = 5000;
const KINDS = [
  ["", "all"],
  ["incomplete", "not complete"],
  ["held", "held back"],
  ["left", "left alone"],
];
const keyOf = (drop) => `${drop.pipeline} ${drop.path_base64 ?? drop.path}`;
const nameOf = (drop) => [nameNode(drop, "path"), drop.kind === "folder" && el("span.two-l", "folder")];
const whichOf = ({ pipeline, path, path_base64: bytesOf }) => ({
  pipeline,
  ...(bytesOf ? { path_base64: bytesOf } : { path }),
});

/** The sentence, with what a person can do about it behind a semicolon where the program says so. */
function reason(drop) {
  if (drop.gone) return el("span.dim", drop.claimed ? "claimed" : "gone from the inbox, or claimed");
  const bumps = drop.complete && !drop.claimed && may("operate");
  return [
    sentenceNodes(drop.text),
    bumps && [
      " ",
      button("Bump", () => bump(whichOf(drop)), { classes: ".s.quiet", "aria-label": "Bump: put it first in line" }),
    ],
  ];
}

const dropRow = (drop) =>
  row(
    { "data-key": keyOf(drop) },
    lead(nameOf(drop)),
    cell(".num.soft", {}, drop.size === undefined ? "" : bytes(drop.size)),
    cell(".num.soft", { "data-b": "for" }, drop.gone ? "–" : ageOf(drop.for_s, drop.read_at)),
    cell("", {}, reason(drop)),
  );

const leftRow = (drop) =>
  row(
    { "data-key": keyOf(drop) },
    lead(nameOf(drop)),
    cell(".soft", {}, drop.pipeline),
    cell(".num.soft", { "data-b": "for" }, ageOf(drop.for_s, drop.read_at)),
    cell("", {}, reason(drop)),
  );

function wholeReason(group) {
  const { state: its, hold, trouble } = group;
  if (trouble)
    return el(
      "p.why-all",
      "Paused by trouble",
      sentenceOf({ state: "trouble", trouble }),
      ". ",
      el("b", trouble.remedy),
    );
  if (hold) return el("p.why-all", hold.kind === "drain" ? "Drained " : "Paused ", holdSentence(hold), ".");
  if (its === "outside_hours") return el("p.why-all", "Outside its hours", sentenceOf(group), ".");
  if (its === "silent") return el("p.why-all", "Its inbox does not answer; what is in it is not known.");
  return false;
}

function completeLine({ name, complete, waiting }) {
  if (!complete?.drops) return false;
  const all = complete.drops === waiting;
  return el(
    "div.pager",
    el(
      "span",
      el(
        "b",
        all
          ? waiting === 1
            ? "It is complete"
            : `All ${count(complete.drops)} are complete`
          : `${count(complete.drops)} ${complete.drops === 1 ? "is" : "are"} complete`,
      ),
      `, ${bytes(complete.bytes)}`,
      complete.oldest && [
        "; the oldest for ",
        ageOf(complete.oldest.for_s, complete.oldest.read_at),
        ": ",
        nameNode(complete.oldest, "path"),
      ],
    ),
    el("span.acts", el("a.b.s", { href: address("/waiting", { pipeline: name, kind: "complete" }) }, "Show them")),
  );
}

function group(its, loadMore) {
  const { name, drops = [], reasons = [], waiting } = its;
  const counts =
    reasons.length > 1 && reasons.map(({ code: which, drops: number }) => `${which} ${count(number)}`).join(", ");
  const columns = [["Name", ".c-n"], ["Size", ".num.c-s"], ["For", ".num.c-a"], ["Why it waits"]];
  return panel(
    name,
    el("a.row", { href: `/pipelines/${encodeURIComponent(name)}` }, name),
    {
      classes: ".grp",
      key: name,
      beside: [
        mark(its.state),
        el("span.soft", `${count(waiting)} waiting`, counts && `: ${counts}`),
        its.more_text,
        el(
          "span.more.acts",
          may("operate") && its.hold && button("Resume", () => resumePipeline(name), { classes: ".s" }),
        ),
        wholeReason(its),
      ],
    },
    drops.length > 0 && table(".wait-t", `Drops waiting in ${name}`, columns, drops.map(dropRow)),
    completeLine(its),
    its.more &&
      el(
        "div.pager",
        el("span", `${count(drops.length)} shown, the oldest first; more wait.`),
        el(
          "span.acts",
          plain("Show more", () => loadMore(its), ".s"),
        ),
      ),
  );
}

export async function show(main) {
  let data = { pipelines: [], left: [] };
  let fresh = data;
  let coming = 0;
  let draw = () => {};
  const query = () => ({ pipeline: wish("pipeline"), kind: wish("kind"), name: wish("name") });
  const stamped = (answer) => {
    const at = new Date(state.asOf ?? Date.now()).toISOString();
    const stamp = (drop) => ({ ...drop, read_at: at });
    return {
      ...answer,
      pipelines: answer.pipelines.map((each) => ({
        ...each,
        drops: (each.drops ?? []).map((drop) => stamp({ pipeline: each.name, ...drop })),
        complete: each.complete && { ...each.complete, oldest: each.complete.oldest && stamp(each.complete.oldest) },
      })),
      left: (answer.left ?? []).map(stamp),
    };
  };
  const read = async () => {
    fresh = data = stamped(await get("/waiting", { ...query(), limit: 100 }));
    coming = 0;
    draw();
  };
  const look = calmly(LOOK_AGAIN, async () => {
    if (document.hidden) return;
    fresh = stamped(await get("/waiting", { ...query(), limit: 100 }));
    coming = 0;
    // Each pipeline keeps its rows in their places, and the pipelines theirs.
    const now = new Map(fresh.pipelines.map((each) => [each.name, each]));
    const kept = data.pipelines.map((each) => {
      const its = now.get(each.name) ?? { ...each, waiting: 0, drops: [], complete: undefined };
      const { rows, coming: more } = keepPlaces(each.drops, its.drops, keyOf);
      if (!each.extended) coming += more;
      return { ...its, drops: rows, more: each.extended ? each.more : its.more, extended: each.extended };
    });
    coming += fresh.pipelines.filter(
      ({ name, drops }) => drops.length && !data.pipelines.some((each) => each.name === name),
    ).length;
    const left = keepPlaces(data.left, fresh.left, keyOf);
    coming += left.coming;
    data = { ...fresh, pipelines: kept, left: left.rows };
    draw();
  });
  const loadMore = async (its) => {
    const answer = stamped(await get("/waiting", { ...query(), pipeline: its.name, after: its.more, limit: 100 }));
    const [next] = answer.pipelines;
    data = {
      ...data,
      pipelines: data.pipelines.map((each) =>
        each.name === its.name
          ? { ...each, drops: [...each.drops, ...next.drops], more: next.more, extended: true }
          : each,
      ),
    };
    draw.now();
  };
  await patiently(main, read());

  const list = el("div.stack");
  const form = el(
    "form.filters",
    { action: "/waiting" },
    textField("Name or pattern", "name", { type: "search", placeholder: "*.pdf" }, ".grow"),
    pipelineField(),
    toggles("Show", "radio", "kind", [...KINDS.slice(0, 1), ["complete", "complete"], ...KINDS.slice(1)]),
  );
  const head = el("div");
  main.replaceChildren(head, form, list);
  bind(form, read);
  drawn(head, () => {
    const drops = pipelines().reduce((sum, { waiting }) => sum + (waiting?.drops ?? 0), 0);
    return title("Waiting", [
      `${counted(drops, "drop")} ${drops === 1 ? "is" : "are"} in the inboxes and not claimed. Each says why; `,
      el("code", "dropmill explain FILE"),
      " says the same.",
    ]);
  });
  draw = drawn(list, () => {
    const groups = data.pipelines.filter(
      (each) => each.waiting > 0 || each.drops.length > 0 || each.state === "silent",
    );
    const filtered = Object.values(query()).some(Boolean);
    const columns = [["Name", ".c-n"], ["Pipeline", ".c-b"], ["For", ".num.c-a"], ["Why, and what to do"]];
    const again = () => {
      data = fresh;
      coming = 0;
      draw.now();
    };
    return [
      el("div.newer-line", newer(coming, `${counted(coming, "drop")} more: show`, again)),
      groups.map((each) => group(each, loadMore)),
      data.left.length > 0 &&
        panel(
          "left",
          "Left alone",
          {
            beside: el(
              "span.soft",
              `${count(data.left.length)}${data.left_more ? " and more" : ""} in the inboxes that no pipeline takes as they are`,
            ),
          },
          table(".wait-t", "Left alone", columns, data.left.map(leftRow)),
        ),
      !groups.length &&
        !data.left.length &&
        el(
          "div.panel",
          filtered
            ? empty(
                "search",
                "Nothing that waits matches",
                "Other drops may wait.",
                el("a.b", { href: "/waiting" }, "Show all"),
              )
            : empty(
                "waiting",
                "Nothing waits",
                `${pipelines().length === 1 ? "The inbox is" : `All ${count(pipelines().length)} inboxes are`} empty.`,
              ),
        ),
    ];
  });
  on("snapshot", look);
  setInterval(() => state.connection === "live" && state.daemon === "up" && look(), LOOK_AGAIN);
}
