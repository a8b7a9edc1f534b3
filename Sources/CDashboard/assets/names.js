// Names are strangers' bytes. They are escaped as the program does it (Sources/Files/Names/EscapedText.swift), each
// escape is marked, the whole is isolated, and the extension stands at the right whatever the direction of the rest.

import { el } from "./dom.js";

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const EXTENSION = /(\.tar)?\.[^\s./]{1,10}$/;
/** Longer names are cut in the middle. */
const SHORT = 28;
const TAIL = 15;

const hexadecimal = (byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** Controls, line separators and all that changes the direction of text can make a name read as another one. */
function isHarmless(code) {
  return !(
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    code === 0x61c ||
    (code >= 0x200e && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    (code >= 0xd800 && code <= 0xdfff)
  );
}

function escapeOf(letter) {
  if (letter === "\n") return "\\n";
  if (letter === "\t") return "\\t";
  return [...new TextEncoder().encode(letter)].map(hexadecimal).join("");
}

/** What UTF-8 makes of the bytes; each byte that it cannot take is a number. */
function* scalars(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at];
    const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    try {
      yield decoder.decode(bytes.subarray(at, at + length));
      at += length;
    } catch {
      yield lead;
      at += 1;
    }
  }
}

/** The letters of a name in order: `{ text, escaped }`. */
function letters(text, base64) {
  const source = base64 ? scalars(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))) : text;
  return Array.from(source, (letter) => {
    if (typeof letter === "number") return { text: hexadecimal(letter), escaped: true };
    return isHarmless(letter.codePointAt(0)) ? { text: letter } : { text: escapeOf(letter), escaped: true };
  });
}

/** Nodes for letters: runs of text, and of escapes. */
function nodes(some, breaks) {
  const out = [];
  let run = "";
  let escaped = false;
  const flush = () => {
    if (run) out.push(escaped ? el("span.esc", run) : run);
    run = "";
  };
  for (const letter of some) {
    if (Boolean(letter.escaped) !== escaped) flush();
    escaped = Boolean(letter.escaped);
    run += letter.text;
    if (breaks && !escaped && "_-/".includes(letter.text)) {
      flush();
      out.push(el("wbr"));
    }
  }
  flush();
  return out;
}

/** Where the part begins that always stays in sight: at a delimiter near the end, else where the extension begins. */
function cut(all) {
  const plain = all.map((letter) => (letter.escaped ? "\u0001" : letter.text.length > 1 ? "x" : letter.text)).join("");
  const extension = plain.match(EXTENSION)?.index ?? all.length;
  const text = all.map((letter) => letter.text).join("");
  if (all.length <= SHORT || RIGHT_TO_LEFT.test(text)) return extension;
  for (let at = Math.max(1, all.length - TAIL); at < Math.min(extension, all.length - 3); at += 1) {
    if (!all[at].escaped && "_- .".includes(all[at].text)) return at;
  }
  return Math.min(extension, all.length - 11);
}

const parts = (record, key) => letters(record[key] ?? "", record[`${key}_base64`]);

/** A name for a row, cut in the middle where there is no room. `record` has `key`, and `key_base64` if it is no text. */
export function nameNode(record, key = "name") {
  const all = parts(record, key);
  if (!all.length) return el("span.nm.dim", "(no name)");
  const at = cut(all);
  const tail = at > 0 && at < all.length;
  return el(
    "span.nm",
    el("bdi", nodes(tail ? all.slice(0, at) : all)),
    tail && el("bdi", { dir: "ltr" }, nodes(all.slice(at))),
  );
}

/** A name in full that breaks where names have joints. */
export function wholeName(record, key = "name") {
  const all = parts(record, key);
  const at = RIGHT_TO_LEFT.test(all.map((letter) => letter.text).join("")) ? cut(all) : all.length;
  const tail = at > 0 && at < all.length;
  return el(
    "span.nm.whole",
    el("bdi", nodes(tail ? all.slice(0, at) : all, true)),
    tail && el("bdi", { dir: "ltr" }, nodes(all.slice(at))),
  );
}

/** A name as text, for labels and titles. */
export const nameText = (record, key = "name") =>
  parts(record, key)
    .map((letter) => letter.text)
    .join("");

/** Text from elsewhere that is meant to be read (a sentence with names in it): what would be obeyed is escaped. */
export const sentenceNodes = (text) => el("bdi", nodes(letters(text ?? "")));
