// Files or a folder into an inbox. Where first, since the rules differ; what breaks one is refused before it is sent.

import { $, el, icon, patchChildren } from "./dom.js";
import { pipelines } from "./live.js";
import { address, empty, mark, panel, plain, title } from "./parts.js";
import { mayDropInto, may } from "./shell.js";
import { bytes, count } from "./sizes.js";
import { dropsOf, partsOf } from "./taken.js";
import { clock } from "./times.js";
import * as up from "./uploads.js";
import { drawn } from "./view.js";
import { followJobs, line, sum } from "./visit.js";

/** What is dropped, by what becomes of folders. */
const WHAT = { no: "files", as_one: "a folder", as_files: "files or a folder" };

const open = () => pipelines().filter(({ name, upload }) => upload && mayDropInto(name));

function choice({ name, state: its, hold, trouble, upload: { match, max_bytes: most, folders } }, chosen, choose) {
  const rules = [
    folders === "as_one" && "whole folders",
    match?.length ? match.join(", ") : folders !== "as_one" && "anything",
    folders === "as_files" && "folders too",
    most !== undefined && `up to ${bytes(most)}`,
  ]
    .filter(Boolean)
    .join(", ");
  return el(
    "label",
    { "data-key": name },
    el("input", {
      type: "radio",
      name: "pipeline",
      value: name,
      checked: name === chosen,
      onchange: () => choose(name),
    }),
    el("b", name),
    hold &&
      mark(its === "drained" ? "drained" : "paused", {
        text: [
          `${hold.kind === "drain" ? "drained" : "paused"} by ${hold.by}`,
          hold.until && [" until ", clock(hold.until, { seconds: false })],
        ],
      }),
    trouble && mark("trouble"),
    el("span.small.soft", rules, hold && "; waits until then"),
  );
}

export async function show(main) {
  if (!may("drop")) {
    main.replaceChildren(
      title("Drop"),
      el(
        "div.panel",
        empty("drop", "You may look, not drop", "Who runs this machine makes a token with the role drop or operate."),
      ),
    );
    return;
  }
  let chosen = new URLSearchParams(location.search).get("pipeline");
  const pipeline = () => open().find(({ name }) => name === chosen) ?? open()[0];
  const head = title("Drop", "What you drop here is in the inbox when all of it has arrived, and not before.");
  const pick = el("div.pick");
  const input = (attributes) =>
    el("input.vh", {
      type: "file",
      tabindex: -1,
      onchange: ({ target }) => {
        take([...target.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
        target.value = "";
      },
      ...attributes,
    });
  const files = input({ multiple: true, "aria-label": "Files to drop" });
  const folder = input({ webkitdirectory: true, "aria-label": "A folder to drop" });
  const zone = el(
    "div.zone",
    icon("drop"),
    el("h2", { id: "drop-here" }),
    el("p.soft", "or"),
    el(
      "div.acts",
      plain("Choose files", () => files.click(), ".main", { id: "choose-files" }),
      plain("Choose a folder", () => folder.click(), "", { id: "choose-folder" }),
    ),
    files,
    folder,
    el("p.small.dim", `${count(up.AT_ONCE)} at a time; a transfer that breaks off leaves nothing behind`),
  );
  const form = el(
    "form.cols",
    { onsubmit: (event) => event.preventDefault() },
    el("fieldset", el("legend.legend", "Into"), pick),
    zone,
  );
  const list = el("ul.ups");
  const said = el("span.soft.small", { role: "status" });
  const visit = panel("up", "This visit", { beside: said }, list);
  const none = el(
    "div.panel",
    empty("drop", "No pipeline takes uploads", [
      "Set ",
      el("code", "upload: true"),
      " in a pipeline and reload; then files can be dropped here.",
    ]),
  );
  main.replaceChildren(head, form, visit, none);

  let wanted = false;
  let follow = () => undefined;
  const changed = () => {
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(() => {
      wanted = false;
      patchChildren(list, el("ul", up.uploads.slice(0, 500).map(line(changed))));
      visit.hidden = !up.uploads.length;
      if (said.textContent !== sum()) said.textContent = sum();
      follow();
    });
  };
  function take(some) {
    const into = pipeline();
    if (!into) return;
    for (const each of dropsOf(into, some)) up.add({ ...each, pipeline: into.name }, changed);
  }
  const choose = (name) => {
    chosen = name;
    history.replaceState(null, "", address("/drop", { pipeline: name }));
    drawPick.now();
  };
  const drawPick = drawn(pick, () => {
    const into = pipeline();
    form.hidden = !into;
    none.hidden = Boolean(into) || up.uploads.length > 0;
    const folders = into?.upload.folders ?? "no";
    $("#drop-here", form).textContent = `Drop ${WHAT[folders]} here`;
    $("#choose-folder", form).hidden = folders === "no";
    $("#choose-files", form).hidden = folders === "as_one";
    return open().map((each) => choice(each, into?.name, choose));
  });
  changed();

  for (const kind of ["dragenter", "dragover"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  addEventListener("dragleave", (event) => event.relatedTarget ?? zone.classList.remove("over"));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(await partsOf(event.dataTransfer));
  });
  addEventListener(
    "paste",
    ({ clipboardData }) =>
      clipboardData?.files.length && take([...clipboardData.files].map((file) => ({ file, path: file.name }))),
  );
  addEventListener("beforeunload", (event) => up.uploads.some(up.isUnderWay) && event.preventDefault());
  follow = followJobs(changed);
}
