// What the page knows of the daemon, and whether to believe it. Fed by the worker's stream, or by one of this page's own.

import { get, signIn } from "./api.js";
import { follow, merged } from "./stream.js";
import { nowText, runClock, setClock } from "./times.js";

/** After this long without the stream the page says so. */
const PATIENCE = 3000;
/** How often it is asked for what the stream does not tell. */
const ELSEWHERE = 5000;

/** `connection`: opening, live, lost; `daemon`: up, down, stopping; `asOf`: when something was heard last. */
export const state = {
  overview: undefined,
  connection: "opening",
  daemon: "up",
  text: "",
  asOf: undefined,
  retryAt: undefined,
};

const listeners = new Map();
let timer;
let source = { seen() {}, retry() {} };

/**
 * Calls back for `snapshot`, `board`, `jobs`, `progress`, `missed`, `daemon`, and `state` whenever the above changes;
 * for `elsewhere`, each five seconds, where other nodes may have done something: `jobs` tells of this one's alone.
 * `failed`: whether other failures are open than before.
 */
export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(listener);
}

const emit = (name, data) => {
  for (const listener of listeners.get(name) ?? []) listener(data);
};

export const isStale = () => state.connection === "lost" || state.daemon === "down";
export const pipelines = () => state.overview?.pipelines ?? [];
export const pipelineNamed = (name) => pipelines().find((pipeline) => pipeline.name === name);
export const retryNow = () => source.retry();

function changed(name, data) {
  runClock(!isStale());
  if (name) emit(name, data);
  emit("state");
}

function take(name, data) {
  state.overview = merged(state.overview, name, data);
  if (name === "snapshot") {
    runClock(true);
    setClock(data.daemon);
    state.daemon = data.daemon.stopping ? "stopping" : "up";
  } else if (name === "daemon") {
    // The last thing that was heard of a daemon that is gone.
    if (data.state === "down" && state.daemon !== "down") state.asOf = nowText();
    state.daemon = data.state;
    state.text = data.text ?? "";
  }
  if (state.daemon !== "down") state.asOf = nowText();
  changed(name, data);
}

const failures = () => pipelines().map(({ jobs }) => jobs.failed).join();
let failed;

/** What other nodes do is asked for now and then. */
function lookElsewhere() {
  if (document.hidden || isStale() || !state.overview?.nodes) return;
  const before = failed;
  failed = failures();
  emit("elsewhere", { failed: before !== failed });
}

function connected({ open, status, wait }) {
  if (open) {
    clearTimeout(timer);
    timer = undefined;
    state.connection = "live";
    changed();
    return;
  }
  if (status === 401) signIn();
  state.retryAt = wait ? Date.now() + wait : undefined;
  if (state.connection === "lost") changed();
  else timer ??= setTimeout(lose, PATIENCE);
}

async function lose() {
  timer = undefined;
  state.connection = "lost";
  changed();
  if (state.overview) return;
  // Nothing was ever heard, as when all streams are taken: one look is better than none.
  try {
    const overview = await get("/overview");
    if (!state.overview) take("snapshot", overview);
  } catch (problem) {
    if (problem.code === "daemon.down") take("daemon", { state: "down", text: problem.fact });
  }
}

function byWorker() {
  const worker = new SharedWorker("/assets/live-worker.js", { type: "module", name: "dropmill" });
  worker.port.onmessage = ({ data }) => (data.connection ? connected(data.connection) : take(data.name, data.data));
  // It could not be loaded: the page helps itself.
  worker.onerror = () => begin(byPage());
  return {
    seen: (is) => worker.port.postMessage(is ? "seen" : "hidden"),
    bye: () => worker.port.postMessage("bye"),
    retry: () => worker.port.postMessage("retry"),
  };
}

function byPage() {
  let stream;
  const open = () =>
    follow("/api/v1/events", {
      opened: () => connected({ open: true }),
      lost: ({ status, wait }) => connected({ open: false, status, wait }),
      event: take,
    });
  const seen = (is) => {
    if (is) stream ??= open();
    else stream = stream?.close();
  };
  return { seen, bye: () => seen(false), retry: () => stream?.retry() };
}

function begin(chosen) {
  source = chosen;
  connected({ open: false });
  source.seen(!document.hidden);
}

export function start() {
  begin(window.SharedWorker ? byWorker() : byPage());
  setInterval(lookElsewhere, ELSEWHERE);
  document.addEventListener("visibilitychange", () => {
    source.seen(!document.hidden);
    if (!document.hidden) return;
    clearTimeout(timer);
    timer = undefined;
  });
  addEventListener("pagehide", () => source.bye());
  addEventListener("pageshow", ({ persisted }) => persisted && source.seen(true));
}
