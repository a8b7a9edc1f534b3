"""What the fake server tells: an invented print shop and archive on one host, on a Friday at 14:32."""

import base64
import datetime as dt

NOON = dt.datetime(2026, 11, 20, 13, 32, tzinfo=dt.timezone.utc)
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

COVER = "Hoffmann_Verlag_Herbst2026_Umschlag_Band-07_CMYK_FOGRA51_v3_final_KORR_2026-11-19.pdf"
IMAGE = "<img src=x onerror=alert(1)>.pdf"
OVERRIDE = "invoice\u202efdp.exe"
NO_TEXT = b"pr\xfcfbericht_k\xf6ln_1987.tif"
LINES = "scan\n2026.csv"
LONG = "x" * 251 + ".pdf"
ARABIC = "كتالوج الخريف ٢٠٢٦.pdf"
HEBREW = "דוח שנתי 2025.pdf"
MARKUP = "pdfx-check 4.2.1\n<script>alert(2)</script><img src=x onerror=alert(3)>\npage 3: font is not embedded: error\n"


def named(key, name):
    """A name as the API gives it: text, and its bytes where it is none."""
    if isinstance(name, str):
        return {key: name}
    return {key: name.decode("utf-8", "replace"), f"{key}_base64": base64.b64encode(name).decode()}


def stamp(seconds_ago=0, base=NOON):
    return (base - dt.timedelta(seconds=seconds_ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def job_id(number):
    digits = ""
    for _ in range(8):
        number, digit = divmod(number, 32)
        digits = ALPHABET[digit] + digits
    return "01M8092HDT09ZD2CGA" + digits


SENTENCES = {
    "run.failed": ("The program ‘/usr/local/bin/pdfx-check’ ended with status 3.",
                   "Look at what it wrote; it judged the file, or could not work on it.", "file"),
    "archive.damaged": ("The archive ends too early, or has more data after its end.",
                        "Send the archive again; if that does not help, make it anew.", "file"),
    "detect.type": ("Its type is text/html; ‘detect’ takes application/pdf only.",
                    "Send it as a file of that type, or widen ‘only’ of the stage ‘detect’.", "file"),
    "scan.infected": ("Win.Test.EICAR_HDB-1 was found.", "Do not open it; tell the sender.", "file"),
    "ready.timeout": ("Was not complete in 2 h: held open for writing by smbd (pid 2210).",
                      "Drop it again as it is meant to be, and leave it alone from then on.", "file"),
    "run.transient": ("‘pdfx-check’ ended with status 75: no licence is free.", "Nothing; it is tried again.", "transient"),
}
INFECTED = "An infected file is not sent in again together with others."


def failure(code):
    summary, remedy, kind = SENTENCES[code]
    return {"class": kind, "code": code, "summary": summary, "remedy": remedy}


def make_jobs():
    rows = [
        # name, pipeline, state, size, claimed ago, took, producer, more
        ("Plakat A1 „Weihnachtsmarkt“ – Bögen 1–16.pdf", "covers", "running", 43_306_189, 22, None, "front-desk", {"stage": 2, "stage_kind": "run"}),
        ("Nachlass_Brückner_Kasten-12_Mappe-03_0001-0480.tar.zst", "scans", "running", 2_040_109_465, 200, None, "scanner-1",
         {"stage": 2, "stage_kind": "checksum", "progress": {"done": 1_503_238_553, "of": 2_469_606_195, "unit": "bytes", "rate": 410e6}}),
        ("tape-0417_side-B_reel-2_96k24.tar", "scans", "running", 8_321_499_136, 420, None, "scanner-2",
         {"stage": 0, "stage_kind": "unpack", "progress": {"done": 2104, "of": 11690, "unit": "entries", "rate": 64}}),
        ("proof_0087_softproof.pdf", "proofs", "running", 9_000_000, 880, None, "zeta", {"stage": 0, "stage_kind": "run"}),
        ("Bildband_Alpen_Schutzumschlag_4c_v12.pdf", "covers", "queued", 92_379_545, 40, None, "hoffmann", {"stage": 2, "stage_kind": "run"}),
        (ARABIC, "covers", "deferred", 12_582_912, 310, None, "zeta",
         {"stage": 2, "stage_kind": "run", "failures": 1, "next_attempt_at": stamp(-70), "failure": failure("run.transient")}),
        (LINES, "scans", "settling", 1229, 12, None, "scanner-1", {}),
        (COVER, "covers", "failed", 50_541_363, 1189, 577, "hoffmann",
         {"failed_stage": 2, "stage_kind": "run", "failures": 3, "failure": failure("run.failed"), "retry_of": job_id(900)}),
        (IMAGE, "covers", "failed", 1126, 1150, 0.4, "acme", {"failure": failure("detect.type")}),
        (OVERRIDE, "invoices", "failed", 70_000, 5400, 1.2, "mail", {"failure": failure("scan.infected")}),
        (NO_TEXT, "scans", "failed", 92_274_688, 7320, 7200, "scanner-3", {"failure": failure("ready.timeout")}),
        (LONG, "covers", "processed", 4_404_019, 7400, 3.4, "acme", {}),
        (HEBREW, "covers", "processed", 245_862, 7500, 48, "zeta", {}),
        ("proof_0086_softproof.pdf", "proofs", "cancelled", 9_000_000, 7600, 1860, "zeta", {}),
        ("quelle_-_Kopie_(2).pdf", "covers", "lost", 3_145_728, 11_789, None, "front-desk",
         {"failure": {"class": "file", "code": "job.lost", "summary": "Was gone from the work folder at the start; nothing was published.", "remedy": "Send it again."}}),
        ("  two spaces  .pdf", "covers", "processed", 2_202_009, 12_000, 3.1, "zeta", {}),
    ]
    rows += [(f"Zeitungsband_1923-{n:02}_0001-0311.zip", "scans", "failed", 336_592_896, 2040 + n * 30, 4.2, "scanner-3", {"failure": failure("archive.damaged")}) for n in range(1, 31)]
    rows += [(f"Grundbuch_Blatt-{n:05}.zip", "scans", "processed", 61_000_000 + n * 1000, 13_000 + n * 6, 4.1, "scanner-2", {}) for n in range(100, 180)]
    jobs = []
    for number, (name, pipeline, state, size, ago, took, producer, more) in enumerate(rows, start=1):
        job = {"id": job_id(1000 - number), "pipeline": pipeline, "state": state, "size": size, "producer": producer, "recoveries": 0, "failures": 0,
               "dropped_at": stamp(ago + 23), "claimed_at": stamp(ago), **named("name", name), **named("path", name), **more}
        if took is not None:
            job |= {"finished_at": stamp(ago - took), "duration_s": took}
        if state == "processed":
            job |= {"original": f"/srv/{pipeline}/processed/a.zip", "digests": {"sha256": "a8ec9181206e2820f90a969158d95ab7f8b081446a4e69e14a1b0949b5203ace"}}
        jobs.append(job)
    return jobs


def story(job):
    """What only the page of one job has."""
    claimed = dt.datetime.fromisoformat(job["claimed_at"].replace("Z", "+00:00"))

    def at(seconds):
        return stamp(-seconds, claimed)

    failed = job["state"] == "failed"
    over = "finished_at" in job
    end = job.get("duration_s")
    runs = [{"kind": "queued", "from": at(0.7), "to": at(min(106, end * .2 if end else 3))}]
    begin = min(106, end * .2 if end else 3)
    if job["failures"] == 3:
        runs += [{"kind": "run", "from": at(106), "to": at(230), "attempt": 1, "outcome": "again", "text": "status 75, ‘no licence is free’; tried again after 1 min"},
                 {"kind": "deferred", "from": at(230), "to": at(290)},
                 {"kind": "run", "from": at(290), "to": at(319), "attempt": 2, "outcome": "again", "text": "status 75, ‘no licence is free’; tried again after 2 min"},
                 {"kind": "deferred", "from": at(319), "to": at(439)},
                 {"kind": "run", "from": at(439), "to": at(576), "attempt": 3, "outcome": "failed", "text": "status 3, judged the file"}]
    elif over:
        runs += [{"kind": "run", "from": at(begin), "to": at(end), "attempt": 1, "outcome": "failed" if failed else "done"}]
    else:
        runs += [{"kind": "run", "from": at(begin), "attempt": 1}]
    rows = [{"kind": "inbox", "label": "dropped by smbd", "spans": [{"kind": "inbox", "from": at(-23), "to": at(0)}]},
            {"stage": 0, "kind": "detect", "workers": 1, "spans": [{"kind": "run", "from": at(0.4), "to": at(0.45), "outcome": "done", "attempt": 1}]},
            {"stage": 1, "kind": "checksum", "label": "sha256", "workers": 1, "spans": [{"kind": "run", "from": at(0.5), "to": at(0.7), "outcome": "done", "attempt": 1}]},
            {"stage": 2, "kind": job.get("stage_kind", "run"), "label": "pdfx-check", "workers": 2, "spans": runs},
            {"stage": 3, "kind": "move", "workers": 1, "spans": [{"kind": "settling", "from": at(end), "to": at(end + .01)}] if over and not failed else []}]
    events = [{"event": "claimed", "at": at(0)}, {"event": "done", "at": at(.45), "stage": "detect", "duration_s": .055, "note": "application/pdf"},
              {"event": "done", "at": at(.7), "stage": "checksum", "duration_s": .2}, {"event": "started", "at": at(begin), "stage": "run"}]
    if over:
        events.append({"event": job["state"], "at": job["finished_at"], "note": job.get("failure", {}).get("summary")})
    may = {"retry": True, "dismiss": True} if failed else {"replay": True} if job["state"] == "processed" else {"retry": True} if job["state"] == "cancelled" \
        else {} if over or job["state"] == "lost" else {"cancel": True, "bump": True, "release": "Its pipeline is at work and would claim the drop again; pause it first."}
    if failed and job["failure"]["code"] == "scan.infected":
        may["retry"] = INFECTED
    return {**job, "history": [{key: value for key, value in event.items() if value is not None} for event in events],
            "timeline": {"first_seen": at(-23), "held": [{"code": "writer", "text": "held open for writing by smbd (pid 2210)", "for_s": 21.0}], "rows": rows}, "may": job.get("may", may),
            **({"output_tail": MARKUP} if failed and job["failure"]["code"] == "run.failed" else {}),
            **({} if over else {"what_next": ["move: publishes the payload as /srv/print/rip", "success: the original goes to processed"]}),
            **({"outputs": ["/srv/print/rip/a.pdf"]} if job["state"] == "processed" else {}), "facts": {"type": "application/pdf"}}


def minutes(most, idle=0, bad=()):
    jobs = [0 if 60 - at <= idle else max(0, most - (at * 7919) % (most // 2 + 1)) for at in range(60)]
    failed = [1 if at in bad else 0 for at in range(60)]
    return {"end": stamp(), "jobs": jobs, "failed": failed, "bytes": [number * 5_000_000 for number in jobs]}


def stage(number, kind, **rest):
    return {"stage": number, "kind": kind, "label": kind, "workers": 1, "running": 0, "queued": 0, "deferred": 0, "usually_s": .06, "failed_last_hour": 0, **rest}


def make_nodes():
    def node(name, state, jobs, **rest):
        return {"name": name, "host": name, "version": "0.9.0", "since": stamp(86_400), "state": state, "jobs": jobs, "paused": [], "held": [], **rest}

    full = {"code": "disk.full", "summary": "The disk is full.", "remedy": "Make room on /srv.", "since": stamp(900)}
    return [node("mill-1", "alive", 3),
            node("mill-2", "alive", 2, host="db-host-7", paused=[{"pipeline": "covers", "trouble": full}],
                 held=[{"pipeline": "scans", "hold": {"kind": "drain", "by": "anna", "uid": 1000, "since": stamp(60), "reason": "new disk", "node": "mill-2"}}]),
            node("mill-3", "dead", 4)]


def make_pipelines():
    gib, tib = 2 ** 30, 2 ** 40
    covers_stages = [stage(0, "detect"), stage(1, "checksum", label="sha256", usually_s=.2),
                     stage(2, "run", label="pdfx-check", workers=2, running=2, queued=2, deferred=1, usually_s=110, failed_last_hour=3), stage(3, "move", usually_s=.004)]

    def pipeline(name, state, waiting, jobs, today, oldest=None, **rest):
        drops, complete, age = waiting
        queued, running, deferred, failed = jobs
        return {"name": name, "state": state, "inbox": f"/srv/{name}/inbox", "file": f"/etc/dropmill/{name}.yaml",
                "waiting": {"drops": drops, "complete": complete, "complete_bytes": complete * gib, **({"oldest_s": age} if drops else {}), "left_alone": 0},
                "jobs": {"queued": queued, "running": running, "deferred": deferred, "settling": 0, "failed": failed},
                "workers": {"all": 5, "busy": running}, "today": {"since": stamp(52_320), "processed": today, "failed": failed, "bytes": today * 350_000_000},
                **({"oldest_unfinished_s": oldest} if oldest else {}), "last_settled_at": stamp(60), "free": [{"folder": "/srv/print", "free": 412 * gib, "total": 1126 * gib, "kept": 2 ** 28}],
                "stages": [stage(0, "unpack"), stage(1, "move", usually_s=.004)], **rest}

    return [
        pipeline("covers", "working", (3, 0, 242.0), (2, 2, 1, 6), 412, 1020.0, stages=covers_stages, minutes=minutes(9, bad=(31, 32, 47)),
                 upload={"max_bytes": 4 * gib, "match": ["*.pdf"], "folders": "no"}),
        pipeline("press", "paused", (41, 38, 3120.0), (3, 1, 0, 0), 288, 3120.0, minutes=minutes(5, idle=12),
                 hold={"kind": "pause", "by": "anna", "since": stamp(709), "until": stamp(-5280), "reason": "RIP 2 is being serviced"},
                 upload={"max_bytes": 8 * gib, "match": ["*.pdf", "*.tif"], "folders": "no"}),
        pipeline("scans", "working", (4, 1, 11_520.0), (11, 4, 2, 33), 5106, 11_520.0, minutes=minutes(90, bad=range(8, 14)),
                 free=[{"folder": "/srv/scans", "free": 8.2 * tib, "total": 21 * tib, "kept": 2 ** 28}], upload={"max_bytes": 32 * gib, "match": [], "folders": "as_files"}),
        pipeline("archive-intake", "trouble", (9, 9, 1560.0), (0, 0, 0, 7), 64, 1560.0, minutes=minutes(2, idle=15, bad=(15, 40)),
                 trouble={"code": "space.floor", "summary": "Only 180.0 MiB are free on the file system of ‘/srv/archive/accepted’; 256.0 MiB are kept free.",
                          "remedy": "Free space there, or set a lower min_free; work goes on by itself.", "since": stamp(1560)},
                 free=[{"folder": "/srv/archive", "free": 180 * 2 ** 20, "total": 2 * tib, "kept": 2 ** 28}]),
        pipeline("invoices", "outside_hours", (18, 18, 24_000.0), (0, 0, 0, 1), 0, 24_000.0, opens_at=stamp(-19_680), minutes=minutes(0)),
        pipeline("proofs", "stalled", (0, 0, 0), (0, 1, 0, 0), 37, 880.0, minutes=minutes(1, idle=16),
                 stalled={"for_s": 840, "text": "Nothing has moved for 14 min; ‘run’ has worked on one job since 14:17.", "job": job_id(996), "stage": "run"}),
        pipeline("web-previews", "idle", (0, 0, 0), (0, 0, 0, 0), 0, minutes=minutes(0), last_settled_at=stamp(180_000)),
    ]


FILE = """\
# Book covers: checked, normalised, on their way to the RIP.
name: covers
inbox: /srv/print/covers/inbox
match: { include: ["*.pdf"], depth: 2 }
stages:
  - detect: { only: [application/pdf] }
  - checksum: { algorithm: sha256 }
  - run:
-      command: [/usr/local/bin/pdfx-check, --profile, PSO_Coated_v3, "{file}"]
+      command: [/usr/local/bin/pdfx-check, --profile, eciCMYK_v2, "{file}"]
      env: { LICENCE: ••• }
      workers: 2
  - move: { to: "/srv/print/rip/{path}" }"""


def file_of(pipeline, changed):
    """Its file; of one that is not as it was loaded, with what differs."""
    kinds = {"-": "loaded", "+": "disk"}
    lines = [{"kind": kinds.get(line[0], "same"), "text": line[1:] if line[0] in kinds else line} for line in FILE.split("\n")]
    its = next((each for each in changed if each["file"] == pipeline["file"]), None)
    if not its:
        lines = [{**line, "kind": "same"} for line in lines if line["kind"] != "disk"]
    return {"file": pipeline["file"], "loaded_at": stamp(18_120), "disk": its["kind"] if its else "same", **({"changed_at": its["at"]} if its else {}), "lines": lines}


def details(pipeline):
    name = pipeline["name"]
    return {**pipeline,
            "folders": {"inbox": f"/srv/{name}/inbox", "processed": f"/srv/{name}/processed", "failed": f"/srv/{name}/failed", "outputs": ["/srv/print/rip"], "watched_by": "events"},
            "last_hour": {"jobs": 398, "failed": 3, "bytes": 33_500_000_000, "half_took_less_than_s": 114.0, "one_in_twenty_took_more_than_s": 372.0}}


def make_waiting(pipelines):
    def drop(pipeline, path, size, for_s, code, text, complete=False, kind="file"):
        return {"pipeline": pipeline, **named("path", path), "size": size, "kind": kind, "for_s": for_s, "code": code, "text": text, "complete": complete, "claimed": False}

    drops = [
        drop("covers", "Hoffmann_Verlag_Herbst2026_Umschlag_Band-08_CMYK_FOGRA51_v1.pdf", 101_082_726, 242, "writer", "held open for writing by smbd (pid 4121)"),
        drop("covers", ARABIC, 12_582_912, 2.1, "growing", "growing: 3.1 MB/s, quiet for 0.2 of 1 s"),
        drop("covers", IMAGE, 0, 3.4, "empty", "empty: has to stand unchanged for 5 s, quiet for 3.4 s"),
        drop("press", "zeta/Broschüre_24S_Bogen-1.pdf", 325_268_275, 1860, "marker", "waits for Broschüre_24S_Bogen-1.pdf.done"),
        drop("press", "zeta/-rf.pdf", 4_299_161, 1.4, "growing", "growing: 2.2 MB/s, quiet for 0.4 of 1 s"),
        drop("scans", "Stadtarchiv_Ratsprotokolle_1848/", 15_247_133_901, 11_520, "incomplete",
             "not complete: 311 of 480 files of SHA256SUMS are there; the next that is missing is ‘img_0312.tif’", kind="folder"),
        drop("scans", NO_TEXT, 92_274_688, 7080, "writer", "held open for writing by smbd (pid 2210); fails in 2 min if it still is"),
        drop("scans", "map_1871_sheet-04_600dpi.tif", 2_040_109_465, 48, "room", "complete; waits for room: 256 of 256 jobs are claimed, 3rd in line", complete=True),
        drop("scans", LINES, 1229, .3, "quiet", "unchanged for 0.3 of 10 s, since open writers cannot be seen here"),
    ]
    groups = []
    for pipeline in pipelines:
        its = [each for each in drops if each["pipeline"] == pipeline["name"]]
        waiting = pipeline["waiting"]
        group = {key: pipeline[key] for key in ("name", "state", "hold", "trouble", "opens_at") if key in pipeline}
        group |= {"waiting": waiting["drops"], "oldest_s": waiting.get("oldest_s"), "drops": its,
                  "reasons": [{"code": code, "drops": sum(1 for each in its if each["code"] == code)} for code in sorted({each["code"] for each in its})]}
        if waiting["complete"] and not any(each["complete"] for each in its):
            oldest = drop(pipeline["name"], "acme/2026/KW47/plates_4c_sheet-0013.tif", 100, waiting["oldest_s"], "held", "complete", complete=True)
            group["complete"] = {"drops": waiting["complete"], "bytes": waiting["complete_bytes"], "oldest": oldest}
        groups.append({key: value for key, value in group.items() if value is not None})
    left = [drop("covers", "link.pdf", 0, 7500, "link", "refused: a symbolic link; put the file itself here"),
            drop("covers", "Umschlag_neu.pdf.crdownload", 5, 90_000, "temporary", "never taken: a download that is not done (*.crdownload); rename it when it is"),
            drop("press", "note.docx", 9, 270_000, "match", "no pattern takes it: ‘match.include’ has ‘*.pdf’, ‘*.tif’")]
    return {"pipelines": groups, "left": left}


def make_changes():
    page = {"user": "anna", "uid": 1004, "token": "anna-laptop", "role": "operate", "address": "10.2.0.14"}
    return [
        {"at": stamp(709), **page, "verb": "pause", "arguments": {"pipelines": ["press"], "until": stamp(-5280), "reason": "RIP 2 is being serviced"}, "result": "paused; 1 runs to its end", "refused": False},
        {"at": stamp(1160), "user": "anna", "uid": 1004, "verb": "reload", "arguments": {}, "result": "refused: 2 errors", "refused": True},
        {"at": stamp(1738), "user": "jonas", "uid": 1011, "token": "front-desk", "role": "drop", "address": "10.2.0.31", "verb": "drop", "arguments": {"pipeline": "covers", "path": IMAGE, "size": 43306189}, "result": "dropped", "refused": False},
        {"at": stamp(4599), "user": "root", "uid": 0, "verb": "cancel", "arguments": {"jobs": [job_id(986)]}, "result": "cancelled: run called off after 31 min", "refused": False},
        {"at": stamp(12_593), "user": "jonas", "uid": 1011, "token": "front-desk", "role": "drop", "address": "10.2.0.31", "verb": "pause", "arguments": {"pipelines": ["scans"]}, "result": "refused: this token may look and drop", "refused": True},
        {"at": stamp(71_261), "user": "anna", "uid": 1004, "verb": "replay", "arguments": {"pipeline": "web-previews", "limit": 500, "rate": "10/s"}, "result": "212 copied to the inbox", "refused": False},
    ]
