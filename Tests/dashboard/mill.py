"""A real daemon and the real server of its page, in a temporary folder."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.parse



def until(condition, what, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


UPLOADS = """
name: {name}
inbox: {root}/{name}/in
processed: {root}/{name}/done
failed: {root}/{name}/failed
upload: true
ready: {{ quiet: 200ms }}
stages:
  - checksum
  - run:
      # Takes its time and fails while files say so, the latter with what only looks like markup.
      command: [sh, -c, 'while [ -e {root}/hold ]; do sleep 0.05; done; if [ -e {root}/broken ]; then echo "<img src=x onerror=alert(3)> the RIP is down"; exit 3; fi']
  - move: {{ to: "{root}/{name}/out" }}
"""


class Mill:
    """`pipelines`: the names of those to run; `arguments`: for the server besides; `folder`: where to put all; `tracer`: what the server runs below."""

    def __init__(self, binary, pipelines=("covers", "scans"), arguments=(), folder=None, stages=UPLOADS, tracer=()):
        self.binary = binary
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="dropmill-page-", dir=folder))
        (self.root / "pipelines").mkdir()
        for name in pipelines:
            (self.root / name / "in").mkdir(parents=True)
            (self.root / "pipelines" / f"{name}.yaml").write_text(stages.format(root=self.root, name=name))
        self.arguments, self.tracer = list(arguments), [*tracer]
        self.daemon = self.server = None
        self.token = None
        self.start_daemon()
        self.start_server()

    def start(self, name, *arguments, tracer=()):
        with open(self.root / f"{name}.log", "ab") as log:
            return subprocess.Popen([*tracer, self.binary, *map(str, arguments)], stdout=log, stderr=log, cwd=self.root)

    def start_daemon(self):
        self.daemon = self.start("daemon", "run", "--state-dir", self.root / "state", self.root / "pipelines")
        until(lambda: self.says("status").returncode == 0, "the daemon answers", 60)

    def start_server(self, address="127.0.0.1:0"):
        (self.root / "serve.log").unlink(missing_ok=True)
        self.server = self.start("serve", "serve", "--state-dir", self.root / "state", "--token-dir", self.root / "tokens", "--listen", address, *self.arguments, tracer=self.tracer)
        until(lambda: re.search("serving at .*\n", self.log("serve")), "the server listens", 60)
        link = re.search(r"serving at (https?://[^/\s]+)(?:/login#token=(\S+))?", self.log("serve"))
        self.url = link[1]
        self.token = link[2] or self.token

    def log(self, name):
        return (self.root / f"{name}.log").read_text()

    def says(self, *arguments):
        return subprocess.run([self.binary, *arguments, "--state-dir", self.root / "state"], capture_output=True, text=True)

    def request(self, method, path, body=None, headers=(), token=True):
        """The status and the JSON of an answer."""
        place = urllib.parse.urlsplit(self.url)
        if place.scheme == "https":
            # One that signs itself, and nobody is between.
            connection = http.client.HTTPSConnection(place.netloc, timeout=60, context=ssl._create_unverified_context())
        else:
            connection = http.client.HTTPConnection(place.netloc, timeout=60)
        fields = {"Authorization": f"Bearer {self.token}"} if token else {}
        if isinstance(body, (dict, list)):
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        connection.request(method, path, body, {**fields, **dict(headers)})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text

    def jobs(self, **filters):
        status, answer = self.request("GET", "/api/v1/jobs?" + urllib.parse.urlencode(filters))
        assert status == 200, answer
        return answer["jobs"]

    def kill(self, process, how=signal.SIGKILL):
        process.send_signal(how)
        process.wait(60)

    def stop(self):
        for process in (self.server, self.daemon):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                self.kill(process, signal.SIGTERM)

    def end(self):
        self.stop()
        shutil.rmtree(self.root)
