// Who changed what: through a page, a terminal or a signal. Refused wishes are listed, too.

import { get, pathOf } from "./api.js";
import { el } from "./dom.js";
import { bind, sinceField, textField, wish } from "./filters.js";
import { nameNode, sentenceNodes } from "./names.js";
import { address, cell, empty, inWords, mark, panel, row, table, title } from "./parts.js";
import { bytes, count, counted } from "./sizes.js";
import { clock, clockText, dayText, now, startOfDay } from "./times.js";
import { drawn, patiently } from "./view.js";

const KEYS = ["user", "verb", "since", "text", "before"];
const VERBS = [
  "pause",
  "drain",
  "resume",
  "reload",
  "retry",
  "replay",
  "cancel",
  "release",
  "bump",
  "dismiss",
  "drop",
  "forget",
  "halt",
];
const isJob = (text) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text);

function who({ user, uid, token, address: from, role }) {
  const through = token ? `page, token ‘${token}’` : uid !== undefined ? `uid ${uid}` : "";
  return [user ?? token ?? `uid ${uid}`, el("span.two-l", [through, role, from].filter(Boolean).join(", "))];
}

/** The arguments as a sentence: what it was about, then the rest as it was asked. */
function what({ arguments: its = {} }) {
  // Arguments that were too long to keep are text that was cut.
  if (typeof its === "string") return el("code", sentenceNodes(its));
  const { pipelines, pipeline, jobs, job, path, path_base64: inBytes, size, reason, until, ...rest } = its;
  const about = [pipelines ?? pipeline].flat().filter(Boolean);
  const ids = [jobs ?? job].flat().filter(Boolean);
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== "" && value !== false)
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  return [
    inWords(about),
    about.length > 0 && ids.length > 0 && ", ",
    ids.length === 1
      ? el("a", { href: pathOf("/jobs", ids[0]) }, isJob(ids[0]) ? el("code", ids[0]) : ids[0])
      : ids.length > 1 && counted(ids.length, "job"),
    (path || inBytes) && [about.length > 0 && ", ", nameNode(its, "path")],
    size && `, ${bytes(size)}`,
    until && [" until ", Number.isNaN(Date.parse(until)) ? until : clock(until, { seconds: false })],
    reason && [": ", sentenceNodes(reason)],
    others.length > 0 && [" ", el("code", sentenceNodes(others.join(" ")))],
  ];
}

function changeRow(change) {
  const result = change.result ?? (change.refused ? "refused" : "under way");
  return row(
    {},
    cell(".soft.nowrap", {}, el("time", { datetime: change.at }, timeOf(change.at))),
    cell("", {}, who(change)),
    cell("", {}, el("b", change.verb)),
    cell("", {}, what(change)),
    cell("", {}, mark(change.refused ? "failed" : "processed", { text: sentenceNodes(result) })),
  );
}

/** The time alone: the day stands in the head. */
const timeOf = (stamp) =>
  clockText(stamp)
    .replace(/^\D+/, "")
    .replace(/^\d+ \w+ /, "");

function days(changes) {
  const groups = new Map();
  for (const change of changes) {
    const day = dayText(change.at);
    groups.set(day, [...(groups.get(day) ?? []), change]);
  }
  return [...groups];
}

export async function show(main) {
  let changes = [];
  let next;
  let draw = () => {};
  const query = () => Object.fromEntries(KEYS.map((key) => [key, wish(key)]));
  const read = async () => {
    ({ changes, next } = { next: undefined, ...(await get("/changes", query())) });
    draw();
  };
  await patiently(main, read());
  const form = el(
    "form.filters",
    { action: "/changes" },
    textField("Job, pipeline or name", "text", { type: "search" }, ".grow"),
    textField("Who", "user", { size: 10 }),
    el(
      "label",
      "Verb",
      el(
        "select",
        { name: "verb" },
        ["", ...VERBS].map((verb) => el("option", { value: verb }, verb || "all")),
      ),
    ),
    sinceField(),
    el("button.b", { type: "submit" }, "Filter"),
  );
  const list = el("div.stack");
  main.replaceChildren(
    title("Changes", [
      "Who changed what, through this page, a terminal or a signal; the same as ",
      el("code", "dropmill audit"),
      ".",
    ]),
    form,
    list,
  );
  bind(form, read);
  const columns = [["When", ".c-w"], ["Who", ".c-o"], ["Verb", ".c-v"], ["What"], ["Result", ".c-r"]];
  draw = drawn(list, () => {
    const [today, yesterday] = [dayText(now()), dayText(Date.parse(startOfDay(1)))];
    if (!changes.length) {
      const filtered = Object.values(query()).some(Boolean);
      return el(
        "div.panel",
        filtered
          ? empty(
              "search",
              "No change matches",
              "Others may be on record.",
              el("a.b", { href: "/changes" }, "Show all changes"),
            )
          : empty(
              "log",
              "Nobody has changed anything",
              "Pauses, retries, reloads and drops through this page are listed here, with who and when.",
            ),
      );
    }
    return [
      days(changes).map(([day, some], index) =>
        panel(
          `day-${index}`,
          day === today ? "Today" : day === yesterday ? "Yesterday" : day,
          { key: day, beside: (day === today || day === yesterday) && el("span.soft", day) },
          table(".log-t", `Changes of ${day}`, columns, some.map(changeRow)),
        ),
      ),
      el(
        "div.pager.bare",
        el("span", `${count(changes.length)} shown; ${next ? "older ones exist." : "there are no older ones."}`),
        el(
          "span.acts",
          wish("before") && el("a.b.s", { href: address("/changes", { ...query(), before: "" }) }, "Newest"),
          next && el("a.b.s", { href: address("/changes", { ...query(), before: next }) }, "Older"),
        ),
      ),
    ];
  });
}
