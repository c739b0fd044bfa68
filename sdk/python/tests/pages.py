"""The fenced blocks of README and the pages in docs, and how each is run."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]

# Why a block is not run by a test of these pages.
NOT_RUN = {
    "README.md: Start": "it builds the programs with which this runs, and names this test's own step",
    "docs/consensus.md: Rounds and messages": "what a node answers; edge/rpc/tests/api/consensus.rs reads it",
    "docs/containers.md: Your first container": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Your first container 2": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Your first container 3": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Your first container 4": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Your first container 5": "tests/market gives runners such files",
    "docs/containers.md: Your first container 6": "edge/cli/src/daemon/demo tests what the file replaces",
    "docs/containers.md: Python": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Python 2": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Python 3": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Go": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Go 2": "tests/market builds it, and runs it in a container",
    "docs/containers.md: Volumes": "tests/market submits it, and looks at the volume",
    "docs/containers.md: Secrets": "tests/market puts it into a job",
    "docs/gateways.md: Running a gateway": "tests/gateway runs a gateway: this one needs a public host name",
    "docs/gateways.md: Running a gateway 2": "edge/cli/src/gateway.rs compares it with what `cowboy-gateway example` prints",
    "docs/gateways.md: Custom domains": "tests/gateway sets such records at a name server of its own",
    "docs/gateways.md: Signed responses": "edge/gateway/tests/signed verifies and accuses answers of a gateway of its own",
    "docs/gateways.md: Verifiable responses": "tests/gateway verifies responses of a gateway of its own",
    "docs/gateways.md: Verifiable responses 2": "./test web builds it",
    "docs/images.md: Pack one": "test_images.py runs it, with a registry of its own",
    "docs/images.md: Pack one 2": "test_images.py runs it, with a registry of its own",
    "docs/images.md: Pack one 3": "test_images.py runs it, with a registry of its own",
    "docs/images.md: Push it": "test_images.py runs it, with a registry of its own",
    "docs/images.md: In a volume": "tests/market puts a layout into a volume of its own, and runs what is in it",
    "docs/images.md: Have it allowed": "test_images.py runs it, with a registry of its own",
    "docs/jobs.md: The life of a job": "a picture",
    "docs/jobs.md: A job of each kind": "core/system/src/dispatcher/tests/mistakes.rs reads it from the page",
    "docs/jobs.md: A job of each kind 2": "core/system/src/dispatcher/tests/mistakes.rs reads it from the page",
    "docs/jobs.md: A job of each kind 3": "core/system/src/dispatcher/tests/mistakes.rs reads it from the page",
    "docs/jobs.md: A job of each kind 4": "core/system/src/dispatcher/tests/mistakes.rs reads it from the page",
    "docs/jobs.md: Which runners are drawn": "tests/market draws again what a job of its own drew",
    "docs/jobs.md: Commands": "tests/market registers and delegates: these lines leave out keys and ids",
    "docs/nodes.md: The genesis file": "edge/cli/src/daemon/genesis_file.rs reads such a file: this one leaves out hashes and certificates",
    "docs/operators.md: Install": "it changes the system; test_what_the_unit_and_the_image_run runs what it installs",
    "docs/operators.md: Install 2": "it needs a container engine; test_what_the_unit_and_the_image_run runs what the image runs",
    "docs/operators.md: Steer a running node": "edge/cli/tests/e2e/admin.rs asks nodes of its own",
    "docs/operators.md: Monitor": "settings of Prometheus; edge/cli/tests/e2e/ops.rs compares its rules with a node",
    "docs/runners.md: Quick start": "it builds the programs; tests/market does the rest of it",
    "docs/runners.md: How a runner works": "a picture",
    "docs/runners.md: Containers": "tests/market reads it from the page",
    "docs/runners.md: Trusted environments": "it needs a trusted environment",
    "docs/sdk.md: Volumes": "test_volumes.py runs it",
    "docs/secrets.md: Secrets": "tests/market keeps, releases and deletes secrets on a devnet of its own",
    "docs/secrets.md: Secrets 2": "tests/market submits such a job to a server of its own",
    "docs/secrets.md: Committees": "a picture",
    "docs/secrets.md: Committees 2": "tests/market has a new key made, and moves secrets of its own to it",
    "docs/secrets.md: Releases": "a picture",
    "docs/volumes.md: Syncing": "tests/market syncs folders with a volume of its own",
    "docs/volumes.md: Over S3": "tests/market serves volumes of its own over S3",
    "docs/volumes.md: As a folder": "tests/market mounts volumes of its own, where there is /dev/fuse",
    "docs/volumes.md: Keys, quota and owner": "tests/market exports keys of a volume of its own, and hands it over",
    "docs/volumes.md: Keys, quota and owner 2": "tests/market gives partitions of its own volumes new keys",
    "docs/volumes.md: Volumes": "tests/market creates, fills and reverts volumes on a devnet of its own",
    "docs/volumes.md: Sharing": "tests/market grants and takes back capabilities for volumes of its own",
}

# The actor of docs/tools.md, and a test of it that fails.
COUNTER = """\
from cowboy_sdk import actor, emit, public


@actor
class Counter:
    @public
    def increment(self):
        return self._change(1)

    @public
    def add(self, amount):
        if amount <= 0:
            raise ValueError("amounts are positive")
        return self._change(amount)

    def _change(self, amount):
        count = self.storage.get("count", 0) + amount
        self.storage["count"] = count
        emit("changed", {"count": count, "amount": amount})
        return count
"""
WRONG_TEST = """\
import pytest


@pytest.fixture
def counter(chain):
    return chain.deploy("actor.py")









@pytest.mark.parametrize("amount, expected", [(2, 3)])
def test_add(chain, counter, amount, expected):
    assert chain.execute(counter, "add", amount) == expected, "the sum"
"""


class Block:
    """A fenced block: its page, its name, its language, the heading it stands under, and its text.

    The name is the heading, and for all but the first block under a heading also the block's number: "Test it", "Test it 2".
    """

    def __init__(self, page, name, language, heading, text):
        self.page = page
        self.name = name
        self.language = language
        self.heading = heading
        self.text = text
        self.id = f"{page}: {name}"

    def commands(self):
        """Shell commands, without comments; a line that a quote leaves open ends in a later one."""
        found = []
        for line in self.text.splitlines():
            if found and found[-1].count("'") % 2:
                found[-1] += "\n" + line
                continue
            line = re.split(r"\s+#\s", line)[0].strip()
            if line and not line.startswith("#"):
                found.append(line)
        return found


def blocks(page):
    """The blocks of a page, in their order."""
    found, heading, count, inside = [], "", 0, None
    for line in (ROOT / page).read_text().splitlines():
        if inside is None and line.startswith("#"):
            heading, count = line.lstrip("# "), 0
        if line.startswith("```"):
            if inside is None:
                inside = (line[3:].strip(), [])
                count += 1
            else:
                name = heading if count == 1 else f"{heading} {count}"
                found.append(Block(page, name, inside[0], heading, "\n".join(inside[1]) + "\n"))
                inside = None
        elif inside is not None:
            inside[1].append(line)
    assert inside is None, f"{page} ends inside of a block"
    return found


def block(page, name, language):
    """One block; its language says that no other one was put before it."""
    (found,) = (found for found in blocks(page) if found.name == name)
    assert found.language == language, f"{found.id} is {found.language!r}"
    return found


def shows(shown, printed):
    """Fails unless what a page shows is in what was printed: each line, in this order. `…` stands for any text."""
    lines = iter(line.rstrip() for line in printed.splitlines())
    for wanted in filter(None, (line.rstrip() for line in shown.splitlines())):
        pattern = re.compile(r"\s*" + re.escape(wanted.strip()).replace("…", ".*").replace(r"\ ", r"\s+"))
        assert any(pattern.fullmatch(line) for line in lines), f"not printed, or not in this order: {wanted}\n{printed}"
