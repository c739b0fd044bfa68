"""A newcomer follows README to the letter, with an empty home and nothing but the programs: every command of it, in its order."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from devnet import ROOT, STARTUP_SECONDS, programs

# As the package's entry point loads it where the package is installed.
PLUGIN = ("-p", "cowboy_sdk.pytest_plugin")
# What a newcomer types before there are programs, and what only sets up the shell.
BEFORE = ("cargo run", "./test", "export PATH")


def commands(page):
    """The shell commands of a page, section by section: (heading, commands)."""
    for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]:
        lines = [line.split("  #")[0].strip() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
        lines = [line for line in lines if line and not line.startswith((*BEFORE, "#"))]
        if lines:
            yield section.splitlines()[0], lines


@pytest.fixture(scope="module")
def devnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devnet")
    command = [programs() / "cowboyd", "dev", "--port", "0", "--block-time", "instant", "--quiet"]
    node = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    for line in node.stdout:
        ready = re.match(r"ready: (\S+)", line)
        if ready:
            break
    else:
        raise AssertionError("cowboyd ended before it was ready")
    yield ready[1]
    node.terminate()
    node.wait(STARTUP_SECONDS)
    node.stdout.close()


class Shell:
    """A folder with a copy of what a clone has, and a shell in it that stops at the first command that fails."""

    def __init__(self, home, url):
        self.home = home
        self.clone = home / "cowboy"
        self.clone.mkdir()
        (self.clone / "examples").symlink_to(ROOT / "examples")
        keep = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
        path = f"{programs()}{os.pathsep}/usr/bin{os.pathsep}/bin"
        self.environment = {**keep, "HOME": str(home), "PATH": path, "COWBOY_RPC_URL": url}

    def run(self, folder, lines):
        """What the commands print, each after its own line; fails with everything that was said."""
        script = "set -e\n" + "\n".join(f"echo {marked(line)}\n{line}" for line in lines)
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout


def marked(line):
    return "'$ " + line.replace("'", "'\\''") + "'"


@pytest.mark.skipif(programs() is None, reason="cowboyd is not built")
def test_readme_on_a_devnet(devnet, tmp_path):
    shell = Shell(tmp_path, devnet)
    said = {}
    for heading, lines in commands(ROOT / "README.md"):
        # The project's folder is where the first section leaves the newcomer; the others say that they are about the clone.
        folder = shell.clone / "hello" if heading.startswith("Test it") else shell.clone
        said[heading] = shell.run(folder, lines)
    first, tested = said["Your first actor"], said["Test it, and see what it costs"]
    assert 'Result: "Hello, Ada!"' in first and "\n1\n" in first and "greeted" in first
    assert "3 passed" in tested and "0 errors, 0 warnings" in tested and tested.endswith("45\n")
    assert (shell.clone / "hello/cycles.svg").exists()
    assert "Result: 301275\n" in said["An actor that fetches web pages"], "the median of the devnet's own five pages"
    assert re.search(r"http://mysite\.localhost:\d+", said["An actor that is a web site"])


@pytest.mark.skipif(programs() is None, reason="cowboyd is not built")
def test_the_projects_own_readme_on_a_devnet(devnet, tmp_path):
    shell = Shell(tmp_path, devnet)
    shell.run(shell.clone, ["cowboy init myagent"])
    page = shell.clone / "myagent/README.md"
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL) for line in block.splitlines()]
    said = shell.run(page.parent, lines)
    assert 'Result: "Hello, Ada!"' in said and "3 passed" in said
    # The key is where no commit takes it.
    shell.run(page.parent, ["git init -q .", "test -z \"$(git status --porcelain --untracked-files=all | grep .cowboy/key)\""])


@pytest.mark.skipif(programs() is None, reason="cowboyd is not built")
def test_the_same_tests_on_a_devnet(devnet, tmp_path):
    """The third backend: the project's tests and those of calls between actors, as real transactions."""
    shell = Shell(tmp_path, devnet)
    shell.run(shell.clone, ["cowboy init myagent"])
    project = shell.clone / "myagent"
    # A devnet charges fees, so the actor that pays for its timer needs more than in a test without them.
    text = (project / "test_actor.py").read_text().replace("value=500_000", "value=100 * 10**9")
    (project / "test_actor.py").write_text(text)
    environment = {**shell.environment, "PYTHONPATH": str(ROOT / "sdk/python")}
    for tests in (project, ROOT / "sdk/python/tests/worlds/test_calls.py"):
        command = [sys.executable, "-m", "pytest", "-q", *PLUGIN, "--network=dev", "-k", "not mistake", tests]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert " passed" in done.stdout and "skipped" not in done.stdout, done.stdout
