// What is said of a pipeline, in the same words everywhere: why it stands still, and what became of its file.

import { errors, reload } from "./actions.js";
import { el } from "./dom.js";
import { sentenceNodes } from "./names.js";
import { banner, button, inWords } from "./parts.js";
import { may } from "./shell.js";
import { age as ageText, count, duration } from "./sizes.js";
import { age, clock } from "./times.js";

/** `by anna on mill-2 12 min ago: RIP 2 is being serviced; until 16:00`. */
export function holdSentence({ by, node, since, until, reason }) {
  return [
    by && `by ${by} `,
    node && ["on ", sentenceNodes(node), " "],
    since && [age(since), " ago"],
    reason && `: ${reason}`,
    until && ["; until ", clock(until, { seconds: false })],
  ];
}

/** Why a pipeline is in its state: what follows the state's word. */
export function sentenceOf({ state, hold, trouble, stalled, last_settled_at: last, opens_at: opens }) {
  if (state === "trouble" && trouble) return `: ${lower(trouble.summary)}`;
  if (hold && (state === "paused" || state === "drained")) return [" ", holdSentence(hold)];
  if (state === "stalled" && stalled)
    return `: ${stalled.text ? lower(stalled.text) : `nothing has moved for ${ageText(stalled.for_s)}`}`;
  if (state === "silent") return ": its folders have not answered for a minute";
  if (state === "outside_hours" && opens) return [" until ", clock(opens, { seconds: false })];
  if (state === "idle" && last) return [", last job ended ", age(last), " ago"];
  return "";
}

const lower = (text = "") =>
  text.replace(/\.$/, "").replace(/^(Only|The|Nothing|No|Its|There)\b/, (word) => word.toLowerCase());

export const baseName = (path = "") => path.split("/").at(-1);

/** Files that are on disk as they are not loaded. A reload takes all of them or none. */
export function changedFile(files, loaded) {
  const told = {
    changed: "was changed and is not loaded",
    added: "was added and is not loaded",
    gone: "is gone, and goes on as it was loaded",
    silent: "has not begun",
  };
  const one = files.length === 1 ? files[0] : undefined;
  const head = one
    ? [
        el("strong", `${baseName(one.file)} ${told[one.kind] ?? one.kind}`),
        one.at && [", ", age(one.at), " ago"],
        ". ",
        one.reason && `${one.reason}.`,
      ]
    : [
        el("strong", `${count(files.length)} pipeline files are not as they were loaded:`),
        ` ${inWords(files.slice(0, 6).map(({ file }) => baseName(file)))}${files.length > 6 ? " and others" : ""}.`,
      ];
  return banner("note", "info", el("p", head, " A reload takes all files or none."), {
    acts: [may("operate") && button(loaded > 1 ? `Reload all ${count(loaded)}` : "Reload", reload, { classes: ".s" })],
  });
}

/** The last reload was refused. */
export function refusedReload({ refused = [] }) {
  if (!refused.length) return false;
  return banner(
    "warn",
    "trouble",
    [
      el(
        "p",
        el("strong", "The last reload was refused;"),
        " what was loaded before it stays in force. Correct this, then reload:",
      ),
      errors(refused),
    ],
    { acts: [may("operate") && button("Reload again", reload, { classes: ".s" })] },
  );
}

export const usually = (seconds) => seconds !== undefined && `usually ${duration(seconds)}`;
