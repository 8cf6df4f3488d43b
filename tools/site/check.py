"""`python tools/site/check.py` checks the built site in a real browser, page by page.

Every page is opened in headless Chromium at 1280 and at 390 pixels. The check fails if a page is
wider than its window, if code or a table is cut on the wide screen, if the console has an error, or
if a file does not load. (`mkdocs build --strict` checks links.) It needs the built site, Debian's
chromium, and playwright (extra: dev).
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Error, Page, sync_playwright

PROGRAM = "/usr/bin/chromium"
WIDE, NARROW = 1280, 390
# Wider than the window by more than a rounded pixel; nothing may hang out of its column unseen.
PAGE = "document.documentElement.scrollWidth - window.innerWidth"
CUT = """
[...document.querySelectorAll('.md-content pre > code, .md-content .md-typeset__scrollwrap')]
  .map(e => [e.scrollWidth - e.clientWidth, e.innerText.trim().split('\\n')[0].slice(0, 60)])
  .filter(([over, _]) => over > 1)
  .map(([over, line]) => `${line} (+${over})`)"""


class Quiet(SimpleHTTPRequestHandler):
    """A handler that serves files without printing a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def chromium(errors: list[str]) -> Iterator[Page]:
    """A tab of a new browser; what the console and scripts report is appended.

    The console reports what does not load, except requests that the browser aborts itself when the
    next page is opened.
    """
    with sync_playwright() as engines:
        browser = engines.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        tab = browser.new_page()
        # The list of versions, which `mike` writes beside the sites of all versions.
        versions = [{"version": "1.0", "title": "1.0", "aliases": []}]
        tab.route("**/versions.json", lambda route: route.fulfill(json=versions))

        def note(said: ConsoleMessage) -> None:
            if said.type == "error":
                errors.append(f"{said.text} {said.location['url']}")

        tab.on("console", note)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        yield tab
        browser.close()


def faults(tab: Page, address: str) -> list[str]:
    """What is wrong with the layout of one page."""
    tab.set_viewport_size({"width": WIDE, "height": 800})
    try:
        tab.goto(address)
    except Error as error:
        return [f"not loaded: {error}"]
    found = [f"cut at {WIDE}: {text}" for text in tab.evaluate(CUT)]
    for width in (WIDE, NARROW):
        tab.set_viewport_size({"width": width, "height": 800})
        if (over := tab.evaluate(PAGE)) > 1:
            found.append(f"{over} pixels too wide at {width}")
    return found


def main() -> int:
    """Check the site; the exit code is 1 if anything is wrong."""
    site = Path("site")
    names = sorted(str(p.relative_to(site)) for p in site.rglob("*.html"))
    wrong: list[str] = []
    errors: list[str] = []
    with served(site) as address, chromium(errors) as tab:
        for name in names:
            found = faults(tab, address + name)
            wrong += [f"{name}: {fault}" for fault in [*found, *errors]]
            errors.clear()
    print("\n".join([*wrong, f"{len(names)} pages, {len(wrong)} faults"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
