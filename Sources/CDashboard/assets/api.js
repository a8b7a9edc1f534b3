// Requests to the API of this origin. What goes wrong is a Problem: subject, fact and remedy, as RFC 9457 carries them.

export const BASE = "/api/v1";
const OWN = ["/login", "/logout"];

/** An error that can be told: `status`, `code`, `fact`, `remedy`, and `problems` where there are several. */
export class Problem extends Error {
  constructor({ status = 0, code = "", title = "", detail = "", remedy = "", problems = [] }) {
    super(detail || title);
    Object.assign(this, { status, code, fact: stop(detail || title), remedy: stop(remedy), problems });
  }

  get text() {
    return [this.fact, this.remedy].filter(Boolean).join(" ");
  }
}

const stop = (text) => (text && !/[.?:]$/.test(text) ? `${text}.` : text);

export const unreachable = () =>
  new Problem({
    code: "serve.unreachable",
    detail: "There is no connection to this page’s server",
    remedy: "The page tries again by itself",
  });

/** Goes to sign in, and comes back to this page. */
export function signIn() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** The problem that an answer's body tells, or one made of its status. */
export function problemOf(status, text) {
  try {
    return new Problem({ ...JSON.parse(text), status });
  } catch {
    return new Problem({
      status,
      detail: `The server answered with status ${status}`,
      remedy: "Look into the log of dropmill serve",
    });
  }
}

async function ask(method, path, body) {
  const json =
    body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  let text;
  try {
    response = await fetch(OWN.includes(path) ? path : BASE + path, { method, cache: "no-store", ...json });
    text = await response.text();
  } catch {
    throw unreachable();
  }
  if (response.ok) return text ? JSON.parse(text) : {};
  const problem = problemOf(response.status, text);
  if (response.status === 401 && path !== "/login") signIn();
  throw problem;
}

/** Reads; parameters that are empty are left out, a list is repeated. */
export function get(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== "") query.append(name, one);
  }
  return ask("GET", query.size ? `${path}?${query}` : path);
}

export const post = (path, body = {}) => ask("POST", path, body);
export const makeFolder = (path) => ask("PUT", path);
export const remove = (path) => ask("DELETE", path);

/** A path with names in it; what they have of `/` and `%` stays theirs. */
export const pathOf = (first, ...names) => [first, ...names.map(encodeURIComponent)].join("/");
