#!/usr/bin/env python3
"""The pages in a real browser, beside a real daemon and the real server.

    .build/tools/bin/python3 Tests/dashboard/served.py --binary .build-release/release/dropmill [WORD…] [--pictures FOLDER]
"""

import contextlib
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from playwright.sync_api import expect  # noqa: E402

import chromium  # noqa: E402
from chromium import live  # noqa: E402
from mill import UPLOADS, Mill, until  # noqa: E402

IMAGE = "<img src=x onerror=alert(1)>.pdf"
binary = None


@contextlib.contextmanager
def milling(**options):
    mill = Mill(binary, **options)
    try:
        yield mill
    finally:
        mill.end()


@contextlib.contextmanager
def signed_in(mill, path="/", look="light", allowed=(), **options):
    with chromium.looking(mill.url, look, allowed, **options) as page:
        page.goto(f"/login#token={mill.token}")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        if path != "/":
            page.goto(path)
        live(page)
        yield page


def drop(page, name, size, fill=0):
    """As if a person dragged a file of so many bytes from elsewhere."""
    page.locator("#zone, .zone").evaluate("""(zone, [name, size, fill]) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(size).fill(fill)], name));
        for (const kind of ["dragenter", "dragover", "drop"])
            zone.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
    }""", [name, size, fill])


def test_story():
    """A large file is dropped, seen in each stage, and its story opened; one fails and is sent in again."""
    size = 200 << 20
    with milling() as mill, signed_in(mill, "/drop?pipeline=covers") as page:
        (mill.root / "hold").touch()
        drop(page, "large.pdf", size, 7)
        item = page.locator(".ups > li").first
        # What it goes through is seen without a reload: on its way, or in a stage.
        expect(item).to_contain_text(re.compile("arriving|checking|MiB of 200 MiB"))
        expect(item.get_by_role("link")).to_have_text("running", timeout=60_000)
        (mill.root / "hold").unlink()
        expect(item.get_by_role("link")).to_have_text("processed", timeout=60_000)
        out = next((mill.root / "covers" / "out").rglob("large.pdf"))
        assert hashlib.file_digest(out.open("rb"), "sha256").digest() == hashlib.sha256(bytes([7]) * size).digest()
        item.get_by_role("link").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("large.pdf")
        for stage in ("checksum", "run", "move"):
            expect(page.locator("main")).to_contain_text(stage)
        expect(page.locator("main .chip")).to_have_text("processed")

        (mill.root / "broken").touch()
        page.goto("/drop?pipeline=covers")
        live(page)
        drop(page, IMAGE, 1000)
        item = page.locator(".ups > li").first
        expect(item.get_by_role("link")).to_have_text("failed", timeout=30_000)
        item.get_by_role("link").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(IMAGE)
        # What a program prints is text, like a name.
        expect(page.locator("pre.out")).to_contain_text("<img src=x onerror=alert(3)> the RIP is down")
        assert page.locator("main img").count() == 0
        (mill.root / "broken").unlink()
        page.get_by_role("button", name="Retry", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Retry").click()
        expect(page.locator("#said")).to_have_text("1 of 1 sent in again.")
        until(lambda: [job for job in mill.jobs(state="processed") if job["name"] == IMAGE], "it is processed")
        expect(page.locator(".facts")).to_contain_text("Sent in again as", timeout=20_000)


def test_tls():
    """By TLS of its own: the cookie, the stream and an upload."""
    with tempfile.TemporaryDirectory() as folder:
        key, chain = f"{folder}/key.pem", f"{folder}/chain.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key, "-out", chain,
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        os.chmod(key, 0o600)
        with milling(arguments=["--tls-certificate", chain, "--tls-key", key, "--host", "localhost"]) as mill:
            assert mill.url.startswith("https://localhost:"), mill.url
            with signed_in(mill, "/drop?pipeline=covers", ignore_https_errors=True) as page:
                cookie = page.context.cookies()[0]
                assert cookie["name"] == "__Host-dropmill" and cookie["secure"] and cookie["httpOnly"], cookie
                drop(page, "safe.pdf", 5 << 20)
                expect(page.locator(".ups > li").first.get_by_role("link")).to_have_text("processed", timeout=60_000)


def test_folder():
    """A folder is dragged and becomes one job, with its empty folders; one that breaks a rule is not sent."""
    folders = UPLOADS.replace("quiet: 200ms", "quiet: 200ms, unit: folder").replace("/out\"", "/out/{{name}}\"")
    with milling(stages=folders) as mill, tempfile.TemporaryDirectory() as parent, signed_in(mill, "/drop?pipeline=scans", allowed=["404", "ERR_"]) as page:
        box = pathlib.Path(parent, "Karton 7")
        (box / "empty").mkdir(parents=True)
        contents = {f"50 %/{number:03}.tif": bytes([number]) * 40_000 for number in range(120)} | {"a#b?.tif": b"", IMAGE: b"x"}
        for name, content in contents.items():
            (box / name).parent.mkdir(exist_ok=True)
            (box / name).write_bytes(content)
        (box / "Thumbs.db").write_bytes(b"x")
        chromium.drag(page, page.locator(".zone"), box)
        item = page.locator(".ups > li")
        expect(item.get_by_role("link")).to_have_text("processed", timeout=60_000)
        out = next((mill.root / "scans" / "out").rglob("Karton 7"))
        found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        assert {name: content for name, content in found.items() if "sum" not in name.lower()} == contents, found.keys()
        assert (out / "empty").is_dir()
        assert [job["name"] for job in mill.jobs()] == ["Karton 7"]
        item.get_by_role("link").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Karton 7")
        # Of one that is called off in the middle nothing is left.
        page.goto("/drop?pipeline=scans")
        live(page)
        (box / "large.tif").write_bytes(bytes(200 << 20))
        box.rename(box.with_name("Karton 8"))
        page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2 << 20})
        chromium.drag(page, page.locator(".zone"), box.with_name("Karton 8"))
        hidden = lambda: list((mill.root / "scans" / "in").iterdir())
        expect(item).to_contain_text("file ", timeout=30_000)
        until(hidden, "it comes")
        item.get_by_role("button", name="Cancel").click()
        expect(item).to_contain_text("Called off")
        until(lambda: not hidden(), "nothing is left")


def test_folder_is_its_senders():
    """Nobody else can go on with a folder, and nothing is left of it once its sender's token is revoked."""
    with milling(stages=UPLOADS.replace("quiet: 200ms", "quiet: 200ms, unit: folder")) as mill:
        def token(name, pipeline):
            said = subprocess.run([mill.binary, "token", "add", name, "--role", "drop", "--pipeline", pipeline, "--token-dir", mill.root / "tokens"], capture_output=True, text=True)
            return {"Authorization": f"Bearer {re.search(r'dm_[A-Za-z0-9_-]+', said.stdout)[0]}"}

        anna, bert = token("anna", "scans"), token("bert", "scans")

        def ask(who, method, path, body=None):
            return mill.request(method, f"/api/v1/{path}", body, headers=who, token=False)

        announced = {"files": 2, "size": 2}
        assert ask(token("else", "covers"), "POST", "pipelines/scans/folders/box", announced)[1]["code"] == "role.pipeline"
        status, begun = ask(anna, "POST", "pipelines/scans/folders/box", announced)
        assert status == 201, begun
        its = f"uploads/{begun['upload']}"
        for method, path in (("PUT", f"{its}/files/a"), ("PUT", f"{its}/folders/a"), ("POST", f"{its}/finish"), ("DELETE", its)):
            assert ask(bert, method, path, b"x" if method == "PUT" else None)[0] == 404, path
            assert mill.request(method, f"/api/v1/{path}", b"x", token=False)[0] in (401, 403)
        assert ask(anna, "PUT", f"{its}/files/a", b"x")[0] == 201
        inbox = mill.root / "scans" / "in"
        assert len(list(inbox.iterdir())) == 1
        subprocess.run([mill.binary, "token", "revoke", "anna", "--token-dir", mill.root / "tokens"], check=True, capture_output=True)
        assert ask(anna, "PUT", f"{its}/files/b", b"x")[0] == 401
        until(lambda: not list(inbox.iterdir()), "nothing is left")
        assert not mill.jobs()


def test_pause_and_resume():
    with milling() as mill, signed_in(mill, "/pipelines/covers") as page:
        page.get_by_role("button", name="Pause").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Why (everybody sees it)").fill("the RIP is <b>down</b>")
        dialog.get_by_role("button", name="Pause").click()
        expect(page.locator("main .banner.hold")).to_contain_text("“the RIP is <b>down</b>”")
        (mill.root / "covers" / "in" / "held.pdf").write_bytes(b"held")
        page.goto("/waiting")
        expect(page.locator("main")).to_contain_text("held.pdf", timeout=20_000)
        page.goto("/pipelines/covers")
        live(page)
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("dialog").get_by_role("button", name="Resume").click()
        expect(page.locator("main .banner.hold")).to_have_count(0)
        until(lambda: mill.jobs(state="processed"), "it goes on")
        # Who did it stands in the list of changes, by the name of the token.
        page.goto("/changes")
        expect(page.locator("main")).to_contain_text("first")
        expect(page.locator("main")).to_contain_text("pause")


def test_reload():
    """A file that was changed is told without a reload of the page; a mistake in it is refused and said."""
    with milling() as mill, signed_in(mill, "/", allowed=["409"]) as page:
        file = mill.root / "pipelines" / "covers.yaml"
        good = file.read_text()
        file.write_text(good + "max_upload: nonsense\n")
        expect(page.locator("main .banner")).to_contain_text("covers.yaml was changed and is not loaded", timeout=20_000)
        page.get_by_role("button", name="Reload all 2").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("max_upload")
        dialog.get_by_role("button", name="Close").click()
        file.write_text(good + "max_upload: 1MiB\n")
        page.get_by_role("button", name="Reload", exact=True).click()
        expect(page.locator("#said")).to_contain_text("Reloaded: covers changed")
        expect(page.locator("main .banner")).to_have_count(0, timeout=20_000)


def test_file():
    """The file as it is loaded, without its secrets; what differs on disk as soon as it does; and a reload beside it."""
    with milling() as mill, signed_in(mill, "/pipelines/covers") as page:
        panel = page.locator("#file")
        expect(panel).to_contain_text("covers.yaml, loaded")
        expect(panel).to_contain_text("the same on disk")
        file = mill.root / "pipelines" / "covers.yaml"
        good = file.read_text()
        assert panel.locator(".l").all_text_contents() == [line or " " for line in good.rstrip("\n").split("\n")]
        file.write_text(good + "# <img src=x onerror=alert(1)>\non_failure: { http: { url: 'http://anna:s3cr3t@127.0.0.1:1/', headers: { A: s3cr3t } } } # s3cr3t\n")
        expect(panel.locator(".add")).to_have_count(2, timeout=20_000)
        expect(panel.locator(".add").first).to_have_text("on disk: +# <img src=x onerror=alert(1)>")
        expect(panel.locator(".add").last).to_have_text("on disk: +on_failure: { http: { url: 'http://•••@127.0.0.1:1/', headers: { A: ••• } } } # •••")
        expect(panel).to_contain_text("2 lines differ on disk")
        page.get_by_role("button", name="Reload all 2").click()
        expect(page.locator("#said")).to_contain_text("Reloaded: covers changed")
        expect(panel.locator(".add")).to_have_count(0, timeout=20_000)
        expect(panel).to_contain_text("url: 'http://•••@127.0.0.1:1/'")
        # Of what is no YAML nothing is told.
        file.write_text("s3cr3t: [")
        expect(panel).to_contain_text("What is on disk is not shown: it cannot be read as YAML", timeout=20_000)
        told = [mill.request("GET", path)[1] for path in ("/api/v1/pipelines/covers/file", "/api/v1/pipelines/covers", "/api/v1/overview")]
        assert "s3cr3t" not in json.dumps(told)
        assert mill.request("GET", "/api/v1/pipelines/nobody/file")[0] == 404


def test_changes_are_told():
    """What happens after a quiet while is told, and nothing of it is left out."""
    with milling() as mill:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(mill.url).netloc, timeout=20)
        connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {mill.token}"})
        lines = iter(connection.getresponse().readline, b"")
        boards = (line for line in lines if line.startswith(b"event: board"))
        for _ in range(3):
            next(boards)
        assert mill.request("PUT", "/api/v1/pipelines/covers/drops/a.pdf", b"x")[0] == 201
        told = []
        for line in lines:
            if line.startswith(b'data: {"changes"'):
                told += [each["event"] for each in json.loads(line[6:])["changes"]]
            if "processed" in told:
                break
        assert "claimed" in told, told
        connection.close()


def test_groups():
    """A group of failures is counted before the question, sent in again by one click, and another dismissed."""
    with milling() as mill, signed_in(mill, "/failed") as page:
        (mill.root / "broken").touch()
        for name in ("covers", "scans"):
            for number in range(3):
                (mill.root / name / "in" / f"{number}.pdf").write_bytes(b"x" * 1000)
        until(lambda: len(mill.jobs(state="failed")) == 6, "six fail", 30)
        (mill.root / "broken").unlink()
        page.goto("/failed?pipeline=covers")
        live(page)
        page.get_by_role("button", name="Retry all 3").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("3 jobs, 2.9 KiB: sent in again")
        expect(dialog).to_contain_text("0.pdf")
        dialog.get_by_role("button", name="Retry 3").click()
        expect(page.locator("#said")).to_have_text("3 of 3 sent in again.", timeout=20_000)
        until(lambda: len(mill.jobs(state="processed")) == 3, "all three are processed", 30)
        page.goto("/failed")
        live(page)
        page.get_by_role("button", name="Dismiss all 3").click()
        page.get_by_role("dialog").get_by_role("button", name="Dismiss 3").click()
        expect(page.locator("#said")).to_contain_text("3 of 3 dismissed")
        expect(page.get_by_role("heading", name="Nothing has failed")).to_be_visible(timeout=20_000)
        # A held job is cancelled among others.
        mill.says("pause", "scans")
        (mill.root / "hold").touch()
        for number in range(2):
            (mill.root / "covers" / "in" / f"held-{number}.pdf").write_bytes(b"x")
        until(lambda: len(mill.jobs(state="queued,running")) == 2, "both are claimed", 30)
        page.goto("/jobs?state=queued,running")
        live(page)
        page.get_by_label("Select all that are shown").check()
        page.get_by_role("region", name="What is selected").get_by_role("button", name="Cancel").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel 2").click()
        until(lambda: len(mill.jobs(state="cancelled")) == 2, "both are cancelled", 30)


def test_dismissing_can_be_ended():
    """What somebody else dismisses slowly is a run like others: the page shows how far it is, and ends it."""
    with milling() as mill, signed_in(mill, "/failed") as page:
        (mill.root / "broken").touch()
        for number in range(3):
            (mill.root / "covers" / "in" / f"{number}.pdf").write_bytes(b"x")
        until(lambda: len(mill.jobs(state="failed")) == 3, "three fail", 30)
        dismissing = mill.start("dismissing", "dismiss", "--pipeline", "covers", "--rate", "1/h", "--state-dir", mill.root / "state")
        until(lambda: b" dismissed" in (mill.root / "dismissing.log").read_bytes(), "the first is dismissed")
        page.goto("/failed")
        live(page)
        bar = page.get_by_role("region", name="A run under way")
        expect(bar).to_contain_text("1 of 3 dismissed")
        bar.get_by_role("button", name="Halt").click()
        expect(page.locator("#said")).to_contain_text("1 of 3 dismissed; 2 left.", timeout=20_000)
        assert dismissing.wait(10) == 1
        expect(page.get_by_role("button", name="Dismiss all 2")).to_be_visible()
        # One by its own page, at once.
        page.goto(f"/jobs/{next(job['id'] for job in mill.jobs(state='failed') if not job.get('dismissed'))}")
        live(page)
        page.get_by_role("button", name="Dismiss").click()
        page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
        expect(page.locator("#said")).to_have_text("1 of 1 dismissed.", timeout=20_000)
        expect(page.locator("main")).to_contain_text("Dismissed by")


def test_filters():
    with milling() as mill, signed_in(mill, "/jobs") as page:
        (mill.root / "broken").touch()
        for number in range(3):
            (mill.root / "covers" / "in" / f"bad-{number}.pdf").write_bytes(b"x")
        until(lambda: len(mill.jobs(state="failed")) == 3, "three fail", 30)
        (mill.root / "broken").unlink()
        (mill.root / "scans" / "in" / "good.pdf").write_bytes(b"x")
        until(lambda: mill.jobs(state="processed"), "one is processed", 30)
        page.goto("/jobs")
        live(page)
        page.locator(".tog", has_text="failed").locator("input").check()
        expect(page).to_have_url(re.compile(r"/jobs\?state=failed$"))
        expect(page.locator("tbody tr")).to_have_count(3)
        page.goto("/jobs?pipeline=scans")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.goto("/jobs?name=bad-1*")
        expect(page.locator("tbody tr")).to_have_count(1)


def test_looks():
    """Every page of a mill at work, in every look."""
    with milling() as mill:
        (mill.root / "broken").touch()
        (mill.root / "covers" / "in" / IMAGE).write_bytes(b"x")
        (mill.root / "scans" / "in" / os.fsdecode(b"pr\xfcfung\n.tif")).write_bytes(b"x")
        until(lambda: len(mill.jobs(state="failed")) == 2, "two fail", 30)
        mill.says("pause", "scans", "--reason", "serviced")
        (mill.root / "scans" / "in" / "waits.tif").write_bytes(b"x")
        job = mill.jobs(state="failed")[0]["id"]
        pages = {"overview": "/", "pipeline": "/pipelines/covers", "paused": "/pipelines/scans", "waiting": "/waiting", "jobs": "/jobs", "job": f"/jobs/{job}", "failed": "/failed",
                 "drop": "/drop", "changes": "/changes"}
        for look in ("light", "dark", "small"):
            with signed_in(mill, look=look) as page:
                for name, path in pages.items():
                    page.goto(path)
                    live(page)
                    expect(page.locator("main h1").first).to_be_visible()
                    text = page.locator("body").inner_text()
                    assert not re.search(r"undefined|NaN|\[object|Invalid Date|\bnull\b", text), f"{name}: {text}"
                    chromium.check_look(page, f"served-{name}", look)
                page.goto("/login")
                chromium.check_look(page, "served-login", look)


def test_daemon_comes_and_goes():
    """Killed, stopped and back: the page says so, and goes on by itself."""
    with milling() as mill, signed_in(mill, "/", allowed=["503", "ERR_"]) as page:
        mill.kill(mill.daemon)
        expect(page.locator("#banners")).to_contain_text("The daemon is not running.", timeout=20_000)
        expect(page.locator("#pipes")).to_contain_text("covers")
        mill.start_daemon()
        live(page)
        expect(page.locator("#banners > *")).to_have_count(0)
        # One that hangs has nothing to say either.
        mill.daemon.send_signal(signal.SIGSTOP)
        expect(page.locator("#banners > *").first).to_be_visible(timeout=60_000)
        mill.daemon.send_signal(signal.SIGCONT)
        expect(page.locator("#banners > *")).to_have_count(0, timeout=60_000)
        live(page)
        # The server, too, killed and at its place again.
        mill.kill(mill.server)
        expect(page.locator("#banners")).to_contain_text("No connection to this page’s server.", timeout=20_000)
        mill.start_server(mill.url.removeprefix("http://"))
        expect(page).to_have_url(re.compile("/login"), timeout=60_000)


def test_opens_nothing():
    """The server opens nothing below the folders of pipelines, whatever it is asked."""
    with tempfile.NamedTemporaryFile("r") as trace, milling(tracer=["strace", "-D", "-f", "-e", "trace=%file", "-o", trace.name]) as mill:
        assert mill.request("PUT", "/api/v1/pipelines/covers/drops/traced.pdf", b"x" * 100_000)[0] == 201
        until(lambda: mill.jobs(state="processed"), "it is processed", 30)
        for path in ("/", "/api/v1/overview", "/api/v1/waiting", "/api/v1/failed", f"/api/v1/jobs/{mill.jobs()[0]['id']}", "/api/v1/pipelines/covers", "/api/v1/pipelines/covers/file", "/metrics"):
            assert mill.request("GET", path)[0] == 200, path
        mill.kill(mill.server, signal.SIGTERM)
        until(lambda: re.search(rf"^{mill.server.pid} +\+\+\+", pathlib.Path(trace.name).read_text(), re.M), "all is written down", 60)
        calls = [line for line in trace if str(mill.root) in line]
        assert any("tokens" in line for line in calls), "nothing was seen"
        opened = [line for line in calls if re.search(r"/(covers|scans|pipelines|state/journal)", line.replace(str(mill.root), ""))]
        assert not opened, opened[:3]


# ---- others' pages

WAYS = {
    "fetch that reads": "fetch(`${there}/api/v1/overview`, { credentials: 'include' }).then((it) => it.text())",
    "fetch that does not ask before": "fetch(`${there}/api/v1/hold`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{\"kind\":\"pause\"}' }).then((it) => it.text())",
    "fetch of JSON": "fetch(`${there}/api/v1/hold`, { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{\"kind\":\"pause\"}' }).then((it) => it.text())",
    "PUT": "fetch(`${there}/api/v1/pipelines/covers/drops/evil.pdf`, { method: 'PUT', credentials: 'include', body: 'evil' }).then((it) => it.text())",
    "beacon": "navigator.sendBeacon(`${there}/api/v1/hold`, new Blob(['{\"kind\":\"pause\"}'], { type: 'text/plain' })) && ''",
    "EventSource": "new Promise((done) => { const it = new EventSource(`${there}/api/v1/events`, { withCredentials: true }); it.addEventListener('snapshot', (event) => done(event.data)); it.onmessage = (event) => done(event.data); it.onerror = () => { it.close(); done('') } })",
    "WebSocket": "new Promise((done) => { const it = new WebSocket(`${there.replace('http', 'ws')}/api/v1/events`); it.onopen = () => done('open'); it.onmessage = (event) => done(event.data); it.onerror = () => done('') })",
    "image": "new Promise((done) => { const it = new Image(); it.onload = () => done('loaded'); it.onerror = () => done(''); it.src = `${there}/api/v1/overview` })",
    "script": "new Promise((done) => { const it = document.createElement('script'); it.onload = () => done('loaded'); it.onerror = () => done(''); it.src = `${there}/assets/main.js`; document.head.append(it) })",
    "frame": "new Promise((done) => { const it = document.createElement('iframe'); it.onload = () => { let text = ''; try { text = it.contentDocument?.body.textContent || '' } catch {} done(text) }; it.src = `${there}/`; document.body.append(it) })",
    "form": "new Promise((done) => { const it = document.createElement('form'); const frame = document.createElement('iframe'); frame.name = 'sent'; frame.onload = () => done(''); document.body.append(frame); it.method = 'POST'; it.enctype = 'text/plain'; it.target = 'sent'; it.action = `${there}/api/v1/hold`; const field = document.createElement('input'); field.name = '{\"kind\":\"pause\",\"x\":\"'; field.value = '\"}'; it.append(field); document.body.append(it); it.submit() })",
    "window": "new Promise((done) => { const it = open(`${there}/`); setTimeout(() => { let text = ''; try { text = it.document.body.textContent } catch {} done(text) }, 1000) })",
}


class Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body>elsewhere")

    def log_message(self, *arguments):
        pass


def test_others_pages():
    """A page of another origin, also one on this host, and one under a name that was bound to us anew, reads and changes nothing."""
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    with milling() as mill, chromium.looking(mill.url, allowed=["", "dialog"]) as page:
        page.goto(f"/login#token={mill.token}")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        port = mill.url.rsplit(":", 1)[1]
        through = []
        for origin, there in ((f"http://127.0.0.1:{other.server_port}", mill.url), (f"http://elsewhere.example:{other.server_port}", mill.url),
                              (f"http://elsewhere.example:{other.server_port}", f"http://rebound.example:{port}")):
            for way, script in WAYS.items():
                page.goto(origin)
                got = page.evaluate(f"(there) => Promise.race([({script}), new Promise((done) => setTimeout(done, 5000, ''))]).catch(() => '')", there)
                if got:
                    through.append(f"{way} from {origin} to {there}: {got[:80]}")
        # A name that is bound to this server is of one origin with itself, and gets nothing but a refusal.
        page.goto(f"http://rebound.example:{port}/login")
        for path, options in (("/api/v1/overview", {}), ("/api/v1/hold", {"method": "POST", "body": '{"kind":"pause"}', "headers": {"Content-Type": "application/json"}})):
            status = page.evaluate("([path, options]) => fetch(path, { credentials: 'include', ...options }).then((it) => it.status)", [path, options])
            if status != 421:
                through.append(f"rebound {path}: {status}")
        assert not through, through
        assert not list((mill.root / "covers" / "in").iterdir())
        held = lambda: '"hold"' in json.dumps(mill.request("GET", "/api/v1/overview")[1])
        assert not held()
        # What would have shown it shows it.
        mill.says("pause", "covers")
        assert held()
    other.shutdown()


if __name__ == "__main__":
    arguments = chromium.parser(__doc__)
    arguments.add_argument("--binary", type=pathlib.Path, required=True)
    wished = arguments.parse_args()
    binary = wished.binary.resolve()
    chromium.run(globals(), wished, "--host-resolver-rules=MAP *.example 127.0.0.1")
