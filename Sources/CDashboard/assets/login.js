// A token becomes a session. It is sent once and kept by the browser in a cookie that no script can read.

import { post } from "./api.js";
import { $ } from "./dom.js";

/** Where to go on: a page of this origin, and of no other. */
function nextPage() {
  const wished = new URL(new URLSearchParams(location.search).get("next") ?? "/", location.origin);
  const own = wished.origin === location.origin && wished.pathname !== "/login";
  // Whole: a path that begins with two slashes would lead to another origin.
  return own ? wished.href : "/";
}

async function signIn(token) {
  const button = $("#sign-in button");
  button.disabled = true;
  try {
    await post("/login", { token });
    location.replace(nextPage());
  } catch (problem) {
    button.disabled = false;
    $("#refused").textContent = problem.text;
    $("#token").select();
  }
}

$("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn($("#token").value.trim());
});

// The link that a first start prints has the token behind the #, which no server sees and no log keeps.
const [, token] = /^#token=(.+)$/.exec(location.hash) ?? [];
if (token) {
  history.replaceState(null, "", location.pathname + location.search);
  signIn(decodeURIComponent(token));
} else $("#token").focus();
