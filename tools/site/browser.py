"""A headless Chromium, controlled through its DevTools protocol."""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websocket import WebSocket, WebSocketTimeoutException, create_connection

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*"),
)
PROGRAM = "/usr/bin/chromium"
PATIENCE = 20.0  # seconds for one page


class Tab:
    """A tab that opens addresses, records errors and evaluates JavaScript.

    Attributes:
        errors: what the console, the scripts and the network have reported since the last `open`.
    """

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.session: str | None = None
        self.count = 0
        self.loaded = False
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send one command and return its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        self.socket.send(
            json.dumps(message | ({"sessionId": self.session} if self.session else {}))
        )
        while (answer := self._next()).get("id") != self.count:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, address: str) -> None:
        """Go to an address and wait until it has loaded."""
        self.errors, self.loaded = [], False
        self.call("Page.navigate", url=address)
        try:
            while not self.loaded:
                self._next()
        except WebSocketTimeoutException:
            self.errors.append(f"not loaded after {PATIENCE:g} seconds")

    def width(self, pixels: int) -> None:
        """Lay the page out for a window of this width."""
        size = {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression; the value of a promise is awaited."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def _next(self) -> dict[str, Any]:
        message = json.loads(self.socket.recv())
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("text", "exception"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        return dict(message)


@contextmanager
def chromium() -> Iterator[Tab]:
    """A tab of a new browser, which is closed at the end of the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        browser = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            assert browser.stderr is not None
            found = None
            for line in browser.stderr:
                if found := re.search(r"DevTools listening on (ws://\S+)", line):
                    break
            if found is None:
                raise RuntimeError(f"{PROGRAM} did not start")
            yield Tab(create_connection(found[1], timeout=PATIENCE))
        finally:
            browser.terminate()
            browser.wait(timeout=10)
