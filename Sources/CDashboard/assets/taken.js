// What a person drops or chooses: files, and folders with what is in them; and what breaks a rule of the pipeline, before
// anything is sent.

import { Problem } from "./api.js";
import { inWords } from "./parts.js";
import { bytes, counted } from "./sizes.js";

/** Glob patterns as the pipeline file has them, for a look before anything is sent; the server decides. */
function matches(patterns, name) {
  const expression = (glob) =>
    new RegExp(
      `^${glob
        .replace(/[.+^${}()|\\]/g, "\\$&")
        .replaceAll("*", "[^/]*")
        .replaceAll("?", "[^/]")}$`,
      "iu",
    );
  return (
    !patterns?.length ||
    patterns.some((glob) => {
      try {
        return expression(glob.split("/").at(-1)).test(name);
      } catch {
        return true;
      }
    })
  );
}

/** What desktops put into folders, which nobody means to send. */
const DESKTOP = /^(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini)$/;
/** Names of unfinished and hidden files, which the server takes in no folder. */
const UNFINISHED = new RegExp(
  "^[.~]|^#.*#$|~$|\\.(tmp|temp|part|partial|filepart|crdownload|download|opdownload|aria2|!qb|!ut|!sync" +
    "|uploading|inprogress|writing|camellock|sw[px])$",
  "i",
);

const nothingSent = (detail, remedy = "") =>
  new Problem({ detail, remedy: ["Nothing was sent", remedy].filter(Boolean).join(". ") });

/** What its name or its size breaks of a pipeline's rules, be it a file or a folder. */
function refusal({ name, upload: { match, max_bytes: most } }, path, size) {
  const wrongName = !matches(match, path.split("/").at(-1));
  const tooLarge = most !== undefined && size > most;
  if (!wrongName && !tooLarge) return undefined;
  const rules = [wrongName && `takes ${inWords(match)} only`, tooLarge && `takes at most ${bytes(most)}`].filter(
    Boolean,
  );
  return nothingSent(`${name} ${rules.join(", and ")}`);
}

const unreadable = ({ path, error }) => nothingSent(`${path} cannot be read: ${error.message}`);

function folderProblem(pipeline, { path, size, parts }) {
  const {
    name,
    upload: { folders = "no", depth },
  } = pipeline;
  if (folders === "no") return nothingSent(`${name} takes no folders`, "Drop the files themselves");
  const wrong = parts.find(({ error }) => error);
  if (wrong) return unreadable(wrong);
  if (folders === "as_files") {
    const deep = parts.find((part) => part.file && part.path.split("/").length > (depth ?? Infinity));
    return deep && nothingSent(`${name} searches ${counted(depth - 1, "level")} of folders, and ${deep.path} is deeper`);
  }
  const unfinished = parts.find((part) => part.path.split("/").some((each) => UNFINISHED.test(each)));
  if (unfinished) return nothingSent(`${unfinished.path} has the name of a hidden or unfinished file`, "Leave it out");
  return refusal(pipeline, path, size);
}

/** What a person dropped as what is sent: files, and folders that are one drop each. */
export function dropsOf(pipeline, some) {
  const { name, upload } = pipeline;
  const folders = new Map();
  const drops = [];
  for (const each of some) {
    const top = each.path.split("/")[0];
    if (each.file && top === each.path) {
      const problem =
        upload.folders === "as_one"
          ? nothingSent(`A drop of ${name} is a folder`, "Drop the folder that it is in")
          : refusal(pipeline, each.path, each.file.size);
      drops.push({ ...each, problem });
    } else if (each.error && top === each.path && !each.isFolder) drops.push({ path: top, problem: unreadable(each) });
    else if (folders.has(top)) folders.get(top).push(each);
    else folders.set(top, [each]);
  }
  for (const [path, all] of folders) {
    const parts = all.filter((part) => !DESKTOP.test(part.path.split("/").at(-1)));
    const folder = {
      path,
      parts,
      size: parts.reduce((sum, { file }) => sum + (file?.size ?? 0), 0),
      left: all.length - parts.length,
    };
    const problem = folderProblem(pipeline, folder);
    if (problem || upload.folders === "as_one") drops.push({ ...folder, problem });
    else
      for (const part of all.filter(({ file }) => file))
        drops.push({ ...part, problem: refusal(pipeline, part.path, part.file.size) });
  }
  return drops;
}

/** All of what was dropped, with its paths: folders are walked. What has no file is a folder, or cannot be read. */
export async function partsOf(transfer) {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  const walk = async (entry) => {
    if (entry instanceof File) return found.push({ file: entry, path: entry.name });
    if (!entry) return undefined;
    const path = entry.fullPath.replace(/^\//, "");
    try {
      if (entry.isFile)
        return found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path });
      found.push({ path, isFolder: true });
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) return undefined;
        for (const each of some) await walk(each);
      }
    } catch (error) {
      return found.push({ path, error, isFolder: entry.isDirectory });
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}
