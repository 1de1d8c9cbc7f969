"""A headless Chromium, controlled through two pipes: no port, a temporary profile, no package."""

import json
import os
import shutil
import subprocess
import tempfile

EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """One page of a browser; `events` collects the notifications between the replies."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands_read, self.commands = os.pipe()
        self.replies, replies_write = os.pipe()
        # The browser reads from 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{commands_read} 4>&{replies_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, EXECUTABLE, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=(commands_read, replies_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands_read)
        os.close(replies_write)
        self.rest, self.count, self.session, self.events = b"", 0, None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self.commands)
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.replies)
        self.folder.cleanup()

    def call(self, method, **parameters):
        """Send a command and wait for its reply."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (reply := self.next()).get("id") != self.count:
            self.events.append(reply)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def next(self):
        while b"\0" not in self.rest:
            read = os.read(self.replies, 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self.rest += read
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def show(self, address, width, height=900, scheme="light"):
        """Load a page as if on a screen of that size; returns when it has loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next())
        # Pending notifications arrive before this reply.
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")

    def evaluate(self, script):
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return reply["result"].get("value")

    @property
    def messages(self):
        """Console messages and errors."""
        methods = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event.get("method") in methods]

    @property
    def requests(self):
        sent = [
            event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"
        ]
        return [parameters["request"]["url"] for parameters in sent]
