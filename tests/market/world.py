"""The market's programs as people run them: a devnet, runners, servers, each a process of its own; every step one run of `cowboy`."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PATIENCE_SECONDS = 60


def programs():
    """The folder with the programs: COWBOY_BIN, or the newest build of this clone."""
    if "COWBOY_BIN" in os.environ:
        return pathlib.Path(os.environ["COWBOY_BIN"])
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [folder for folder in (target / "release", target / "debug") if (folder / "cowboyd").exists()]
    return max(built, key=lambda folder: (folder / "cowboyd").stat().st_mtime)


class Refused(Exception):
    """What `cowboy` said when it failed."""

    def __init__(self, said, printed):
        super().__init__(said + printed)
        # The result that it printed nevertheless, or else what it said, which has to be JSON where somebody wants it.
        self.printed = printed or said


def until(what, question):
    """Asks until there is an answer, and gives it."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = question()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} does not happen within {PATIENCE_SECONDS} s")


def is_refused(words, action):
    """Whether an action is refused with these words. Another refusal is no answer."""
    try:
        action()
    except Refused as refused:
        return words in str(refused)


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


class Process:
    """A program in the background that says `ready: …` when it is. Its errors go to a file of the folder."""

    def __init__(self, name, command, folder, **environment):
        self.errors = folder / f"{name}.err"
        with open(self.errors, "ab") as errors:
            # The name that a program is called by says which one it is.
            self.process = subprocess.Popen(
                [name if executable(command) else command[0], *command[1:]],
                executable=command[0],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=folder,
                env={**os.environ, **environment},
            )
        self.said = []
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("ready: "):
                self.ready = line.removeprefix("ready: ").strip()
                return
        raise AssertionError(f"{name} ended before it was ready: {self.errors.read_text()[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        if self.process.poll() is None:
            self.go_on()
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdout.close()


def executable(command):
    return pathlib.Path(command[0]).name == "cowboyd"


class World:
    """A devnet with what the test puts around it. Use as a context manager."""

    def __init_subclass__(cls):
        """A world that fails while it begins ends what it has started: nothing of it slows down the tests after it."""
        begin = cls.__init__

        @functools.wraps(begin)
        def begin_or_end(self, *arguments, **named):
            try:
                begin(self, *arguments, **named)
            except BaseException:
                self.__exit__(*sys.exc_info())
                raise

        cls.__init__ = begin_or_end

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        self.bin = programs()
        self.processes = []
        self.node = self.start("cowboyd", [self.bin / "cowboyd", "dev", "--port", "0", "--quiet", *options])
        self.url = self.node.ready
        self.accounts = [found.groups() for found in map(re.compile(r"\(\d+\) (0x\S+)\s+(\S+)").match, self.node.said) if found]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        for process in reversed(self.processes):
            process.end()
        if problem[0] is not None:
            for errors in sorted(self.folder.glob("*.err")):
                sys.stderr.write(f"== {errors.name}\n{errors.read_text()[-3000:]}\n")

    def start(self, name, command, **environment):
        process = Process(name, [str(part) for part in command], self.folder, **environment)
        self.processes.append(process)
        return process

    def server(self, kind, *arguments):
        """`web`, `llm` or `sites`. Answers its address."""
        return self.start(kind, [sys.executable, HERE / "servers.py", kind, *arguments]).ready

    def runner(self, number, configuration, stake_cby=10_000):
        """A runner in a process of its own, with the key of an account. Its folder stays, so that it can be started again."""
        folder = self.folder / f"runner{number}"
        if not folder.exists():
            folder.mkdir()
            (folder / "runner.key").write_text(self.accounts[number][1])
            (folder / "runner.toml").write_text(
                f'[node]\nurl = "{self.url}"\n[runner]\nlisten = "127.0.0.1:0"\nprivate_peers = true\nstake_cby = {stake_cby}\n{configuration}'
            )
        process = self.start("cowboy-runner", [self.bin / "cowboyd", "--config", folder / "runner.toml"], RUST_LOG="info,cowboy_runner=debug")
        process.listening = process.ready.split("listening at ")[1]
        return process

    def run(self, *arguments, account=0):
        command = [self.bin / "cowboyd", "--json", "--rpc-url", self.url, "--private-key", self.accounts[account][1], *map(str, arguments)]
        done = subprocess.run(["cowboy", *map(str, command[1:])], executable=command[0], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise Refused(done.stderr, done.stdout)
        return json.loads(done.stdout)

    def get(self, path):
        return json.loads(fetch(self.url + path))

    def runners_are(self, count):
        until(f"{count} healthy runners", lambda: [r["health"] for r in self.get("/runners")["runners"]].count("healthy") == count)

    def submit(self, job, account=0):
        return self.run("job", "submit", json.dumps(job), account=account)["job_id"]

    def job(self, job):
        return self.get(f"/job/{job}")

    def over(self, job):
        """The job once it is verified, settled or failed."""
        return until(f"the end of {job}", lambda: (found := self.job(job))["status"] in ("verified", "settled", "failed") and found)


def a_job(kind, fields, mode="none", runners=None, **more):
    """A job as the specification has it."""
    verification = {"mode": mode, **({"runners": runners} if runners else {}), **more.pop("verification", {})}
    return {
        "job_type": {"type": kind, **fields},
        "bounds": {"max_wall_time_seconds": 60, "max_output_tokens": 500},
        "result_schema": {"max_return_bytes": 4096, "expected_execution_ms": 1000, "data_format": more.pop("data_format", "")},
        "verification": verification,
        "max_price": 1_000_000,
        "timeout_blocks": 150,
        **more,
    }


def result(job):
    return bytes.fromhex(job["result"][2:]).decode()
