"""A shell with an empty home in which a page's commands are typed, and the servers that they start."""

import os
import re
import subprocess
import threading

import pytest
from devnet import ROOT, STARTUP_SECONDS, programs


class Server:
    """A program that serves until the test ends it."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(
            ["bash", "-c", "exec " + command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = []
        for line in self.process.stdout:
            said.append(line)
            ready = re.match(r"ready: (\S+)", line)
            if ready:
                self.url = ready[1]
                # Nobody reads the rest, and it must not stop for that.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        raise AssertionError(f"{command} ended before it was ready:\n{''.join(said)}")

    def stop(self):
        self.process.terminate()
        self.process.wait(STARTUP_SECONDS)


class Shell:
    """A folder with what a clone has, and a shell in it that stops at the first command that fails."""

    def __init__(self, home, url):
        self.clone = home / "cowboy"
        self.clone.mkdir()
        (self.clone / "examples").symlink_to(ROOT / "examples")
        keep = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
        path = f"{programs()}{os.pathsep}/usr/bin{os.pathsep}/bin"
        self.url = url
        self.environment = {**keep, "HOME": str(home), "PATH": path, "COWBOY_RPC_URL": url}

    def run(self, folder, lines):
        """What the commands print, each after its own line; fails with everything that was said."""
        script = "set -e\n" + "\n".join(f"echo {quoted('$ ' + line)}\n{line}" for line in lines)
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def refused(self, folder, line):
        """What a command says that fails."""
        done = subprocess.run(["bash", "-c", line], cwd=folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def serve(self, line):
        """A server, at a port of its own instead of the page's. The default node of the page is the test's devnet."""
        line = re.sub(r" --port \d+", "", line).replace("http://localhost:4000", self.url)
        return Server(f"{line} --port 0", self.clone, self.environment)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="module")
def devnet(tmp_path_factory):
    if programs() is None:
        pytest.skip("cowboyd is not built")
    folder = tmp_path_factory.mktemp("devnet")
    server = Server(f"{programs()}/cowboyd dev --port 0 --block-time instant --quiet", folder, dict(os.environ))
    yield server.url
    server.stop()


@pytest.fixture
def shell(devnet, tmp_path):
    return Shell(tmp_path, devnet)
