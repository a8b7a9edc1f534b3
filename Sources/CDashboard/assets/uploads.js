// Files and folders on their way into an inbox, so many at a time, each with its progress and its end: a file is the raw
// body of a PUT, a folder several of them. By XMLHttpRequest, since fetch tells nothing of how much has been sent.

import { BASE, makeFolder, pathOf, post, Problem, problemOf, remove, signIn, unreachable } from "./api.js";
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

const escaped = (path) => path.split("/").map(encodeURIComponent).join("/");

function next(changed) {
  while (active < AT_ONCE && waiting.length) {
    const upload = waiting.shift();
    if (upload.state === "waits") start(upload, changed);
  }
}

async function start(upload, changed) {
  active += 1;
  const at = nowText();
  Object.assign(upload, { state: "arriving", sent: 0, speed: 0, part: undefined, heard: performance.now() });
  changed();
  let end;
  try {
    end = { state: "arrived", at, as: await (upload.parts ? sendFolder : sendFile)(upload, changed) };
  } catch (problem) {
    if (upload.isCancelled) end = { state: "cancelled" };
    else if (!(problem instanceof Problem)) throw problem;
    // Others send, too: it goes to the end of the line.
    else if (problem.status === 429) end = { state: "waits", sent: 0 };
    else end = { state: "refused", problem };
  }
  active -= 1;
  Object.assign(upload, end, { request: undefined });
  changed();
  if (end.state !== "waits") return next(changed);
  waiting.push(upload);
  return setTimeout(next, BUSY, changed);
}

const checking = (upload, changed) => {
  Object.assign(upload, { state: "checking", sent: upload.size });
  changed();
};

const sendFile = (upload, changed) =>
  put(
    `${pathOf("/pipelines", upload.pipeline, "drops")}/${escaped(upload.path)}`,
    upload.file,
    upload,
    (sent) => progress(upload, sent, changed),
    () => checking(upload, changed),
  );

/** Its files come one after another, and then it gets its name. */
async function sendFolder(upload, changed) {
  const inner = ({ path }) => escaped(path.slice(path.indexOf("/") + 1));
  const files = upload.parts.filter(({ file }) => file);
  // Those in which something lies are made with it.
  const used = new Set(upload.parts.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
  const folders = upload.parts.filter(({ file, path }) => !file && path.includes("/") && !used.has(path));
  const begun = await post(`${pathOf("/pipelines", upload.pipeline, "folders")}/${escaped(upload.path)}`, {
    files: files.length,
    size: upload.size,
  });
  const its = pathOf("/uploads", begun.upload);
  const goOn = () => {
    if (upload.isCancelled) throw new Error("called off");
  };
  try {
    for (const folder of folders) {
      goOn();
      await makeFolder(`${its}/folders/${inner(folder)}`);
    }
    let before = 0;
    for (const [index, each] of files.entries()) {
      goOn();
      upload.part = [index + 1, files.length];
      const had = before;
      const note = (sent) => progress(upload, had + sent, changed);
      await put(`${its}/files/${inner(each)}`, each.file, upload, note);
      before += each.file.size;
      note(each.file.size);
    }
    goOn();
    checking(upload, changed);
    return await post(`${its}/finish`);
  } catch (problem) {
    // What the server refuses it has given up; what failed here it has not heard of.
    remove(its).catch(() => undefined);
    throw problem;
  }
}

function progress(upload, sent, changed) {
  const now = performance.now();
  if (now - upload.heard <= 250) return;
  // A rate over a second or so, so that it can be read.
  const speed = ((sent - upload.sent) * 1000) / (now - upload.heard);
  upload.speed = upload.speed ? upload.speed * 0.7 + speed * 0.3 : speed;
  Object.assign(upload, { sent, heard: now });
  changed();
}

/** Sends a file; `upload.request` is what ends that. */
function put(path, file, upload, sent, isSent = null) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    upload.request = request;
    request.upload.onprogress = ({ loaded }) => sent(loaded);
    request.upload.onload = isSent;
    request.onload = () => {
      if (request.status === 401) signIn();
      if (request.status === 201) resolve(answerOf(request.responseText));
      else reject(problemOf(request.status, request.responseText));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new Error("called off"));
    request.open("PUT", BASE + path);
    request.send(file);
  });
}

function answerOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Takes a file for a pipeline, or with `parts` a folder; of those `left` were left out. `problem` refuses it before
 * anything is sent.
 */
export function add({ file, parts, left, path, pipeline, size, problem }, changed) {
  number += 1;
  const upload = {
    key: number,
    file,
    parts,
    left,
    path,
    name: path,
    pipeline,
    size: size ?? file?.size ?? 0,
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
  upload.isCancelled = true;
  if (upload.state === "arriving") upload.request?.abort();
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
