// What all pages have: the side bar, the session, the mark that tells whether to believe the page, banners, and the line
// that says what happened.

import { post } from "./api.js";
import { $, $$, el, fill, icon, patchChildren } from "./dom.js";
import { isStale, on, pipelines, retryNow, state } from "./live.js";
import { markAlone, plain } from "./parts.js";
import { count } from "./sizes.js";
import { held, onHold } from "./still.js";
import { clock, clockText, zoneText } from "./times.js";

const UNAVAILABLE = "What you see is not current: nothing can be changed now.";
let toast;
let session = { role: "look" };

/** Whether the session may do what takes this role. */
export const may = (role) => session.role === "operate" || session.role === role || role === "look";

/** Whether the session may drop into a pipeline. */
export const mayDropInto = (name) => may("drop") && (!session.pipelines || session.pipelines.includes(name));
export const sessionName = () => session.name;

/** Says what happened. What was refused stays until it was read; the rest goes by itself. */
export function say(text, { stays = false } = {}) {
  const line = $("#said");
  clearTimeout(toast);
  fill(line, text && el("span", text), text && stays && plain("Dismiss", () => say(""), ".s"));
  if (text && !stays) toast = setTimeout(() => say(""), 6000);
}

/** Tells a problem of something that was wished for. */
export const complain = (problem) => say([problem.text, ...(problem.problems ?? [])].join(" "), { stays: true });

export function setTitle(name) {
  const host = state.overview?.daemon.host;
  document.title = `${name} · Dropmill${host ? ` on ${host}` : ""}`;
}

function drawSide() {
  const { daemon } = state.overview;
  const waiting = pipelines().reduce((sum, { waiting: w }) => sum + (w?.drops ?? 0), 0);
  const failed = pipelines().reduce((sum, { jobs }) => sum + (jobs?.failed ?? 0), 0);
  fill($("#n-waiting"), waiting ? count(waiting) : "");
  fill($("#n-failed"), failed ? count(failed) : "");
  $("#n-failed").classList.toggle("bad", failed > 0);
  fill($("#host"), daemon.host ?? "");
  fill(
    $("#foot"),
    el("p", "Since ", clock(daemon.started_at, { seconds: false })),
    el("p", `Dropmill ${daemon.version}; times in ${zoneText()}`),
  );
  const items = pipelines().map(({ name, state: its, waiting: w }) =>
    el(
      "li",
      { "data-key": name },
      el(
        "a",
        {
          href: `/pipelines/${encodeURIComponent(name)}`,
          "aria-current": location.pathname === `/pipelines/${encodeURIComponent(name)}` && "page",
        },
        markAlone(its),
        el("span.t", name),
        w?.drops > 0 && el("span.n", count(w.drops)),
      ),
    ),
  );
  patchChildren($("#pipes"), el("ul", items));
}

function drawLive() {
  const mark = $("#live");
  const known = isStale() && state.asOf !== undefined;
  const now = isStale() ? "lost" : state.connection === "opening" ? "opening" : held() ? "held" : "live";
  const text = {
    live: "live",
    held: "list stands still",
    opening: "asking",
    lost: known ? `as of ${clockText(state.asOf)}` : "not connected",
  }[now];
  if (mark.dataset.state === now && mark.lastChild.textContent === text) return;
  mark.dataset.state = now;
  fill(mark, icon("live"), el("span", text));
}

function strip(id, kind, sign, lines, acts = []) {
  return el(
    `div.banner.${kind}`,
    { "data-key": id, id },
    icon(sign, { size: "l" }),
    el("div", lines),
    acts.length > 0 && el("div.acts", acts),
  );
}

function banners() {
  const seen = state.asOf === undefined ? "" : ["What you see is from ", clock(state.asOf), ". "];
  if (state.connection === "lost") {
    const wait = Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000));
    return [
      strip(
        "lost",
        "warn",
        "deferred",
        el(
          "p",
          el("strong", "No connection to this page’s server."),
          " ",
          seen,
          el("span", { "aria-hidden": "true" }, wait ? `Trying again in ${count(wait)} s.` : "Trying again."),
        ),
        [plain("Try now", retryNow, ".s")],
      ),
    ];
  }
  if (state.daemon === "down") {
    return [
      strip("down", "bad", "trouble", [
        el(
          "p",
          el("strong", "The daemon is not running."),
          " ",
          seen,
          "Nothing is lost: what was claimed goes on at the next start.",
        ),
        el(
          "p.soft",
          "Start it with ",
          el("code", "sudo systemctl start dropmill"),
          ". This page comes back by itself.",
        ),
      ]),
    ];
  }
  const daemon = state.overview?.daemon;
  return [
    state.daemon === "stopping" &&
      strip(
        "stopping",
        "warn",
        "deferred",
        el("p", el("strong", "The daemon is stopping."), " Stages that run end; the rest goes on at the next start."),
      ),
    daemon?.journal &&
      strip(
        "journal",
        "bad",
        "trouble",
        el("p", el("strong", "The journal cannot be written."), ` ${daemon.journal} Nothing is claimed until it can.`),
      ),
  ].filter(Boolean);
}

/** While nothing is heard, what would change something says so; it keeps its place. */
export function markActions() {
  document.body.classList.toggle("stale", isStale());
  for (const button of $$("main [data-act], #float [data-act]")) {
    if (isStale()) {
      button.setAttribute("aria-disabled", "true");
      button.title = UNAVAILABLE;
    } else if (button.title === UNAVAILABLE) {
      button.removeAttribute("aria-disabled");
      button.removeAttribute("title");
    }
  }
}

function draw() {
  if (state.overview && !held()) drawSide();
  drawLive();
  patchChildren($("#banners"), el("div", banners()));
  markActions();
}

function drawSession() {
  fill($("#who"), session.name ? `${session.name} (${session.role})` : "");
  if (!may("drop")) $("#nav-drop").remove();
  if (session.via !== "token") return;
  $("#who").after(
    plain(
      "Sign out",
      async () => {
        await post("/logout");
        location.assign("/login");
      },
      ".quiet.s.who",
    ),
  );
}

/** A press on what cannot be done now tells why, and does nothing. */
function refuse(event) {
  const target = event.target.closest?.("[aria-disabled=true]");
  if (!target) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  say(target.title);
}

export function startShell(its) {
  session = its;
  drawSession();
  document.addEventListener("click", refuse, true);
  on("state", draw);
  onHold(draw);
  // The seconds until the next try.
  setInterval(() => state.connection === "lost" && !document.hidden && draw(), 1000);
  draw();
  const section = location.pathname.split("/")[1];
  const tab = $(`.nav-l a[href="/${section}"]`);
  if (tab) {
    tab.setAttribute("aria-current", "page");
    // On a small screen the tab of this page is in sight.
    tab.closest("ul").scrollLeft = tab.offsetLeft - 40;
  }
}
