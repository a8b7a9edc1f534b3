// What a person drops or chooses: its files with their paths, and what breaks a rule of the pipeline before it is sent.

import { Problem } from "./api.js";
import { inWords } from "./parts.js";
import { say } from "./shell.js";
import { bytes } from "./sizes.js";

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

export function refusal(pipeline, file, path) {
  const {
    name,
    upload: { match, max_bytes: most, folders = "no" },
  } = pipeline;
  if (path.includes("/") && folders === "no")
    return new Problem({ detail: `${name} takes no folders`, remedy: "Nothing was sent. Drop the files themselves" });
  const wrongName = !(path.includes("/") && folders === "as_one") && !matches(match, path.split("/").at(-1));
  const tooLarge = most !== undefined && file.size > most;
  if (!wrongName && !tooLarge) return undefined;
  const rules = [wrongName && `takes ${inWords(match)} only`, tooLarge && `takes at most ${bytes(most)}`].filter(
    Boolean,
  );
  return new Problem({ detail: `${name} ${rules.join(", and ")}`, remedy: "Nothing was sent" });
}

/** All files of what was dropped, with their paths: folders are walked. */
export async function filesOf(transfer) {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  const walk = async (entry) => {
    if (entry instanceof File) found.push({ file: entry, path: entry.name });
    else if (entry?.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    } else if (entry?.isDirectory) {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) return;
        for (const each of some) await walk(each);
      }
    }
  };
  for (const entry of entries) {
    // One that cannot be read is no reason to leave the others.
    await walk(entry).catch((error) => say(`A file cannot be read: ${error.message}`, { stays: true }));
  }
  return found;
}
