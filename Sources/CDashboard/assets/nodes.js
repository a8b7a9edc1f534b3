// The nodes that share the journal: which are alive, what each has, and what it does not do and why.

import { pathOf } from "./api.js";
import { el } from "./dom.js";
import { state } from "./live.js";
import { sentenceNodes } from "./names.js";
import { cell, lead, mark, panel, row, table } from "./parts.js";
import { holdSentence } from "./pipes.js";
import { count } from "./sizes.js";
import { age, clock } from "./times.js";

/** Nothing where the daemon's journal is its own. */
export const own = () => state.overview?.daemon.node;
export const nodes = () => state.overview?.nodes ?? [];

const to = (pipeline) => el("a", { href: pathOf("/pipelines", pipeline) }, pipeline);

/** What a node does not do: a line each. */
function notes({ paused, held }) {
  return [
    ...held.map(({ pipeline, hold }) => [
      to(pipeline),
      ` is ${hold.kind === "drain" ? "drained" : "paused"} `,
      holdSentence(hold),
    ]),
    ...paused.map(({ pipeline, trouble }) => [
      to(pipeline),
      " is paused by trouble",
      trouble.since && [" for ", age(trouble.since)],
      ": ",
      sentenceNodes(trouble.summary),
    ]),
  ].map((text) => el("span.two-l", text));
}

function line(node) {
  const { name, host, version, since, state: its, jobs } = node;
  return row(
    { "data-key": `node ${name} ${since}` },
    lead(
      sentenceNodes(name),
      el(
        "span.two-l",
        mark(its),
        host !== name && [", on ", sentenceNodes(host)],
        name === own() && ", which this page asks",
      ),
      notes(node),
    ),
    cell(".soft", { "data-b": "version" }, version),
    cell(".soft", { "data-b": "since" }, clock(since)),
    cell(`.num${jobs ? "" : ".z"}`, { "data-b": "jobs" }, count(jobs)),
  );
}

export function nodesPanel() {
  if (!own()) return false;
  if (!nodes().length)
    return panel("nodes", "Nodes", {}, el("p.in.dim", "The other nodes are not known: the database does not answer."));
  const columns = [["Node"], ["Version"], ["Since"], ["Jobs", ".num"]];
  return panel(
    "nodes",
    "Nodes",
    { more: "they share the inboxes and the journal" },
    table(".nodes", "Nodes and what they have", columns, nodes().map(line)),
  );
}
