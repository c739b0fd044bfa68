"""examples/librarian as its README has it: a secret, a volume and a container, day after day, until the archive is a web page."""

import json
import re
import socket
import subprocess
from http.server import BaseHTTPRequestHandler

import pytest
from oci import Serving
from test_containers import CAPACITY, missing
from test_containers_page import follow
from world import ROOT, World, until

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"left out: {missing()}")
FOLDER = ROOT / "examples/librarian"
KEY, RUNNER = "sk-library-key", 1
PAGES = ["A horse came to the river.", "The river was wide, and the horse was old.", "Another horse waited."]


class Library(Serving):
    """A page that only who has the key may read. Each day has another one."""

    def __init__(self):
        self.read = 0
        library = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                is_known = self.headers["authorization"] == f"Bearer {KEY}"
                body = PAGES[library.read % len(PAGES)].encode() if is_known else b"no"
                library.read += is_known
                self.send_response(200 if is_known else 401)
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)


def test_an_archive_grows(tmp_path):
    """A-234, A-241, A-243, A-263: the actor's key is nobody's, its archive outlives each job, and what a program makes of it is a page."""
    readme = (FOLDER / "README.md").read_text()
    image, allow, secret, relays, start = re.findall(r"^```sh\n(.*?)^```$", readme, re.S | re.M)
    library = Library()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        with World(tmp_path, "--block-time", "200ms", "--runners", "0", "--balance", "20000", "--gateway-port", str(port)) as world:
            (tmp_path / "examples").symlink_to(ROOT / "examples")
            (tmp_path / "key.txt").write_text(KEY + "\n")
            digest = re.search(r"sha256:[0-9a-f]{64}", follow(world, tmp_path, image))[0]
            follow(world, tmp_path, allow)
            name_hash = re.search(r"0x[0-9a-f]{64}", follow(world, tmp_path, secret.replace("cowboy ", "cowboy --json ")))[0]
            follow(world, tmp_path, relays)
            layouts = json.dumps([str(tmp_path / "images")])
            world.runner(RUNNER, f'[http]\nhosts = {{ "library.example.com" = "{library.address}" }}\n[container]\n{CAPACITY}layouts = {layouts}\n')
            world.runners_are(1)
            # The library of the test has no certificate, and its days are short.
            changes = {"sha256:DIGEST": digest, "HASH": name_hash, "86400": "40", "https://library": "http://library"}
            for old, new in changes.items():
                start = start.replace(old, new)
            follow(world, tmp_path, start)
            report = lambda: world.run("actor", "query", "librarian", "report")["result"]
            until("three days", lambda: (found := report())["missed"] > 0 or (found["catalogue"] or {"pages": 0})["pages"] >= 3)
            world.run("actor", "execute", "librarian", "close")
            found = report()
            assert found["missed"] == 0, world.run("actor", "logs", "librarian")
            assert ["horse", found["catalogue"]["pages"]] in [list(row) for row in found["catalogue"]["common"]]
            jobs = json.dumps([world.get(f"/job/{job['job_id']}") for job in world.get("/jobs?limit=100")["jobs"]])
            assert KEY not in jobs and KEY.encode().hex() not in jobs
            page = lambda: subprocess.run(
                ["curl", "-s", "-H", "Host: archive.localhost", f"http://127.0.0.1:{port}"], capture_output=True, text=True
            ).stdout
            assert "<td>horse<td>" in until("the page", lambda: "horse" in page() and page())
    finally:
        library.end()
