// Files on their way into an inbox: the raw body of a PUT, so many at a time, each with its progress and its end. By
// XMLHttpRequest, since fetch tells nothing of how much has been sent.

import { pathOf, problemOf, signIn, unreachable } from "./api.js";
import { nowText } from "./times.js";

export const AT_ONCE = 8;
/** How long to wait when the server takes no more for now. */
const BUSY = 2000;

const waiting = [];
let active = 0;
let number = 0;

/** All of this visit, the newest first. `state`: waits, arriving, checking, arrived, refused, cancelled. */
export const uploads = [];

export const isUnderWay = ({ state }) => state === "waits" || state === "arriving" || state === "checking";

/** A path of a dropped folder, or a plain name; what has a part that no path may have is nobody's. */
const address = ({ pipeline, path }) =>
  `/api/v1${pathOf("/pipelines", pipeline, "drops")}/${path.split("/").map(encodeURIComponent).join("/")}`;

function next(changed) {
  while (active < AT_ONCE && waiting.length) {
    const upload = waiting.shift();
    if (upload.state === "waits") start(upload, changed);
  }
}

function start(upload, changed) {
  active += 1;
  const request = new XMLHttpRequest();
  const begin = nowText();
  let heard = performance.now();
  const end = (change) => {
    active -= 1;
    Object.assign(upload, change, { request: undefined });
    changed();
    if (change.state !== "waits") next(changed);
  };
  Object.assign(upload, { state: "arriving", sent: 0, request });
  request.upload.onprogress = ({ loaded }) => {
    const now = performance.now();
    if (now - heard > 250) {
      // A rate over a second or so, so that it can be read.
      const speed = ((loaded - upload.sent) * 1000) / (now - heard);
      upload.speed = upload.speed ? upload.speed * 0.7 + speed * 0.3 : speed;
      upload.sent = loaded;
      heard = now;
      changed();
    }
  };
  request.upload.onload = () => {
    Object.assign(upload, { state: "checking", sent: upload.size });
    changed();
  };
  request.onload = () => {
    if (request.status === 201) end({ state: "arrived", at: begin, ...arrivedAs(request.responseText) });
    else if (request.status === 429) {
      // Others send, too: it goes to the end of the line.
      waiting.push(upload);
      setTimeout(next, BUSY, changed);
      end({ state: "waits", sent: 0 });
    } else {
      if (request.status === 401) signIn();
      end({ state: "refused", problem: problemOf(request.status, request.responseText) });
    }
  };
  request.onerror = () => end({ state: "refused", problem: unreachable() });
  request.onabort = () => end({ state: "cancelled" });
  request.open("PUT", address(upload));
  request.send(upload.file);
  changed();
}

function arrivedAs(text) {
  try {
    return { as: JSON.parse(text) };
  } catch {
    return {};
  }
}

/** Takes a file for a pipeline. `problem` refuses it before anything is sent. */
export function add({ file, path, pipeline, problem }, changed) {
  number += 1;
  const upload = {
    key: number,
    file,
    path,
    name: path,
    pipeline,
    size: file?.size ?? 0,
    sent: 0,
    state: problem ? "refused" : "waits",
    problem,
  };
  uploads.unshift(upload);
  if (!problem) waiting.push(upload);
  next(changed);
  changed();
}

export function cancel(upload, changed) {
  if (upload.request) upload.request.abort();
  else {
    upload.state = "cancelled";
    changed();
  }
}

/** Sends it once more, as it is or under another name. */
export function again(upload, path, changed) {
  uploads.splice(uploads.indexOf(upload), 1);
  add({ ...upload, path, problem: undefined }, changed);
}

export function forget(upload) {
  uploads.splice(uploads.indexOf(upload), 1);
}

/** `name (2).pdf`, `name (3).pdf`: the next that was not tried. */
export function otherName(path) {
  const [, folder, stem, , tried, extension] = /^(.*\/)?(.*?)( \((\d+)\))?(\.[^./]+)?$/s.exec(path);
  return `${folder ?? ""}${stem} (${Number(tried ?? 1) + 1})${extension ?? ""}`;
}
