"""Debian's Chromium, driven by Playwright, and what tests of pages have in common."""

import argparse
import contextlib
import os
import pathlib
import sys
import time
import traceback

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

PROGRAM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# Scheme and width.
LOOKS = {"light": ("light", 1400), "dark": ("dark", 1400), "middle": ("light", 1024), "small": ("light", 380), "small-dark": ("dark", 380)}
# Where pictures are kept; nowhere unless somebody asks for them.
pictures = None
browser = None


@contextlib.contextmanager
def looking(url, look="light", allowed=(), script=None, **options):
    """A page in a fresh context. Fails on what the console says, reports of the policy too, but for `allowed`; on any dialog of a script."""
    scheme, width = LOOKS[look]
    context = browser.new_context(base_url=url, color_scheme=scheme, viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(10_000)
    if script:
        context.add_init_script(script)
    said = []

    def watch(page):
        page.on("console", lambda message: said.append(f"{message.text} ({message.location.get('url')})"))
        page.on("pageerror", lambda error: said.append(f"{error}\n{error.stack}"))
        page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.type} {dialog.message}"), dialog.dismiss()))

    context.on("page", watch)
    try:
        yield context.new_page()
        left = [text for text in said if not any(word in text for word in allowed)]
        assert not left, f"the console says: {left}"
    finally:
        context.close()


def drag(page, zone, *paths):
    """As if a person dragged files or folders there."""
    box = zone.bounding_box()
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 20, "y": box["y"] + 20, "data": data})


def live(page):
    expect(page.locator("#live")).to_have_text("live")


def check_look(page, name, look):
    """It does not scroll sideways, and axe finds nothing but trifles. Keeps a picture where that is asked for."""
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner, f"{name} in {look} is {wide} wide"
    found = [] if look in ("middle", "small-dark") else Axe().run(page).response["violations"]
    serious = [f"{each['id']}: {[node['html'][:150] for node in each['nodes']]}" for each in found if each["impact"] != "minor"]
    assert not serious, f"{name} in {look}: {serious}"
    if pictures:
        page.screenshot(path=str(pictures / f"{name}-{look}.png"), full_page=True)


def parser(description):
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("words", nargs="*", help="only tests whose names have one of them")
    arguments.add_argument("--pictures", type=pathlib.Path, metavar="FOLDER")
    return arguments


def run(tests, wished, *flags):
    """Runs those of the functions that are named test_…, and exits with 1 where one fails."""
    global browser, pictures
    pictures = wished.pictures
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    chosen = [(name, test) for name, test in tests.items() if name.startswith("test_") and (not wished.words or any(word in name for word in wished.words))]
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=(["--no-sandbox"] if os.geteuid() == 0 else []) + list(flags))
        for name, test in chosen:
            begun = time.monotonic()
            try:
                test()
                print(f"✔ {name} ({time.monotonic() - begun:.1f} s)", flush=True)
            except Exception:  # noqa: BLE001  # whatever it is, the others go on
                failed += 1
                print(f"✘ {name}\n{traceback.format_exc()[:2500]}", flush=True)
        browser.close()
    print(f"{len(chosen) - failed} of {len(chosen)} passed")
    sys.exit(1 if failed else 0)
