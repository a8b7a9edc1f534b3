#!/usr/bin/env python3
"""A double of `dropmill serve` for the tests of its pages: their files with the headers of the real one, the routes of
the API with the data of shop.py, and an event stream that can be made to fall silent or go.

    Tests/dashboard/fake.py [--role look|drop|operate] [--port N] [--token TOKEN]     prints its address
"""

import argparse
import copy
import fnmatch
import json
import pathlib
import queue
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import shop

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "Sources/CDashboard/assets"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                               "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
}
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
PAGE = re.compile(r"/|/(pipelines|jobs)/[^/]+|/(waiting|jobs|failed|drop|changes|nothing)")


class Refusal(Exception):
    def __init__(self, status, code, detail, remedy="", **more):
        super().__init__(detail)
        self.status = status
        self.body = {"type": "about:blank", "title": detail, "status": status, "code": code, "detail": detail, "remedy": remedy, **more}


class Shop:
    """The state behind the server, and what a test can do to it."""

    def __init__(self, role="operate", token=None, parts=True):
        self.role, self.token, self.parts = role, token, parts
        self.began = time.time()
        self.jobs = shop.make_jobs()
        self.pipelines = shop.make_pipelines()
        self.changes = shop.make_changes()
        self.files = {"loaded": 7, "changed": [{"file": "/etc/dropmill/covers.yaml", "kind": "changed", "at": shop.stamp(180)}], "refused": []}
        # Which node it is, and all that share the journal.
        self.node, self.nodes = None, None
        self.reload_problems = []
        # What is said of a pipeline's file instead of shop.FILE.
        self.file_answer, self.file_refusal, self.file_reads = None, None, 0
        self.state, self.gone, self.silent = "up", False, False
        self.streams, self.runs, self.received, self.asked, self.folders = [], {}, {}, [], {}
        self.number = 0
        self.slow = 0
        self.lock = threading.RLock()

    # What tests do.

    def emit(self, event, data):
        with self.lock:
            self.number += 1
            for stream in self.streams:
                stream.put((self.number, event, data))

    def change(self, job, event, **more):
        """Something happened to a job; whoever looks is told."""
        job.update(more)
        self.emit("jobs", {"changes": [{"number": self.number, "at": self.now(), "event": event, "pipeline": job["pipeline"], "job": job["id"],
                                        "path": job.get("path"), "code": job.get("failure", {}).get("code"), "message": event}]})

    def board(self, *names):
        self.emit("board", {"now": self.now(), "files": self.files, **self.shared(), "pipelines": [each for each in self.pipelines if each["name"] in names]})

    def down(self):
        self.state = "down"
        self.emit("daemon", {"state": "down", "text": "the daemon is not running"})

    def up(self):
        self.state = "up"
        self.emit("daemon", {"state": "up"})
        self.emit("snapshot", self.overview())

    def lose(self):
        """The server goes: streams break, nothing is answered."""
        self.gone = True
        self.emit("close", None)

    def find(self):
        self.gone = False

    def job(self, name):
        return next(job for job in self.jobs if job["name"] == name)

    def pipeline(self, name):
        found = next((each for each in self.pipelines if each["name"] == name), None)
        if not found:
            raise Refusal(404, "pipeline.unknown", f"No pipeline is called ‘{name}’", "Look at the list of pipelines")
        return found

    # What it tells.

    def now(self):
        return shop.stamp(self.began - time.time())

    def overview(self):
        pipelines = self.pipelines
        if not self.parts:
            # What comes later than the rest of the daemon.
            later = ("minutes", "free", "stages", "upload", "today", "workers", "last_settled_at", "oldest_unfinished_s")
            pipelines = [{key: value for key, value in each.items() if key not in later} for each in pipelines]
        return {"daemon": {"run": "01M8092HDT0000000000031539", "version": "0.9.0", "host": "prepress-2", "zone": "Europe/Berlin", "utc_offset_s": 3600, "now": self.now(),
                           "started_at": shop.stamp(3_542_400), "stopping": False, **({"node": self.node} if self.node else {})},
                "files": self.files, **self.shared(), "pipelines": pipelines}

    def shared(self):
        return {} if self.nodes is None else {"nodes": self.nodes}

    def matching(self, query):
        def one(key):
            return query.get(key, [""])[0]

        states = [state for value in query.get("state", []) for state in value.split(",") if state]
        found = [job for job in self.jobs
                 if (not states or job["state"] in states) and (not one("pipeline") or job["pipeline"] == one("pipeline"))
                 and (not one("producer") or job["producer"] == one("producer"))
                 and (not one("code") or fnmatch.fnmatch(job.get("failure", {}).get("code", ""), one("code")))
                 and (not one("name") or fnmatch.fnmatch(job["name"].lower(), one("name").lower() if set("*?") & set(one("name")) else f"*{one('name').lower()}*"))
                 and not job.get("dismissed")]
        return sorted(found, key=lambda job: job["claimed_at"], reverse=True)

    def failed(self):
        groups = {}
        for job in self.jobs:
            if job["state"] != "failed" or job.get("retried_as") or job.get("dismissed"):
                continue
            groups.setdefault((job["pipeline"], job["failure"]["code"]), []).append(job)
        out = []
        for (pipeline, code), jobs in groups.items():
            sentence, remedy, _ = shop.SENTENCES[code]
            jobs.sort(key=lambda job: job["claimed_at"], reverse=True)
            out.append({"pipeline": pipeline, "code": code, "jobs": len(jobs), "bytes": sum(job["size"] for job in jobs), "sentence": sentence, "remedy": remedy,
                        "first_at": jobs[-1]["finished_at"], "last_at": jobs[0]["finished_at"],
                        **({"hours": [0] * 20 + [1, 0, 0, len(jobs)]} if self.parts else {}),
                        "newest": [{key: job[key] for key in ("id", "name", "name_base64") if key in job} for job in jobs[:3]], "retry": shop.INFECTED if code == "scan.infected" else True})
        out.sort(key=lambda group: -group["jobs"])
        return {"total": sum(group["jobs"] for group in out), "groups": out}

    # What it does.

    def chosen(self, body):
        verb = body["verb"]
        fits = {"retry": ("failed", "cancelled"), "replay": ("processed",), "cancel": ("queued", "running", "deferred"), "dismiss": ("failed",)}[verb]
        jobs = [job for job in self.jobs if job["id"] in body["jobs"]] if "jobs" in body else self.matching({key: [str(value)] for key, value in body["filter"].items()})
        return [job for job in jobs if job["state"] in fits]

    def run(self, body):
        key = f"R{len(self.runs) + 1}"
        jobs = self.chosen(body)
        self.runs[key] = {"verb": body["verb"], "jobs": jobs, "results": [], "halted": False}
        threading.Thread(target=self.work, args=(key,), daemon=True).start()
        return {"run": key}

    def work(self, key):
        run = self.runs[key]
        for job in run["jobs"]:
            if run["halted"]:
                return
            if self.slow:
                time.sleep(self.slow)
            if run["verb"] == "retry":
                job["retried_as"] = [shop.job_id(5000 + len(self.jobs))]
            elif run["verb"] == "dismiss":
                job["dismissed"] = {"by": "anna", "at": self.now()}
            elif run["verb"] == "cancel":
                job["state"] = "cancelled"
            run["results"].append({"job": job["id"], "done": True, "text": "done", **{each: job[each] for each in ("path", "path_base64") if each in job}})

    def progress(self, key, after):
        run = self.runs[key]
        done = len(run["results"])
        return {"run": key, "jobs": len(run["jobs"]), "left": len(run["jobs"]) - done, "results": run["results"][after:], "over": run["halted"] or done == len(run["jobs"])}

    def hold(self, names, body):
        for each in self.pipelines:
            if each["name"] in names:
                each["hold"] = {"kind": body["kind"], "by": "anna", "since": self.now(), **({"reason": body["reason"]} if body.get("reason") else {})}
                each["state"] = "paused" if body["kind"] == "pause" else "drained"
        self.board(*names)
        return {"lines": [f"{name}: {body['kind']}d by anna" for name in names]}

    def resume(self, names):
        for each in self.pipelines:
            if each["name"] in names and each.pop("hold", None):
                each["state"] = "working"
        self.board(*names)
        return {"lines": [f"{name}: resumed" for name in names]}

    def reload(self):
        if self.reload_problems:
            raise Refusal(409, "reload.refused", "The reload was refused", problems=self.reload_problems)
        self.files = {"loaded": 7, "changed": [], "refused": []}
        self.board("covers")
        return {"changes": [{"pipeline": each["name"], "text": "changed (stage 3)" if each["name"] == "covers" else "unchanged"} for each in self.pipelines], "warnings": []}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**HEADERS, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def asset(self, name):
        file = ASSETS / name
        if "/" in name or not file.is_file():
            raise Refusal(404, "asset.unknown", "There is no such file")
        self.reply(200, file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

    def route(self):
        self.shop = self.server.shop
        if self.shop.gone:
            self.close_connection = True
            return
        url = urlsplit(self.path)
        path, self.query = url.path, parse_qs(url.query)
        try:
            if path == "/login" and self.command == "GET":
                return self.asset("login.html")
            if path.startswith("/assets/"):
                return self.asset(path.removeprefix("/assets/"))
            if path in ("/login", "/logout"):
                return self.session(path)
            signed_in = not self.shop.token or f"session={self.shop.token}" in self.headers.get("Cookie", "")
            if self.command == "GET" and PAGE.fullmatch(path):
                if not signed_in:
                    return self.reply(303, Location=f"/login?next={path}")
                return self.asset("page.html")
            if not path.startswith("/api/v1/"):
                raise Refusal(404, "page.unknown", "There is no such page")
            if not signed_in:
                raise Refusal(401, "session.none", "There is no session", "Sign in")
            if self.command != "GET" and self.headers.get("Sec-Fetch-Site") != "same-origin":
                raise Refusal(403, "origin.other", "The request comes from another origin")
            return self.api([unquote(part) for part in path.removeprefix("/api/v1/").split("/")])
        except Refusal as refusal:
            return self.reply(refusal.status, refusal.body, "application/problem+json")
        except (BrokenPipeError, ConnectionResetError):
            return None

    do_GET = do_POST = do_PUT = do_DELETE = route

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")

    def session(self, path):
        body = self.body()
        if path == "/logout":
            return self.reply(204, Set_Cookie="session=; Max-Age=0")
        if body.get("token") != self.shop.token:
            raise Refusal(401, "token.unknown", "This token is not known", "9 more tries in this minute")
        return self.reply(204, Set_Cookie=f"session={self.shop.token}; HttpOnly; SameSite=Strict; Path=/")

    def api(self, path):
        its = self.shop
        one = {key: values[0] for key, values in self.query.items()}
        if path == ["events"]:
            return self.events()
        if path == ["session"]:
            return self.reply(200, {"role": its.role, "name": "anna-laptop", "version": "0.9.0", "via": "token" if its.token else "socket"})
        if self.command == "PUT" and path[0] == "pipelines" and path[2] == "drops":
            return self.upload(path[1], "/".join(path[3:]))
        if path[0] == "uploads" or self.command == "POST" and path[2:3] == ["folders"]:
            return self.folder(path)
        if its.state == "down":
            raise Refusal(503, "daemon.down", "The daemon is not running", "Start it with sudo systemctl start dropmill")
        if self.command == "GET":
            return self.reply(200, self.read(path, one))
        body = self.body()
        its.asked.append((self.command, "/".join(path), body))
        if its.role != "operate":
            raise Refusal(403, "role.forbidden", "This token may look and drop", "Ask for one with the role operate")
        return self.reply(200, self.write(path, body))

    def read(self, path, one):
        its = self.shop
        match path:
            case ["overview"]:
                return its.overview()
            case ["pipelines", name]:
                pipeline = its.pipeline(name)
                return shop.details(pipeline) if its.parts else pipeline
            case ["pipelines", name, "file"]:
                pipeline = its.pipeline(name)
                its.file_reads += 1
                if its.file_refusal:
                    raise its.file_refusal
                return its.file_answer or shop.file_of(pipeline, its.files["changed"])
            case ["waiting"]:
                all_ = shop.make_waiting(its.pipelines)
                wished = one.get("pipeline")
                groups = [copy.copy(each) for each in all_["pipelines"] if wished in (None, "", each["name"])]
                for each in groups:
                    each["drops"] = [drop for drop in each["drops"] if one.get("kind") != "left" and ("name" not in one or fnmatch.fnmatch(drop["path"], one["name"]))]
                if one.get("kind") == "left" or one.get("name"):
                    groups = [each for each in groups if each["drops"]]
                return {"pipelines": groups, "left": [] if one.get("name") else all_["left"]}
            case ["jobs"]:
                jobs = its.matching(self.query)
                start = int(one.get("before") or 0)
                limit = int(one.get("limit") or 50)
                return {"jobs": jobs[start:start + limit], **({"next": str(start + limit)} if len(jobs) > start + limit else {})}
            case ["jobs", id_]:
                job = next((job for job in its.jobs if job["id"] == id_), None)
                if not job:
                    raise Refusal(404, "job.unknown", f"The journal has no job {id_}", "It keeps processed jobs for 90 d, failed ones for 1 y")
                return shop.story(job) if its.parts else job
            case ["failed"]:
                failed = its.failed()
                groups = [group for group in failed["groups"] if one.get("pipeline") in (None, "", group["pipeline"])]
                return {"total": sum(group["jobs"] for group in groups), "groups": groups}
            case ["changes"]:
                return {"changes": [each for each in its.changes if one.get("verb") in (None, "", each["verb"]) and one.get("user", "") in each["user"]]}
            case ["runs"]:
                return {"runs": [{"run": key, "verb": run["verb"], "left": len(run["jobs"]) - len(run["results"]), "jobs": len(run["jobs"])} for key, run in its.runs.items() if not run["halted"]]}
            case ["runs", key]:
                return its.progress(key, int(one.get("after", 0)))
        raise Refusal(404, "route.unknown", "There is no such thing")

    def write(self, path, body):
        its = self.shop
        everything = [each["name"] for each in its.pipelines]
        match [self.command, *path]:
            case ["POST", "pipelines", name, "hold"]:
                return its.hold([name], body)
            case ["DELETE", "pipelines", name, "hold"]:
                return its.resume([name])
            case ["POST", "hold"]:
                return its.hold(everything, body)
            case ["DELETE", "hold"]:
                return its.resume(everything)
            case ["POST", "reload"]:
                return its.reload()
            case ["POST", "jobs", verb]:
                jobs = [job for job in its.jobs if job["id"] in body["jobs"]]
                for job in jobs:
                    if verb == "dismiss":
                        job["dismissed"] = {"by": "anna", "at": its.now()}
                    its.change(job, "cancelled" if verb == "cancel" else verb, **({"state": "cancelled", "finished_at": its.now(), "duration_s": 30} if verb == "cancel" else {}))
                return {"results": [{"job": job["id"], "done": True, "text": {"cancel": "cancelled", "dismiss": "dismissed", "release": "sent back"}[verb]} for job in jobs]}
            case ["POST", "waiting", "bump"]:
                return {"text": "put first in line"}
            case ["POST", "runs", "preview"]:
                jobs = its.chosen(body)
                return {"run": "", "jobs": len(jobs), "bytes": sum(job["size"] for job in jobs), "names": [job["name"] for job in jobs[:5]], "more": False, "key": "K1"}
            case ["POST", "runs"]:
                return its.run(body)
            case ["POST", "runs", key, "halt"]:
                its.runs[key]["halted"] = True
                return {}
        raise Refusal(404, "route.unknown", "There is no such thing")

    def upload(self, name, path):
        its = self.shop
        length = int(self.headers["Content-Length"])
        if (name, path) in its.received:
            self.rfile.read(length)
            raise Refusal(409, "name.taken", f"The name is taken in the inbox of {name}", "Wait until that drop is claimed, or send it under another name")
        received = self.taken()
        if received is None:
            return
        its.received[name, path] = received
        self.reply(201, {"pipeline": name, "path": path, "size": received})

    def taken(self):
        """How many bytes have come; nothing where it breaks off."""
        length, received = int(self.headers["Content-Length"]), 0
        while received < length:
            part = self.rfile.read(min(65_536, length - received))
            if not part:
                return None
            received += len(part)
            if self.shop.slow:
                time.sleep(self.shop.slow)
        return received

    def folder(self, path):
        """A folder that comes file by file."""
        its = self.shop
        if path[0] == "pipelines":
            body, name = self.body(), "/".join(path[3:])
            if (path[1], name) in its.received:
                raise Refusal(409, "name.taken", f"The name is taken in the inbox of {path[1]}")
            key = f"U{len(its.folders) + 1}"
            its.folders[key] = {"pipeline": path[1], "path": name, **body, "parts": {}}
            return self.reply(201, {"upload": key, "pipeline": path[1], "path": name, **body})
        its.asked.append((self.command, "/".join(path), None))
        its_own = its.folders.get(path[1])
        if self.command == "DELETE" and its_own:
            its.folders[path[1]] = None
            return self.reply(204)
        if not its_own:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            raise Refusal(404, "upload.unknown", "No such folder is on its way in")
        within = "/".join(path[3:])
        if path[2] == "folders":
            its_own["parts"][within] = None
            return self.reply(204)
        if path[2] == "files":
            size = self.taken()
            if size is None:
                its.folders[path[1]] = None
                return None
            its_own["parts"][within] = size
            return self.reply(201, {"path": within, "size": size})
        self.body()
        sizes = [size for size in its_own["parts"].values() if size is not None]
        assert (len(sizes), sum(sizes)) == (its_own["files"], its_own["size"]), its_own
        its.received[its_own["pipeline"], its_own["path"]] = its_own["parts"]
        return self.reply(201, {key: its_own[key] for key in ("pipeline", "path", "files", "size")})

    def events(self):
        its = self.shop
        stream = queue.Queue()
        self.send_response(200)
        for key, value in {**HEADERS, "Content-Type": "text/event-stream", "Connection": "close"}.items():
            self.send_header(key, value)
        self.end_headers()
        self.close_connection = True
        first = ("daemon", {"state": "down", "text": "the daemon is not running"}) if its.state == "down" else ("snapshot", its.overview())
        stream.put((its.number, *first))
        with its.lock:
            its.streams.append(stream)
        try:
            while True:
                try:
                    number, event, data = stream.get(timeout=15)
                except queue.Empty:
                    self.wfile.write(b": still here\n\n")
                    continue
                if event == "close":
                    return
                if not its.silent:
                    self.wfile.write(f"id: {number}\nevent: {event}\ndata: {json.dumps(data)}\n\n".encode())
                    self.wfile.flush()
        except OSError:
            pass
        finally:
            its.streams.remove(stream)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def serve(its, port=0):
    """Serves a shop in a thread; gives the address."""
    server = Server(("127.0.0.1", port), Handler)
    server.shop = its
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--role", default="operate")
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--token")
    wished = arguments.parse_args()
    print(serve(Shop(wished.role, wished.token), wished.port)[1], flush=True)
    threading.Event().wait()
