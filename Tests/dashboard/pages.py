#!/usr/bin/env python3
"""The pages in a real browser: Debian's Chromium, driven by Playwright, against the double in fake.py.

    .build/tools/bin/python3 Tests/dashboard/pages.py [WORD…] [--pictures FOLDER]

Runs the tests whose names have one of the words, or all. Each waits for conditions with a deadline, never for a time. A
test fails, too, on any message in the console, any report of the content policy, and any dialog of a script.
"""

import contextlib
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from playwright.sync_api import expect  # noqa: E402

import chromium  # noqa: E402
import fake  # noqa: E402
import shop  # noqa: E402
from chromium import LOOKS, drag, live  # noqa: E402
from mill import until  # noqa: E402

COVER, RUNNING, HOSTILE = shop.job_id(992), shop.job_id(998), shop.job_id(991)
PAGES = {
    "overview": "/", "pipeline": "/pipelines/covers", "paused": "/pipelines/press", "trouble": "/pipelines/archive-intake", "waiting": "/waiting",
    "jobs": "/jobs", "job": f"/jobs/{COVER}", "running": f"/jobs/{RUNNING}", "failed": "/failed", "drop": "/drop", "changes": "/changes", "login": "/login",
}
NONSENSE = re.compile(r"undefined|NaN|\[object|Invalid Date|\bnull\b")


@contextlib.contextmanager
def visit(path="/", its=None, look="light", allowed=(), script=None, **options):
    """A page of a fresh shop in a fresh browser context, and the shop."""
    its = its or fake.Shop()
    server, url = fake.serve(its)
    try:
        with chromium.looking(url, look, allowed, script, **options) as page:
            page.goto(path)
            if path != "/login":
                expect(page.locator("main h1, main h2").first).to_be_visible()
            yield page, its
    finally:
        server.shutdown()
        server.server_close()


def row(page, text):
    return page.locator("main tbody tr, main .list > li, main .fg", has_text=text).first


# ---- what the files promise

def test_sources():
    """No markup from data, nothing inline, nothing from elsewhere, each import is there, and within the budgets."""
    files = {file.name: file.read_text() for file in fake.ASSETS.iterdir()}
    scripts = {name: text for name, text in files.items() if name.endswith(".js")}
    never = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|eval\(|new Function|https?://(?!www\.w3\.org/2000/svg)")
    for name, text in scripts.items():
        assert not never.search(text), f"{name}: {never.search(text)}"
        for wanted in re.findall(r"""(?:from|import) ["']\./([^"']+)""", text):
            assert wanted in files, f"{name} imports {wanted}"
        assert text.count("\n") <= 280, f"{name} is too long"
    for name in ("page.html", "login.html"):
        assert not re.search(r"<style|style=|<script(?![^>]*src=)| on\w+=|//[a-z]", files[name]), name
        icons = set(re.findall(r'href="#i-(\w+)"', files[name]))
        assert icons <= set(re.findall(r'id="i-(\w+)"', files[name])), icons
    assert len(files["style.css"].encode()) <= 40 * 1024
    assert "//" not in files["style.css"] and "@import" not in files["style.css"]


# ---- every page in every look

def test_looks():
    """No page scrolls sideways, has something serious for axe, or shows what is not meant for people."""
    for look in LOOKS:
        its = fake.Shop()
        for name, path in PAGES.items():
            with visit(path, its, look) as (page, _):
                if name != "login":
                    live(page)
                assert page.locator("h1").count() == 1, f"{name} has not one h1"
                text = page.locator("body").inner_text()
                assert not NONSENSE.search(text), f"{name}: {NONSENSE.search(text)}"
                chromium.check_look(page, name, look)


def test_parts_that_come_later():
    """What a daemon does not tell is left out."""
    for name, path in PAGES.items():
        if name == "login":
            continue
        with visit(path, fake.Shop(parts=False)) as (page, _):
            live(page)
            text = page.locator("body").inner_text()
            assert not NONSENSE.search(text), f"{name}: {NONSENSE.search(text)}"


def test_nothing_there():
    """Each page says what is so, and what would change it."""
    its = fake.Shop()
    its.pipelines, its.jobs, its.changes, its.files = [], [], [], {"loaded": 0, "changed": [], "refused": []}
    said = {"/": "No pipeline yet", "/waiting": "Nothing waits", "/jobs": "No job yet", "/failed": "Nothing has failed", "/drop": "No pipeline takes uploads",
            "/changes": "Nobody has changed anything", "/nothing": "No such page"}
    for path, text in said.items():
        with visit(path, its, allowed=["404"]) as (page, _):
            if path != "/waiting":
                expect(page.get_by_role("heading", name=text)).to_be_visible()
    with visit("/jobs?state=failed&pipeline=press") as (page, _):
        expect(page.locator(".empty")).to_contain_text("failed, pipeline press")
    for path, text in {"/jobs/01M8092HDT09ZD2CGA9PA8YHDR": "No such job", "/pipelines/nobody": "No such pipeline"}.items():
        with visit(path, allowed=["404"]) as (page, _):
            expect(page.get_by_role("heading", name=text)).to_be_visible()


def test_calm():
    its = fake.Shop()
    its.pipelines, its.jobs = its.pipelines[:1], []
    with visit("/", its) as (page, _):
        expect(page.locator(".calm")).to_have_text("Nothing needs you.")


# ---- several hosts

def test_nodes():
    """Who shares the journal, what each has and does not do, and which has a job; what other nodes do is seen."""
    its = fake.Shop()
    its.node, its.nodes = "mill-1", shop.make_nodes()
    elsewhere = its.jobs[0]
    elsewhere |= {"node": "mill-2", "may": {verb: "the node 'mill-2' has it" for verb in ("cancel", "bump", "release")}}
    with visit("/", its) as (page, _):
        panel = page.get_by_role("region", name="Nodes", exact=True)
        expect(panel.locator("tbody tr")).to_have_count(3)
        expect(panel.locator("tbody tr").nth(0)).to_contain_text("alive, which this page asks")
        second = panel.locator("tbody tr").nth(1)
        expect(second).to_contain_text("covers is paused by trouble")
        expect(second).to_contain_text("scans is drained by anna on mill-2")
        expect(panel.locator("tbody tr").nth(2)).to_contain_text("dead")
        for look in LOOKS:
            with visit("/", its, look) as (other, _):
                live(other)
                chromium.check_look(other, "nodes", look)
        needed = page.locator("ul.need")
        expect(needed).to_contain_text("covers is paused by trouble on mill-2")
        its.nodes = [{**its.nodes[0], "jobs": 6}, {**its.nodes[1], "paused": [], "held": []}]
        its.board()
        expect(panel.locator("tbody tr")).to_have_count(2)
        expect(panel.locator("tbody tr").nth(0)).to_contain_text("6")
        expect(second).not_to_contain_text("trouble")
        its.nodes = None
        its.up()
        expect(panel).to_contain_text("the database does not answer")
    its.nodes = shop.make_nodes()
    with visit(f"/jobs/{elsewhere['id']}", its) as (page, _):
        expect(page.locator("dl.facts")).to_contain_text("mill-2")
        expect(page.locator("main")).to_contain_text("the node 'mill-2' has it")
        elsewhere |= {"state": "processed", "finished_at": its.now(), "duration_s": 1.0, "may": {}}
        its.nodes = its.nodes[:2]
        its.board()
        expect(page.locator(".title")).to_contain_text("processed", timeout=20_000)
    elsewhere |= {"state": "running"}
    with visit("/jobs", its) as (page, _):
        line = page.locator(f"tr[data-key='{elsewhere['id']}']")
        expect(line).to_contain_text("on mill-2")
        elsewhere |= {"state": "processed"}
        its.nodes = its.nodes[:1]
        its.board()
        expect(line).to_contain_text("processed", timeout=20_000)
        expect(line).not_to_contain_text("on mill-2")


# ---- names

def test_names_are_text():
    """A name never becomes markup, and what would be obeyed is escaped."""
    shown = {"/": shop.IMAGE, "/waiting": shop.IMAGE, "/jobs": shop.IMAGE, "/failed": shop.IMAGE, "/changes": shop.IMAGE, f"/jobs/{HOSTILE}": shop.IMAGE, f"/jobs/{COVER}": "<script>alert(2)</script>"}
    for path, text in shown.items():
        with visit(path) as (page, _):
            expect(page.locator("main")).to_contain_text(text)
            assert page.locator("img, iframe, main script, main object").count() == 0
    with visit("/jobs") as (page, _):
        names = {name.text_content(): name for name in page.locator("main .nm").all()}
        for text in (r"invoice\xE2\x80\xAEfdp.exe", r"pr\xFCfbericht_k\xF6ln_1987.tif", r"scan\n2026.csv", shop.ARABIC, shop.COVER, shop.LONG, "  two spaces  .pdf"):
            assert text in names, f"{text} is not among {list(names)[:5]}"
        assert names[r"invoice\xE2\x80\xAEfdp.exe"].locator(".esc").text_content() == r"\xE2\x80\xAE"
        for text, end in ((shop.ARABIC, ".pdf"), (r"invoice\xE2\x80\xAEfdp.exe", ".exe"), (shop.COVER, "_2026-11-19.pdf")):
            assert names[text].locator("bdi[dir=ltr]").text_content() == end
        # The extension is at the right, also where the name goes from right to left, and never cut.
        for text in (shop.ARABIC, shop.LONG):
            boxes = [part.bounding_box() for part in names[text].locator("bdi").all()]
            assert boxes[1]["x"] >= boxes[0]["x"] + boxes[0]["width"] - 1
            assert boxes[1]["width"] > 20


def test_words():
    """Sizes, durations, times and names, as the program prints them."""
    with visit("/login") as (page, _):
        def of(module, call):
            return page.evaluate(f"import('/assets/{module}.js').then((m) => {call})")

        for call, text in {"m.bytes(17)": "17 B", "m.bytes(9114)": "8.9 KiB", "m.bytes(1053491200)": "1,004 MiB", "m.bytes(1649267441664)": "1.5 TiB", "m.rate(3100000)": "3.1 MB/s",
                           "m.duration(0.012)": "12 ms", "m.duration(3.4)": "3.4 s", "m.duration(242)": "4 min 2 s", "m.age(3120)": "52 min", "m.age(11520)": "3 h 12 min",
                           "m.age(400000)": "4 d", "m.counted(1, 'job')": "1 job", "m.counted(1204, 'job')": "1,204 jobs"}.items():
            assert of("sizes", call) == text, f"{call} is {of('sizes', call)}"
        for zone, text in {"zone: 'Europe/Berlin', utc_offset_s: 3600": "14:32:05 CET", "zone: 'Nowhere/Here', utc_offset_s: 19800": "19:02:05 UTC+05:30", "": "13:32:05 UTC"}.items():
            assert of("times", f"(m.setClock({{ now: '2026-11-20T13:32:05.123456789Z', {zone} }}), m.clockText('2026-11-20T13:32:05Z') + ' ' + m.zoneText())") == text
        clock = "m.setClock({ now: '2026-11-20T13:32:05Z', zone: 'Europe/Berlin' })"
        for stamp, text in {"2026-11-19T17:44:00Z": "Thu 18:44", "2026-10-10T12:00:00Z": "10 Oct 14:00", "2025-10-10T12:00:00Z": "10 Oct 2025"}.items():
            assert of("times", f"({clock}, m.clockText('{stamp}'))") == text
        for name, text in {"{ name: 'a\\u202eb' }": r"a\xE2\x80\xAEb", "{ name: '?', name_base64: '/+L8' }": r"\xFF\xE2\xFC", "{ name: 'x\\\\x41' }": r"x\x41", "{ name: '' }": ""}.items():
            assert of("names", f"m.nameText({name})") == text


# ---- live

def test_figures_change_in_place():
    with visit("/") as (page, its):
        live(page)
        covers = page.locator("tr[data-key=covers]")
        covers.evaluate("(row) => { window.row = row; window.order = [...document.querySelectorAll('.pipes tbody tr')].map((each) => each.dataset.key).join() }")
        its.pipeline("covers")["jobs"]["running"] = 77
        its.pipeline("covers")["state"] = "idle"
        its.board("covers")
        expect(covers.locator("td").nth(2)).to_have_text("77")
        expect(page.locator("#pipes li[data-key=covers] svg")).to_have_attribute("aria-label", "idle")
        assert page.evaluate("window.row.isConnected && window.order === [...document.querySelectorAll('.pipes tbody tr')].map((each) => each.dataset.key).join()")


def test_needs_stand_still():
    """What is over says so in its place, what is new is told and comes when asked."""
    with visit("/") as (page, its):
        live(page)
        expect(page.locator(".need > li")).to_have_count(3)
        its.pipeline("proofs").update(state="idle", stalled=None)
        its.pipeline("covers").update(state="silent")
        its.board("proofs", "covers")
        expect(page.locator(".need > li").nth(1)).to_contain_text("That is over.")
        page.get_by_role("button", name="1 more: show").click()
        expect(page.locator(".need > li").first).to_contain_text("covers does not answer")


def test_ages_count():
    with visit("/jobs?state=running") as (page, _):
        age = row(page, "Plakat").locator("time[data-since]").first
        first = age.text_content()
        expect(age).not_to_have_text(first)


def test_jobs_follow():
    with visit("/jobs") as (page, its):
        live(page)
        job = its.job("Bildband_Alpen_Schutzumschlag_4c_v12.pdf")
        its.change(job, "started", state="running")
        expect(row(page, "Bildband").locator(".stc")).to_have_text("running")
        # What is new is told, and comes when asked: by its key.
        new = {**job, "id": shop.job_id(2000), "name": "new.pdf", "path": "new.pdf", "claimed_at": its.now(), "state": "queued"}
        its.jobs.append(new)
        its.change(new, "claimed")
        expect(page.locator("[data-newer]")).to_have_text("1 new job: show it")
        assert row(page, "new.pdf").count() == 0
        page.keyboard.press("n")
        expect(row(page, "new.pdf")).to_be_visible()


def test_selection_holds_the_list():
    with visit("/jobs") as (page, its):
        live(page)
        row(page, "Bildband").locator("input").check()
        expect(page.locator("#live")).to_have_text("list stands still")
        its.change(its.job("Bildband_Alpen_Schutzumschlag_4c_v12.pdf"), "started", state="running")
        its.change(its.job(shop.COVER), "retried")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(row(page, "Bildband").locator(".stc")).to_have_text("queued")
        page.keyboard.press("Escape")
        expect(page.locator("#live")).to_have_text("live")
        expect(row(page, "Bildband").locator(".stc")).to_have_text("running")


def test_held_before_its_frame():
    """What was to be drawn when a question came up is drawn after it."""
    with visit("/jobs") as (page, _):
        live(page)
        drawn = page.evaluate("""Promise.all([import("/assets/view.js"), import("/assets/still.js")]).then(async ([{ drawn }, { hold }]) => {
          const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const root = document.createElement("div");
          let text = "before";
          const draw = drawn(root, () => text);
          text = "after";
          draw();
          hold("question", true);
          await frames();
          const meanwhile = root.textContent;
          hold("question", false);
          await frames();
          return [meanwhile, root.textContent];
        })""")
        assert drawn == ["before", "after"], drawn


def test_job_follows():
    with visit(f"/jobs/{RUNNING}") as (page, its):
        live(page)
        its.emit("progress", {"jobs": [{"id": RUNNING, "progress": {"done": 9, "of": 10, "unit": "entries"}}]})
        expect(page.locator(".tl progress")).to_have_attribute("value", "90.0")
        job = next(each for each in its.jobs if each["id"] == RUNNING)
        its.change(job, "processed", state="processed", finished_at=its.now(), duration_s=230.0)
        expect(page.locator("main .chip")).to_have_text("processed")
        page.get_by_label("shorten the waits").check()
        expect(page.locator(".tl.folded")).to_be_visible()


def test_lost_and_found():
    """Without the server the last state stays readable, and says from when it is."""
    for script in (None, "delete window.SharedWorker"):
        with visit(f"/jobs/{COVER}", allowed=["ERR_"], script=script) as (page, its):
            live(page)
            its.lose()
            expect(page.locator("#live")).to_contain_text("as of 14:3")
            expect(page.locator("#banners")).to_contain_text("No connection to this page’s server.")
            expect(page.locator("main h1")).to_be_visible()
            retry = page.get_by_role("button", name="Retry", exact=True)
            expect(retry).to_have_attribute("aria-disabled", "true")
            retry.click(force=True)
            expect(page.locator("#said")).to_contain_text("not current")
            its.find()
            page.get_by_role("button", name="Try now").click()
            live(page)
            expect(page.locator("#banners > *")).to_have_count(0)
            expect(retry).not_to_have_attribute("aria-disabled", "true")


def test_daemon_down_and_up():
    with visit("/") as (page, its):
        live(page)
        its.down()
        expect(page.locator("#banners")).to_contain_text("The daemon is not running.")
        expect(page.locator("#live")).to_contain_text("as of")
        expect(page.locator("tr[data-key=covers]")).to_be_visible()
        expect(page.get_by_role("button", name="Pause all")).to_have_attribute("aria-disabled", "true")
        expect(page.locator("main .title")).to_contain_text("How it was at 14:3")
        assert re.match(r"2026-11-20T13:3", page.locator("#banners time").get_attribute("datetime"))
        its.up()
        live(page)
        expect(page.locator("#banners > *")).to_have_count(0)
    its = fake.Shop()
    its.state = "down"
    with visit("/", its) as (page, _):
        expect(page.get_by_role("heading", name="Nothing is known yet")).to_be_visible()
        its.up()
        expect(page.locator("tr[data-key=covers]")).to_be_visible()


def test_silence_is_a_loss():
    """A server that is there and says nothing, not even its comment, is lost."""
    with visit("/login") as (page, its):
        its.silent = True
        page.evaluate("""import("/assets/stream.js").then(({ follow }) => new Promise((done) =>
            follow("/api/v1/events", { event() {}, opened() {}, lost: done, silence: 300 })))""")


def test_one_stream_for_all_tabs():
    with visit("/") as (page, its):
        live(page)
        other = page.context.new_page()
        other.goto("/jobs")
        live(other)
        assert len(its.streams) == 1
        its.pipeline("covers")["waiting"]["drops"] = 1000
        its.board("covers")
        for tab in (page, other):
            expect(tab.locator("#n-waiting")).to_have_text("1,072")
        # Tabs that are hidden need none; the first that is seen again asks anew.
        hide = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => %s }), document.dispatchEvent(new Event('visibilitychange'))"
        for tab in (page, other):
            tab.evaluate(hide % "true")
        until(lambda: not its.streams or its.emit("progress", {"jobs": []}), "no stream")
        its.pipeline("covers")["waiting"]["drops"] = 0
        page.evaluate(hide % "false")
        expect(page.locator("#n-waiting")).to_have_text("72")


# ---- who may

def test_roles():
    with visit("/jobs", fake.Shop("look")) as (page, _):
        live(page)
        assert page.locator("#nav-drop, main input[type=checkbox][aria-label], [data-act]").count() == 0
        for path in PAGES.values():
            page.goto(path)
            if path != "/login":
                live(page)
            assert page.locator("[data-act]").count() == 0, path
        page.goto("/drop")
        expect(page.get_by_role("heading", name="You may look, not drop")).to_be_visible()
    with visit("/", fake.Shop("drop")) as (page, _):
        live(page)
        assert page.locator("[data-act]").count() == 0
        page.locator("#nav-drop a").click()
        expect(page.get_by_role("button", name="Choose files")).to_be_visible()


def test_sign_in():
    with visit("/jobs?state=failed", fake.Shop(token="s3cret"), allowed=["401"]) as (page, its):
        expect(page).to_have_url(re.compile("/login"))
        page.goto("/login?next=%2Fjobs%3Fstate%3Dfailed")
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("This token is not known. 9 more tries in this minute.")
        page.get_by_label("Token").fill("s3cret")
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(re.compile(r"/jobs\?state=failed$"))
        live(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page).to_have_url(re.compile("/login$"))
        # The link that the first start prints; and no way to another origin.
        page.goto("/login?next=%2F%2Fevil.example%2F#token=s3cret")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert "s3cret" not in page.url
        # A session that ends in the middle of it leads back to where one was.
        its.token = "another"
        page.locator(".nav-l").get_by_text("Changes").click()
        expect(page).to_have_url(re.compile("/login"))


# ---- changing

def test_retry_of_a_job():
    with visit(f"/jobs/{COVER}") as (page, its):
        live(page)
        button = page.get_by_role("button", name="Retry", exact=True)
        button.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading")).to_have_text("Retry this job?")
        expect(dialog.get_by_role("button", name="Leave it")).to_be_focused()
        expect(page.locator("#live")).to_have_text("list stands still")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
        assert not its.runs
        page.keyboard.press("r")
        page.get_by_role("dialog").get_by_role("button", name="Retry").click()
        expect(page.locator("#said")).to_have_text("1 of 1 sent in again.")
        assert [job["id"] for job in its.runs["R1"]["jobs"]] == [COVER]
        expect(page.locator(".facts")).to_contain_text("Sent in again as")


def test_retry_of_a_group():
    with visit("/failed") as (page, its):
        live(page)
        assert row(page, "EICAR").get_by_role("button", name="Retry").count() == 0
        page.get_by_role("button", name="Retry all 30").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("30 jobs, 9.4 GiB: sent in again")
        expect(dialog).to_contain_text("and 25 more")
        its.slow = 0.05
        dialog.get_by_role("button", name="Retry 30").click()
        bar = page.get_by_role("region", name="A run under way")
        expect(bar).to_contain_text("of 30 sent in again")
        until(lambda: len(its.runs["R1"]["results"]) > 2, "some are sent in")
        bar.get_by_role("button", name="Halt").click()
        expect(page.locator("#said")).to_contain_text(re.compile(r"\d+ of 30 sent in again; \d+ left\."))
        assert its.runs["R1"]["halted"] and len(its.runs["R1"]["results"]) < 30
        # What is left is the group now.
        left = 30 - len(its.runs["R1"]["results"])
        expect(page.get_by_role("button", name=f"Retry all {left}")).to_be_visible()


def test_many_jobs():
    with visit("/jobs") as (page, its):
        live(page)
        row(page, "Plakat").locator("input").check()
        page.locator("tbody tr", has_text="Zeitungsband_1923-02").locator("input").click(modifiers=["Shift"])
        bulk = page.get_by_role("region", name="What is selected")
        expect(bulk).to_contain_text(re.compile("10 selected"))
        expect(bulk.get_by_role("button", name="Retry 4 of 10")).to_be_visible()
        page.get_by_label("Select all that are shown").check()
        bulk.get_by_role("button", name="Select all that match").click()
        expect(bulk).to_contain_text("All that match")
        bulk.get_by_role("button", name="Dismiss").click()
        page.get_by_role("dialog").get_by_role("button", name="Dismiss 34").click()
        expect(page.locator("#said")).to_have_text("34 of 34 dismissed.")
        method, path, body = its.asked[-1]
        assert (path, body["key"], body["filter"]) == ("runs", "K1", {}), body
        expect(bulk).to_have_count(0)


def test_cancel_and_bump():
    with visit(f"/jobs/{RUNNING}") as (page, its):
        live(page)
        page.get_by_role("button", name="Bump").click()
        expect(page.locator("#said")).to_have_text("put first in line")
        # What the state forbids is shown, and says why.
        release = page.get_by_role("button", name="Release")
        expect(release).to_have_attribute("aria-disabled", "true")
        expect(page.locator(".title")).to_contain_text("pause it first")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.locator("main .chip")).to_have_text("cancelled")


def test_pause_and_resume():
    with visit("/pipelines/covers") as (page, its):
        live(page)
        page.get_by_role("button", name="Pause").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Why (everybody sees it)").fill("the RIP is <b>down</b>")
        dialog.get_by_label("For how long").select_option("7200")
        dialog.get_by_role("button", name="Pause").click()
        expect(page.locator("main .banner.hold")).to_contain_text("anna paused this pipeline")
        expect(page.locator("main .banner.hold")).to_contain_text("“the RIP is <b>down</b>”")
        assert its.asked[-1][2] == {"kind": "pause", "reason": "the RIP is <b>down</b>", "for_s": 7200}
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("dialog").get_by_role("button", name="Resume").click()
        expect(page.locator("main .banner.hold")).to_have_count(0)
        page.goto("/")
        page.get_by_role("button", name="Pause all").click()
        page.get_by_role("dialog").get_by_role("button", name="Pause all 7").click()
        expect(page.locator("tr[data-key=scans]")).to_contain_text("paused by anna")


def test_reload():
    with visit("/", allowed=["409"]) as (page, its):
        live(page)
        its.reload_problems = ["covers.yaml:14:9: error: unknown key 'algoritm'; did you mean 'algorithm'?"]
        page.get_by_role("button", name="Reload", exact=True).click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("What was loaded stays in force")
        expect(dialog.locator(".errs b")).to_have_text("error:")
        dialog.get_by_role("button", name="Close").click()
        its.reload_problems = []
        page.get_by_role("button", name="Reload all 7").click()
        expect(page.locator("#said")).to_have_text("Reloaded: covers changed (stage 3), 6 unchanged.")
        expect(page.locator("main .banner")).to_have_count(0)


def test_file():
    """The file as loaded, what differs on disk, and a reload beside it; its lines stay in the page while figures change."""
    with visit("/pipelines/covers") as (page, its):
        live(page)
        panel = page.locator("#file")
        expect(panel).to_contain_text("covers.yaml, loaded 09:30; 1 line differs on disk, changed 14:29")
        changed = panel.locator(".del, .add")
        expect(changed).to_have_count(2)
        assert [text.split(":")[0] for text in changed.all_text_contents()] == ["loaded", "on disk"]
        assert [each.locator(".sg").text_content() for each in changed.all()] == ["−", "+"]
        expect(panel).to_contain_text("••• stands for what may be a secret")
        # The numbers are those of what is loaded.
        assert panel.locator(".l").count() == 13
        panel.locator("pre").evaluate("(pre) => { window.pre = pre; window.first = pre.querySelector('.l'); pre.scrollLeft = 40 }")
        its.pipeline("covers")["jobs"]["running"] = 77
        its.board("covers")
        expect(page.locator("main .title")).to_contain_text("77 running")
        assert page.evaluate("window.first.isConnected && window.pre.isConnected") and its.file_reads == 1
        page.get_by_role("button", name="Reload all 7").click()
        expect(page.locator("#said")).to_contain_text("Reloaded: covers changed")
        expect(panel).to_contain_text("covers.yaml, loaded 09:30; the same on disk")
        expect(changed).to_have_count(0)
        expect(page.locator("main .banner")).to_have_count(0)
        # Changed again.
        its.files = {"loaded": 7, "changed": [{"file": "/etc/dropmill/covers.yaml", "kind": "changed", "at": shop.stamp(1)}], "refused": []}
        its.board("covers")
        expect(changed).to_have_count(2)
    with visit("/pipelines/covers", fake.Shop(role="look")) as (page, _):
        live(page)
        expect(page.locator("#file .add")).to_have_count(1)
        expect(page.get_by_role("button", name="Reload")).to_have_count(0)


def test_files_that_cannot_be_compared():
    told = {"unreadable": ("it cannot be read as YAML", ["; changed on disk", "What is on disk is not shown: it cannot be read as YAML."]), "gone": ("No such file", ["; gone on disk", "It goes on as it was loaded: No such file."]),
            "silent": ("'/etc/a.yaml' does not answer", ["; not known on disk", "'/etc/a.yaml' does not answer."])}
    for disk, (reason, text) in told.items():
        its = fake.Shop()
        hostile = [{"kind": "same", "text": text} for text in ("name: <img src=x onerror=alert(1)>", "", "# <b>", "\tx: \u202ey")]
        its.file_answer = {"file": "/etc/dropmill/covers.yaml", "loaded_at": shop.stamp(9), "disk": disk, "reason": reason, "lines": hostile, "more": 1204}
        with visit("/pipelines/covers", its) as (page, _):
            panel = page.locator("#file")
            for part in text:
                expect(panel).to_contain_text(part)
            expect(panel.locator(".l").last).to_contain_text("x: \\u202ey")
            expect(panel).to_contain_text("1,204 more lines are not shown.")
            expect(panel.locator(".l").first).to_have_text(hostile[0]["text"])
            assert panel.locator("img, b").count() == 0
    its = fake.Shop()
    its.file_refusal = fake.Refusal(503, "daemon.late", "The daemon does not answer", "Try again")
    with visit("/pipelines/covers", its, allowed=["503"]) as (page, _):
        expect(page.locator("#file")).to_contain_text("It is not known now. The daemon does not answer. Try again.")
        expect(page.locator("main h1")).to_have_text("covers")
        its.file_refusal = None
        its.board("covers")
        expect(page.locator("#file .add")).to_have_count(1)


# ---- finding

def test_filters_are_the_address():
    with visit("/jobs") as (page, _):
        live(page)
        page.locator(".tog", has_text="failed").locator("input").check()
        expect(page).to_have_url(re.compile(r"/jobs\?state=failed$"))
        expect(page.locator("main .said")).to_contain_text("failed; newest first.")
        expect(page.locator("tbody .stc").first).to_have_text("failed")
        page.get_by_label("Code").fill("archive.*")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"state=failed&code=archive"))
        expect(page.locator("tbody tr")).to_have_count(30)
        page.reload()
        expect(page.locator("tbody tr")).to_have_count(30)
        expect(page.get_by_label("Code")).to_have_value("archive.*")
        expect(page.locator(".tog", has_text="failed").locator("input")).to_be_checked()
        page.go_back()
        expect(page.get_by_label("Code")).to_have_value("")
        expect(page.locator("tbody tr")).to_have_count(34)
        page.get_by_role("link", name="Clear").click()
        expect(page.locator("tbody tr")).to_have_count(50)
        expect(page.locator(".pager")).to_contain_text("50 shown; older ones exist.")
        page.get_by_role("link", name="Older").click()
        expect(page).to_have_url(re.compile("before=50"))
        expect(page.locator("tbody tr")).to_have_count(50)
    with visit("/waiting?pipeline=scans") as (page, _):
        expect(page.locator(".grp")).to_have_count(1)
        expect(page.locator("select[name=pipeline]")).to_have_value("scans")
    with visit("/failed") as (page, _):
        page.locator("select[name=pipeline]").select_option("scans")
        expect(page).to_have_url(re.compile("pipeline=scans"))


def test_keyboard():
    with visit("/") as (page, _):
        live(page)
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("g")
        page.keyboard.press("j")
        expect(page).to_have_url(re.compile("/jobs$"))
        expect(page.locator("tbody tr").first).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(page.get_by_role("region", name="What is selected")).to_contain_text("1 selected")
        page.keyboard.press("Escape")
        expect(page.get_by_role("region", name="What is selected")).to_have_count(0)
        page.keyboard.press("k")
        expect(page.locator("tbody tr").first.locator("a.row")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/jobs/01M8"))
        live(page)
        page.keyboard.press("/")
        expect(page.locator("#find")).to_be_focused()
        page.keyboard.type(f"{COVER}\n")
        expect(page).to_have_url(re.compile(COVER))
        live(page)
        # Turned off they do nothing, and stay off.
        page.keyboard.press("?")
        page.get_by_label("Single-key shortcuts are on").uncheck()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("o")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_url(re.compile(COVER))
        page.get_by_role("button", name="Keyboard shortcuts").click()
        expect(page.get_by_label("Single-key shortcuts are on")).not_to_be_checked()


def test_no_mouse():
    """Everything that can be pressed is reached by Tab, in reading order, and is seen to be."""
    with visit("/failed") as (page, _):
        live(page)
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            text = page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name")
            seen.append(text)
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none' || document.activeElement.matches('.tog input, .skip')"), text
        for text in ("Overview", "As a list", "Retry all 30", "Dismiss all 30", "List"):
            assert text in seen, f"{text} is not among {seen}"


# ---- dropping

def file(name, size=1000):
    return {"name": name, "mimeType": "application/pdf", "buffer": b"x" * size}


def test_upload():
    with visit("/drop", allowed=["409", "beforeunload"]) as (page, its):
        live(page)
        its.slow = 0.03
        page.locator("input[type=file]").first.set_input_files([file("large.pdf", 3_000_000), file(shop.IMAGE), file("film.mov")])
        items = page.locator(".ups > li")
        expect(items).to_have_count(3)
        refused = items.filter(has_text="film")
        expect(refused).to_contain_text("covers takes *.pdf only. Nothing was sent.")
        progress = items.filter(has_text="large").locator("progress")
        expect(progress).to_be_visible()
        expect(page.locator("#up-h + span")).to_contain_text("arriving")
        # Leaving is asked about while something arrives.
        assert page.evaluate("(() => { const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented })()")
        expect(page.locator("#up-h + span")).to_have_text("2 arrived, 1 refused", timeout=30_000)
        assert its.received == {("covers", "large.pdf"): 3_000_000, ("covers", shop.IMAGE): 1000}
        assert not page.evaluate("(() => { const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented })()")
        # A name that is taken is a choice.
        page.locator("input[type=file]").first.set_input_files([file("large.pdf", 10)])
        again = items.filter(has_text="The name is taken in the inbox of covers.")
        again.get_by_role("button", name="Send under another name").click()
        expect(items.first).to_contain_text("arrived")
        assert its.received["covers", "large (2).pdf"] == 10
        # It is followed once it is a job.
        job = {**its.job("Bildband_Alpen_Schutzumschlag_4c_v12.pdf"), "id": shop.job_id(3000), "name": "large.pdf", "path": "large.pdf", "claimed_at": its.now()}
        its.jobs.append(job)
        its.change(job, "claimed", state="running", stage_kind="checksum")
        link = items.filter(has_text="checksum").get_by_role("link")
        expect(link).to_have_attribute("href", f"/jobs/{job['id']}")
        its.emit("progress", {"jobs": [{"id": job["id"], "progress": {"done": 1500, "of": 3000, "unit": "bytes", "rate": 1e6}}]})
        expect(items.filter(has_text="checksum: 1.5 KiB of 2.9 KiB, 1.0 MB/s")).to_have_count(1)
        its.change(job, "processed", state="processed", finished_at=its.now(), duration_s=3)
        expect(page.locator(".ups a[href$='" + job["id"] + "']")).to_have_text("processed")
        refused.get_by_role("button", name="Dismiss").click()
        expect(items).to_have_count(3)


def test_many_at_a_time():
    with visit("/drop") as (page, its):
        live(page)
        its.slow = 0.2
        page.locator("input[type=file]").first.set_input_files([file(f"{number}.pdf", 200_000) for number in range(12)])
        expect(page.locator(".ups progress")).to_have_count(8)
        expect(page.locator(".ups")).to_contain_text("8 arrive at a time")
        page.locator(".ups > li").first.get_by_role("button", name="Cancel").click()
        its.slow = 0
        expect(page.locator("#up-h + span")).to_have_text("11 arrived, 1 called off", timeout=20_000)


def test_drag_and_drop():
    with visit("/drop?pipeline=scans") as (page, its):
        live(page)
        page.locator("#zone, .zone").evaluate("""(zone) => {
            const data = new DataTransfer();
            data.items.add(new File(["abc"], "dragged.tif"));
            zone.dispatchEvent(new DragEvent("dragenter", { bubbles: true, cancelable: true, dataTransfer: data }));
            zone.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
        }""")
        expect(page.locator(".ups > li")).to_contain_text("arrived")
        assert its.received == {("scans", "dragged.tif"): 3}


def test_folder():
    with visit("/drop?pipeline=scans") as (page, its), tempfile.TemporaryDirectory() as folder:
        live(page)
        inner = pathlib.Path(folder, "box 1", "50 %")
        inner.mkdir(parents=True)
        (inner / "a#b.tif").write_bytes(b"1234")
        page.locator("input[webkitdirectory]").set_input_files(str(inner.parent))
        expect(page.locator(".ups > li")).to_contain_text("arrived")
        assert its.received == {("scans", "box 1/50 %/a#b.tif"): 4}, its.received



def folder_shop(folders):
    its = fake.Shop()
    its.pipeline("scans")["upload"] |= {"folders": folders, "depth": 2}
    return its


def folder_of(parent, **files):
    """A folder `box` with these files."""
    for name, content in files.items():
        path = pathlib.Path(parent, "box", name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return str(pathlib.Path(parent, "box"))


def test_folder_as_one():
    """It is one line and one drop, with its progress; it can be called off, and a taken name is a choice."""
    its = folder_shop("as_one")
    with visit("/drop?pipeline=scans", its, allowed=["409", "404"]) as (page, _), tempfile.TemporaryDirectory() as folder:
        live(page)
        expect(page.locator("#choose-files")).to_be_hidden()
        box = folder_of(folder, a_tif=b"1234", side__b_tif=b"12")
        pathlib.Path(box, "Thumbs.db").write_bytes(b"x")
        page.locator("input[webkitdirectory]").set_input_files(box)
        items = page.locator(".ups > li")
        expect(items).to_have_count(1)
        expect(items).to_contain_text("arrived")
        expect(items).to_contain_text("left out 1 file of the desktop’s own")
        assert its.received == {("scans", "box"): {"a.tif": 4, "side/b.tif": 2}}, its.received
        page.locator("input[webkitdirectory]").set_input_files(box)
        items.filter(has_text="The name is taken").get_by_role("button", name="Send under another name").click()
        expect(page.locator("#up-h + span")).to_have_text("2 arrived")
        assert ("scans", "box (2)") in its.received
        its.slow = 0.2
        box = folder_of(pathlib.Path(folder, "more"), a_tif=b"1" * 100_000, b_tif=b"2" * 5_000_000)
        pathlib.Path(box).rename(pathlib.Path(box).with_name("large"))
        page.locator("input[webkitdirectory]").set_input_files(str(pathlib.Path(box).with_name("large")))
        item = items.filter(has_text="large")
        expect(item).to_contain_text("file 2 of 2")
        expect(item.locator("progress")).to_be_visible()
        item.get_by_role("button", name="Cancel").click()
        expect(item).to_contain_text("Called off; nothing was left in the inbox.")
        until(lambda: ("DELETE", "uploads/U3", None) in its.asked, "it is given up")


def test_folder_that_is_dragged():
    """As Chromium hands over what a person drags: with its empty folders."""
    for look in ("light", "small"):
        its = folder_shop("as_one")
        with visit("/drop?pipeline=scans", its, look, allowed=["409"]) as (page, _), tempfile.TemporaryDirectory() as folder:
            live(page)
            box = folder_of(folder, side__b_tif=b"12")
            pathlib.Path(box, "empty").mkdir()
            drag(page, page.locator(".zone"), box)
            expect(page.locator(".ups > li")).to_contain_text("arrived")
            assert its.received == {("scans", "box"): {"empty": None, "side/b.tif": 2}}, its.received
            its.slow = 0.2
            drag(page, page.locator(".zone"), folder_of(pathlib.Path(folder, "more"), a_tif=b"1", b_tif=b"2" * 3_000_000))
            expect(page.locator(".ups > li").first).to_contain_text("name is taken")
            (pathlib.Path(folder, "more") / "box").rename(pathlib.Path(folder, "Karton 7"))
            drag(page, page.locator(".zone"), pathlib.Path(folder, "Karton 7"))
            expect(page.locator(".ups > li").first).to_contain_text("file 2 of 2")
            chromium.check_look(page, "drop-folder", look)


def test_folder_that_is_refused():
    """Before anything is sent, with the reason."""
    wrong = [("no", {"a_tif": b"1"}, "scans takes no folders. Nothing was sent. Drop the files themselves."), ("as_files", {"a__b__c_tif": b"1"}, "scans searches 1 level of folders, and box/a/b/c.tif is deeper"),
             ("as_one", {"a_part": b"1"}, "box/a.part has the name of a hidden or unfinished file")]
    for folders, files, text in wrong:
        its = folder_shop(folders)
        with visit("/drop?pipeline=scans", its) as (page, _), tempfile.TemporaryDirectory() as folder:
            live(page)
            drag(page, page.locator(".zone"), folder_of(folder, **files))
            expect(page.locator(".ups > li")).to_contain_text(text.split(". ")[0])
            expect(page.locator(".ups > li")).to_contain_text("Nothing was sent")
            assert not its.received and not its.folders
    with visit("/drop?pipeline=scans", folder_shop("as_one")) as (page, its):
        live(page)
        page.locator("input[type=file]").first.set_input_files([file("a.tif")])
        expect(page.locator(".ups > li")).to_contain_text("A drop of scans is a folder. Nothing was sent.")


if __name__ == "__main__":
    chromium.run(globals(), chromium.parser(__doc__).parse_args())
