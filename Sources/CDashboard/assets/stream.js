// The event stream, read by fetch rather than by EventSource: a page has to know whether the server is still there (the
// comment each 15 s is heard), why it was refused (401, 503), and to go on behind the last event also after a pause.
// Runs in the worker and, where there is none, in the page: nothing here touches a document.

const LONGEST_WAIT = 15_000;

/**
 * Follows a stream until `close()`. Calls `event(name, data)`, `opened()` and `lost({ status, wait })`; tries again after
 * `wait` milliseconds, or when `retry()` is called.
 */
export function follow(url, { event, opened, lost, silence = 40_000 }) {
  let closed = false;
  let last = "";
  let wake = () => {};
  let current = new AbortController();

  async function once() {
    current = new AbortController();
    let patience;
    const heard = () => {
      clearTimeout(patience);
      patience = setTimeout(() => current.abort(), silence);
    };
    try {
      heard();
      const headers = last ? { "Last-Event-ID": last } : {};
      const response = await fetch(url, { headers, cache: "no-store", signal: current.signal });
      if (!response.ok) return response.status;
      opened();
      const take = parser((id, name, data) => {
        if (id !== undefined) last = id;
        event(name, data);
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        heard();
        take(part.value);
      }
    } catch {
      // Broken, silent or closed: all the same from here.
    } finally {
      clearTimeout(patience);
    }
    return 0;
  }

  async function run() {
    for (let wait = 500; !closed; ) {
      const begun = Date.now();
      const status = await once();
      if (closed) return;
      // One that held for a while was all right: the next try follows soon.
      wait = Date.now() - begun > 10_000 ? 500 : Math.min(wait * 2, LONGEST_WAIT);
      lost({ status, wait });
      await new Promise((resolve) => {
        wake = resolve;
        setTimeout(resolve, wait);
      });
    }
  }

  run();
  return {
    retry: () => wake(),
    close() {
      closed = true;
      current.abort();
      wake();
    },
  };
}

/** Takes text/event-stream in pieces, however they are cut. */
function parser(done) {
  let rest = "";
  let fields = {};
  const line = (text) => {
    if (text === "") {
      if (fields.data !== undefined) done(fields.id, fields.event ?? "message", parsed(fields.data));
      fields = {};
      return;
    }
    const [, name, value] = text.match(/^([^:]*):? ?(.*)$/s);
    if (name === "data" && fields.data !== undefined) fields.data += `\n${value}`;
    else if (name) fields[name] = value;
  };
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n/);
    rest = lines.pop();
    for (const each of lines) line(each);
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The overview after an event. Pipelines keep their order; a `board` has only those that changed. */
export function merged(overview, name, data) {
  if (name === "snapshot") return data;
  if (name !== "board" || !overview) return overview;
  const changed = new Map((data.pipelines ?? []).map((pipeline) => [pipeline.name, pipeline]));
  return {
    ...overview,
    ...(data.files && { files: data.files }),
    ...(data.nodes && { nodes: data.nodes }),
    daemon: { ...overview.daemon, ...data.daemon, now: data.now },
    pipelines: overview.pipelines.map((pipeline) => changed.get(pipeline.name) ?? pipeline),
  };
}
