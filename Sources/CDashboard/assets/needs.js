// What needs a person: what does not pass by itself, or what a person can shorten. At most five, each with its remedy.
// The list stands still: what is over stays and says so, what is new is counted until it is asked for.

import { get } from "./api.js";
import { changeMany } from "./actions.js";
import { el } from "./dom.js";
import { on, pipelines } from "./live.js";
import { nodes, own } from "./nodes.js";
import { button, code, mark, markAlone, newer, panel } from "./parts.js";
import { may } from "./shell.js";
import { count, counted, age as ageText } from "./sizes.js";
import { keepPlaces } from "./still.js";
import { clock, now } from "./times.js";
import { calmly } from "./view.js";

const MOST = 5;
/** From so many on a group of failures is more than a drop that was bad. */
const MANY = 5;
const at = (name) => `/pipelines/${encodeURIComponent(name)}`;

function ofPipeline({ name, state, trouble, stalled, waiting }) {
  const drops =
    waiting?.drops > 0 &&
    el(
      "a.b.s",
      { href: `/waiting?pipeline=${encodeURIComponent(name)}` },
      waiting.drops === 1 ? "1 drop waits" : `${count(waiting.drops)} drops wait`,
    );
  if (state === "trouble" && trouble) {
    return {
      key: `trouble ${name}`,
      state,
      href: at(name),
      head: `${name} is paused by trouble${own() ? ` on ${own()}` : ""}`,
      fact: trouble.summary,
      remedy: trouble.remedy,
      act: drops,
    };
  }
  if (state === "stalled" && stalled) {
    return {
      key: `stalled ${name}`,
      state,
      href: at(name),
      head: `${name} is stalled`,
      fact: stalled.text || `Nothing has moved for ${ageText(stalled.for_s)}.`,
      remedy: stalled.job ? "Look at what it works on, or cancel the job." : "Look at what the folder is on.",
      act: stalled.job && el("a.b.s", { href: `/jobs/${stalled.job}` }, "Open the job"),
    };
  }
  if (state === "silent") {
    return {
      key: `silent ${name}`,
      state,
      href: at(name),
      head: `${name} does not answer`,
      fact: "Its folders have not answered for a minute.",
      remedy: "Look at the file system that they are on; work goes on by itself.",
      act: drops,
    };
  }
  return undefined;
}

/** What pauses this node's own pipelines they tell themselves. */
function ofNode({ name, paused }) {
  const pauses = name === own() ? [] : paused;
  return pauses.map(({ pipeline, trouble }) => ({
    key: `trouble ${pipeline} on ${name}`,
    state: "trouble",
    href: at(pipeline),
    head: `${pipeline} is paused by trouble on ${name}`,
    fact: trouble.summary,
    remedy: trouble.remedy,
  }));
}

function ofGroup(group) {
  const { pipeline, code: reason, jobs, producers = [], first_at: first, last_at: last } = group;
  return {
    key: `group ${pipeline} ${reason}`,
    state: "failed",
    href: `/failed?pipeline=${encodeURIComponent(pipeline)}`,
    head: [`${counted(jobs, "drop")} of ${pipeline} failed with `, code(reason)],
    fact: [
      first && last && ["Between ", clock(first, { seconds: false }), " and ", clock(last, { seconds: false })],
      producers.length === 1 && [", all from ", el("code", producers[0])],
      ". ",
    ],
    remedy: group.remedy,
    act:
      may("operate") && group.retry === true
        ? button(
            `Retry ${count(jobs)}`,
            () => changeMany("retry", { filter: { pipeline, code: reason, state: "failed" } }),
            { classes: ".s" },
          )
        : el("a.b.s", { href: `/failed?pipeline=${encodeURIComponent(pipeline)}` }, "See the group"),
  };
}

function line({ key, state, href, head, fact, remedy, act, gone }) {
  return el(
    "li",
    { "data-key": key },
    gone ? markAlone("processed") : markAlone(state),
    el("div", el("a.row", { href }, head), el("span.two-l", gone ? "That is over." : [fact, " ", el("b", remedy)])),
    !gone && act,
  );
}

/** The list, `read()` it once; `panel()` and `sentence()` draw it. */
export function needs(changed) {
  let groups = [];
  let isKnown = false;
  let shown;
  let coming = 0;
  const all = () =>
    [...pipelines().map(ofPipeline), ...nodes().flatMap(ofNode), ...groups.map(ofGroup)].filter(Boolean).slice(0, MOST);
  const update = () => {
    if (shown) ({ rows: shown, coming } = keepPlaces(shown, all(), ({ key }) => key));
    else shown = all();
  };
  const fetch = async () => {
    const since = now() - 86_400_000;
    isKnown = await get("/failed").then(
      ({ groups: all }) => {
        groups = all.filter(({ jobs, last_at: last }) => jobs >= MANY && (!last || Date.parse(last) > since));
        return true;
      },
      () => false,
    );
  };
  const look = calmly(10_000, async () => {
    await fetch();
    changed();
  });
  on("jobs", ({ changes = [] }) => changes.some(({ event }) => event === "failed") && look());
  on("elsewhere", ({ failed }) => failed && look());
  const show = () => {
    shown = undefined;
    coming = 0;
    changed();
  };
  return {
    read: fetch,
    sentence() {
      const open = all().length;
      return open
        ? `${open === 1 ? "One thing waits" : `${count(open)} things wait`} for a person. Everything else goes on by itself.`
        : isKnown
          ? "Everything goes on by itself."
          : "What failed is not known: the daemon did not say.";
    },
    panel() {
      update();
      const more = newer(coming, `${count(coming)} more: show`, show);
      if (!shown.length)
        return el(
          "section.panel.calm",
          { "aria-label": "What needs a person" },
          el("p", isKnown ? mark("processed", { text: "Nothing needs you." }) : "Whether something needs you is not known."),
          more,
        );
      return panel("need", "Needs a person", { beside: more }, el("ul.need", shown.map(line)));
    },
  };
}
