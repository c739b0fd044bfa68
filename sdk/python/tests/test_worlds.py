"""The same files of tests on a devnet, as real transactions: by pytest, and by `cowboy test --network dev`, which runs it."""

import os
import pathlib
import subprocess
import sys

import pytest
from devnet import ROOT, programs
from shell import Server, Shell

# As the entry point of the package loads it where that is installed; `pip install ./sdk/python` leaves one beside the sources, too.
PLUGIN = ("-p", "no:cowboy", "-p", "cowboy_sdk.pytest_plugin")
WORLDS = ROOT / "sdk/python/tests/worlds"
# On a devnet a job has its time, and what it holds is held as long; mistakes are the same in every network.
ELSEWHERE = "not mistake and not comes_back and not as_long"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A shell on a devnet whose jobs the tests answer."""
    if programs() is None:
        pytest.skip("cowboyd is not built")
    home = tmp_path_factory.mktemp("worlds")
    server = Server(f"{programs()}/cowboyd dev --port 0 --block-time instant --runners 0 --quiet", home, dict(os.environ))
    yield Shell(home, server.url)
    server.stop()


@pytest.fixture(scope="module")
def project(shell):
    """The project that `cowboy init` makes."""
    shell.run(shell.clone, ["cowboy init myagent"])
    return shell.clone / "myagent"


def passed(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout, done.stdout


@pytest.mark.parametrize("files", ["project", "test_calls.py", "test_jobs.py", "test_sites.py", "test_tokens.py", "test_values.py"])
def test_the_same_tests_on_a_devnet(shell, project, files):
    """Timers and events of the project, calls between actors, jobs that the test answers, sites by their names, values and signatures."""
    environment = {**shell.environment, "PYTHONPATH": str(ROOT / "sdk/python")}
    tests = project if files == "project" else WORLDS / files
    passed([sys.executable, "-m", "pytest", "-q", *PLUGIN, "--network=dev", "-k", ELSEWHERE, tests], project, environment)


def test_cowboy_test_runs_them(shell, project):
    """By the command, with the python3 that has pytest."""
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{shell.environment['PATH']}"
    environment = {**shell.environment, "PYTHONPATH": str(ROOT / "sdk/python"), "PATH": path}
    passed(["cowboy", "test", "--network", "dev", "-k", "greet"], project, environment)
    nowhere = {**environment, "PYTHONPATH": ""}
    done = subprocess.run(["cowboy", "test", "--network", "dev"], cwd=project, env=nowhere, capture_output=True, text=True)
    assert done.returncode == 2 and "pip install pytest ./sdk/python" in done.stderr, done.stdout + done.stderr


def test_the_names_of_a_project_stay_those_of_its_author(shell, project):
    """The actors of a test are gone after it: none of them has the name of one that the author deployed."""
    names = project / ".cowboy" / "actors.json"
    kept = '{"genesis": null, "actors": {"myagent": "0x' + "11" * 20 + '"}}'
    names.write_text(kept)
    environment = {**shell.environment, "PYTHONPATH": str(ROOT / "sdk/python")}
    passed([sys.executable, "-m", "pytest", "-q", *PLUGIN, "--network=dev", "-k", "greet"], project, environment)
    assert names.read_text() == kept
    names.unlink()


def test_a_test_leaves_the_devnet_as_it_was(shell, project):
    height = shell.run(shell.clone, ["cowboy --json block latest"]).partition("\n")[2]
    environment = {**shell.environment, "PYTHONPATH": str(ROOT / "sdk/python")}
    passed([sys.executable, "-m", "pytest", "-q", *PLUGIN, "--network=dev", "-k", "nothing_gives", WORLDS / "test_calls.py"], project, environment)
    assert shell.run(shell.clone, ["cowboy --json block latest"]).partition("\n")[2] == height
