// Each page has its own address; what it shows is built here. One module a page is loaded.

import { get } from "./api.js";
import { $, el, fill } from "./dom.js";
import { startKeys } from "./keys.js";
import { on, start, state } from "./live.js";
import { empty } from "./parts.js";
import { setTitle, startShell } from "./shell.js";
import { patiently } from "./view.js";

const ROUTES = [
  [/^\/$/, "overview", "Overview"],
  [/^\/pipelines\/([^/]+)$/, "pipeline"],
  [/^\/waiting$/, "waiting", "Waiting"],
  [/^\/jobs$/, "jobs", "Jobs"],
  [/^\/jobs\/([^/]+)$/, "job"],
  [/^\/failed$/, "failed", "Failed"],
  [/^\/drop$/, "drop", "Drop"],
  [/^\/changes$/, "changes", "Changes"],
];

/** The daemon's state, once it is known or known to be out of reach. */
const known = () =>
  new Promise((resolve) => {
    const look = () => (state.overview || state.daemon === "down" || state.connection === "lost") && resolve();
    on("state", look);
    look();
  });

async function begin() {
  const main = $("#main");
  const [, page, name, argument] =
    ROUTES.map(([path, module, head]) => [path.exec(location.pathname), module, head])
      .filter(([match]) => match)
      .map(([match, module, head]) => [match, module, head, match[1]])[0] ?? [];
  startKeys();
  start();
  const [session] = await patiently(main, Promise.all([get("/session"), known()]));
  startShell(session);
  if (name) setTitle(name);
  on("snapshot", () => name && setTitle(name));
  if (!page)
    return fill(
      main,
      el(
        "div.panel",
        empty("search", "No such page", "The address leads to nothing here.", el("a.b", { href: "/" }, "Overview")),
      ),
    );
  if (!state.overview) {
    // The daemon was not there from the beginning. The page is loaded once it is.
    fill(
      main,
      el("div.title", el("div", el("h1", name ?? "Dropmill"))),
      el(
        "div.panel",
        empty("trouble", "Nothing is known yet", "What the daemon does is shown here as soon as it answers."),
      ),
    );
    await new Promise((resolve) => on("snapshot", resolve));
  }
  const { show } = await import(`./${page}.js`);
  return show(main, argument && decodeURIComponent(argument));
}

begin().catch((problem) => {
  if (problem.status === 401) return;
  fill($("#main"), el("div.panel", empty("trouble", "This page cannot be shown", problem.text ?? problem.message)));
});
