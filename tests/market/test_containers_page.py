"""docs/containers.md, as a reader follows it: its programs are built, packed and run, and all of them find the same."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from oci import Layout
from test_containers import Market, missing
from world import ROOT

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"left out: {missing()}")
PAGE = (ROOT / "docs/containers.md").read_text()
SECTIONS = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", PAGE, flags=re.M)}
FIRST = "Your first container"
COUNTS = {"a": 2, "and": 1, "cow": 1, "horse": 1}


def block(language, number=0, section=FIRST):
    """A block of this language below a heading of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.S | re.M)[number]


@pytest.fixture(scope="module")
def market(tmp_path_factory):
    with Market(tmp_path_factory.mktemp("market")) as market:
        yield market


def has_images(market):
    """Whether the client of this build makes images."""
    return subprocess.run(["cowboy", "image", "--help"], executable=market.bin / "cowboyd", capture_output=True).returncode == 0


def follow(market, folder, commands):
    """Runs the commands of a block in a folder."""
    names = folder / "bin"
    names.mkdir(exist_ok=True)
    if not (names / "cowboy").exists():
        (names / "cowboy").symlink_to(market.bin / "cowboy")
        (names / "python3").symlink_to(sys.executable)
    path = f"{names}:{pathlib.Path(shutil.which('rustc')).parent}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(pathlib.Path.home()), "COWBOY_RPC_URL": market.url, "COWBOY_PRIVATE_KEY": market.accounts[0][1]}
    toolchain = subprocess.run(["rustup", "show", "active-toolchain"], cwd=ROOT, capture_output=True, text=True).stdout.split()[:1]
    environment |= {"RUSTUP_TOOLCHAIN": name for name in toolchain}
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def counted(market, layout, digest):
    """What the program of an image makes of the job of the page."""
    job = json.loads(block("json").replace("sha256:DIGEST", digest))
    job["job_type"]["resources"] = {"cpu_millicores": 1000, "memory_mib": 128, "scratch_mib": 16, "max_duration_sec": 60}
    del job["job_type"]["class"]
    answer = market.locally(job, f"layouts = [{json.dumps(str(layout))}]")
    assert answer.get("result") is not None, answer
    return json.loads(answer["result"])


def without_pack(commands):
    """The commands of a block without those of the client."""
    return "\n".join(line for line in commands.splitlines() if not line.startswith(("cowboy", "tar")))


def test_rust(market, tmp_path):
    (tmp_path / "words.rs").write_text(block("rust"))
    follow(market, tmp_path, without_pack(block("sh", 0)))
    layout = Layout(tmp_path / "images")
    digest = layout.image({"app": tmp_path / "words"}, ["/app"])
    assert counted(market, layout.folder, digest) == COUNTS


def test_rust_with_the_client(market, tmp_path):
    if not has_images(market):
        pytest.skip("left out: this client has no `cowboy image`")
    (tmp_path / "words.rs").write_text(block("rust"))
    said = follow(market, tmp_path, block("sh", 0) + block("sh", 1))
    digest = re.search(r"sha256:[0-9a-f]{64}", said)[0]
    assert counted(market, tmp_path / "images", digest) == COUNTS


def test_python(market, tmp_path):
    (tmp_path / "rootfs.py").write_text(block("python", 0, "Python"))
    (tmp_path / "words.py").write_text(block("python", 1, "Python"))
    if has_images(market):
        said = follow(market, tmp_path, "mkdir images\n" + block("sh", 0, "Python"))
        digest, folder = re.search(r"sha256:[0-9a-f]{64}", said)[0], tmp_path / "images"
    else:
        python = follow(market, tmp_path, "python3 rootfs.py").strip()
        root = tmp_path / "rootfs"
        layout = Layout(tmp_path / "images")
        files = {str(path.relative_to(root)): path for path in sorted(root.rglob("*")) if path.is_file()}
        digest, folder = layout.image(files, [python, "/words.py"]), layout.folder
    assert counted(market, folder, digest) == COUNTS


@pytest.mark.skipif(shutil.which("go") is None, reason="left out: no go here (Debian package: golang-go)")
def test_go(market, tmp_path):
    (tmp_path / "words.go").write_text(block("go", 0, "Go"))
    follow(market, tmp_path, without_pack(block("sh", 0, "Go")))
    layout = Layout(tmp_path / "images")
    digest = layout.image({"app": tmp_path / "words"}, ["/app"])
    assert counted(market, layout.folder, digest) == COUNTS


def test_the_table_of_the_runners_page(market, tmp_path):
    """The table `[container]` of docs/runners.md is one."""
    text = (ROOT / "docs/runners.md").read_text()
    table = re.search(r"^```toml\n(\[container\].*?)^```$", text, re.S | re.M)[1]
    (tmp_path / "runner.toml").write_text(table)
    (tmp_path / "runner.key").write_text(market.accounts[8][1])
    Layout(tmp_path / "images")
    command = ["cowboy-runner", "--json", "--config", tmp_path / "runner.toml", "doctor"]
    done = subprocess.run(command, executable=market.bin / "cowboyd", capture_output=True, text=True, env={"COWBOY_RPC_URL": market.url, "PATH": "/usr/bin:/bin"})
    (found,) = (row for row in json.loads(done.stdout) if row["what"] == "container")
    assert found["is_right"] or "lower" in found["says"], "it is a table, whatever this computer has"
