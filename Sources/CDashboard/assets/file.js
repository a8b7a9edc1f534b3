// A pipeline's file as the daemon has loaded it, and what differs on disk, line by line. The daemon leaves secrets out.

import { get, pathOf } from "./api.js";
import { el } from "./dom.js";
import { state } from "./live.js";
import { panel } from "./parts.js";
import { baseName } from "./pipes.js";
import { count, counted } from "./sizes.js";
import { clock } from "./times.js";

const HIDDEN = "•••";
const SIGNS = { loaded: ["del", "−", "loaded: "], disk: ["add", "+", "on disk: "] };

/** What the daemon says of this file among those that are not as they were loaded. */
export const differences = (file) => (state.overview?.files?.changed ?? []).filter((other) => other.file === file);

/** The file of a pipeline, read anew where the daemon says that something is not as it was. */
export function fileOf(name) {
  let its;
  let problem;
  let seen;
  let revision = 0;
  return {
    /** Whether what is known may be out of date. */
    isOld: (file) => seen !== JSON.stringify(differences(file)),
    async read(file) {
      seen = JSON.stringify(differences(file));
      try {
        its = await get(pathOf("/pipelines", name, "file"));
        problem = undefined;
        revision += 1;
      } catch (failure) {
        if (!its) problem = failure;
        seen = undefined;
        throw failure;
      }
    },
    panel: () => (its ? shown(its, `${name} ${revision}`) : problem && untold(problem)),
  };
}

/** What would turn the text around is shown, not obeyed. */
const plainly = (text) =>
  text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);

function line({ kind, text: written }) {
  const text = plainly(written);
  const [tone, sign, said] = SIGNS[kind] ?? [];
  const [, before, key, rest] = /^(\s*(?:- )?)([\w-]+)(:.*)$/.exec(text) ?? [];
  return el(
    `span.l${tone ? `.${tone}` : ""}`,
    sign && [el("span.vh", said), el("span.sg", { "aria-hidden": "true" }, sign)],
    /^\s*#/.test(text) ? el("span.c", text) : key ? [before, el("span.k", key), rest] : text || " ",
  );
}

const numberOf = (lines, kind) => lines.filter((each) => each.kind === kind).length;

/** How the file on disk is: a few words after its name, and a sentence where there is more to be said. */
function onDisk({ disk, reason, changed_at: at, lines }) {
  const most = Math.max(numberOf(lines, "loaded"), numberOf(lines, "disk"));
  const differ = `; ${counted(most, "line")} ${most === 1 ? "differs" : "differ"} on disk, changed `;
  return {
    same: ["; the same on disk"],
    changed: [[differ, at && clock(at)]],
    gone: ["; gone on disk", `It goes on as it was loaded: ${reason}.`],
    unreadable: ["; changed on disk", `What is on disk is not shown: ${reason}. ‘dropmill check’ says what is wrong.`],
    silent: ["; not known on disk", `${reason}.`],
  }[disk];
}

function shown(its, revision) {
  const { file, loaded_at: loaded, lines, more = 0 } = its;
  const [beside, sentence] = onDisk(its);
  const differs = lines.some(({ kind }) => kind !== "same");
  const name = baseName(file);
  // As long as it is the same text its lines stay in the page.
  const isThere = document.querySelector("#file pre")?.dataset.own === revision;
  return panel(
    "ya",
    "File",
    {
      key: "file",
      beside: el("span.soft.small", `${name}, loaded `, clock(loaded, { seconds: false }), beside),
      more: differs && [el("span.code", "−"), " loaded ", el("span.code", "+"), " on disk"],
    },
    sentence && el("p.in.soft", sentence),
    el(
      `pre.yaml${differs ? ".diff" : ""}`,
      { tabindex: 0, role: "region", "aria-label": `Text of ${name}`, "data-key": "text", "data-own": revision },
      !isThere && el("code", lines.map(line)),
    ),
    el(
      "div.in.soft.small",
      more > 0 && el("p", `${count(more)} more lines are not shown.`),
      lines.some(({ text }) => text.includes(HIDDEN)) &&
        el("p", `${HIDDEN} stands for what may be a secret, and for comments beside it.`),
    ),
  );
}

function untold({ text }) {
  return panel("ya", "File", { key: "file" }, el("p.in.soft", `It is not known now. ${text}`));
}
