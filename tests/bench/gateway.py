"""A gateway in front of a devnet, against nginx with a static file and anvil's read call: the same client, in turns on one machine."""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import chain
from common import ROOT, machine, median, table, write_section

PROGRAMS = ROOT / "target" / "release"
HERE = pathlib.Path(__file__).parent
PATIENCE = 60
CONNECTIONS = 64
# What the paced load aims at, in requests a second: half of the 15,000 that are wanted.
HALF = 7_500
BLOCK_TIME = 1.0

# Prints one JSON object when it is done. Arguments: the hosts' file, milliseconds to think between requests, whether to ask for proofs.
SCRIPT = """
local hosts, pause, at, requests = {}, 0, 0, {}
function init(arguments)
  for line in io.lines(arguments[1]) do hosts[#hosts + 1] = line end
  pause = tonumber(arguments[2])
  math.randomseed(7)
  local proof = arguments[3] == "1" and "1" or nil
  for place, host in ipairs(hosts) do requests[place] = wrk.format("GET", "/", { Host = host, ["Cowboy-Verify"] = proof }) end
  at = math.random(#hosts)
  if pause > 0 then
    -- Around the pause, so that connections do not fall into step.
    function delay() return math.floor(pause * (0.5 + math.random()) + 0.5) end
  end
end
function request() at = at % #hosts + 1; return requests[at] end
function done(summary, latency, all)
  local failed = summary.errors
  print(string.format('{"rate": %f, "p50": %f, "p99": %f, "failed": %d}', summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(99), failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
"""


def need_tools():
    """Debian's wrk and nginx, installed where they are missing."""
    missing = [tool for tool in ("wrk", "nginx") if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", *missing], check=True, stdout=subprocess.DEVNULL)


def wrk(folder, port, hosts, seconds, connections=CONNECTIONS, pause=0, proof=0):
    """One run of wrk: requests a second, p50 and p99 in microseconds."""
    script, names = folder / "load.lua", folder / "hosts"
    script.write_text(SCRIPT)
    names.write_text("\n".join(hosts) + "\n")
    threads = min(2, connections)
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{port}/", "--", names, pause, proof]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds + PATIENCE, check=True)
    report = json.loads(re.search(r"\{.*\}", done.stdout)[0])
    if report["failed"]:
        raise SystemExit(f"{report['failed']} requests failed at {port}:\n{done.stdout}")
    return report


class Process:
    """A program of ours in the background; ended, by its process id, when the block ends."""

    def __init__(self, command, folder, name, **environment):
        self.lines = []
        self.log = open(folder / f"{name}.log", "wb")
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=folder, env={**os.environ, **environment})
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("ready: "):
                self.url = line.removeprefix("ready: ").split()[0]
                return
        raise SystemExit(f"{name} ended before it was ready; see {self.log.name}")

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def resident(self):
        """Resident memory in MiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


def devnet(folder, block_time):
    options = ["--port", 0, "--state", folder / "chain", "--block-time", block_time, "--runners", 0, "--no-gateway", "--quiet", "--balance", 200_000]
    return Process([PROGRAMS / "cowboyd", "dev", *options], folder, "cowboyd")


def cowboy(folder, node, key, *arguments):
    command = [PROGRAMS / "cowboy", "--json", "--rpc-url", node.url, "--private-key", key, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def settle(folder, node, keys, count):
    """Deploys a number of actors, each with its own name."""

    def of_account(account):
        for number in range(account, count, len(keys)):
            made = cowboy(folder, node, keys[account], "actor", "deploy", "--code", HERE / "page.py", "--salt", f"{number:08x}")
            cowboy(folder, node, keys[account], "name", "register", f"page-{number}", "--actor", made["address"])

    with concurrent.futures.ThreadPoolExecutor(len(keys)) as pool:
        list(pool.map(of_account, range(len(keys))))
    return [f"page-{number}.localhost" for number in range(count)]


def gateway(folder, node, key):
    (folder / "gateway.key").write_text(key)
    (folder / "gateway.toml").write_text(
        f'node = "{node.url}"\nkey_file = "gateway.key"\n[register]\nendpoint = "127.0.0.1"\nhttp_port = 80\nstake_cby = 10000\n'
        '[http]\nlisten = "127.0.0.1:0"\n[http.limits]\nrequests_per_second = 0\nrequests_at_once = 100000\n'
    )
    command = [PROGRAMS / "cowboy-gateway", "--config", "gateway.toml"]
    return Process(command, folder, "gateway", RUST_LOG="warn,commonware_storage=error,commonware_runtime=error")


@contextlib.contextmanager
def nginx(folder, page):
    """nginx with as many workers as cores, no log, and the same page as a file."""
    port = chain.free_port()
    (folder / "www").mkdir()
    (folder / "www" / "index.html").write_bytes(page)
    (folder / "nginx.conf").write_text(
        f"user root; daemon off; worker_processes auto; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\n"
        "events { worker_connections 1024; }\n"
        f"http {{ access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000; server {{ listen 127.0.0.1:{port} default_server; root {folder}/www; }} }}\n"
    )
    process = subprocess.Popen([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-p", folder, "-c", folder / "nginx.conf"])
    try:
        until(lambda: ask(port, "GET", "/", "x")[0] == 200, "nginx answers")
        yield port
    finally:
        process.terminate()
        process.wait(20)


def until(question, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if question():
                return
        time.sleep(0.05)
    raise SystemExit(f"it does not happen within {PATIENCE} s: {what}")


def ask(port, method, path, host, body=None, connection=None):
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, {"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read()


def command_delays(port, host, count):
    """Seconds from a POST to the moment at which its stored result is seen."""
    connection, delays = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), []
    for number in range(count):
        # At any time between two blocks.
        time.sleep(BLOCK_TIME * (number * 0.37 % 1))
        started = time.perf_counter()
        status, body = ask(port, "POST", "/title", host, f"Title {number}", connection)
        if status != 202:
            raise SystemExit(f"a command was answered with {status}: {body}")
        result = json.loads(body)["result"]
        while (status := ask(port, "GET", result, host, connection=connection)[0]) == 202:
            time.sleep(0.002)
        if status != 200:
            raise SystemExit(f"a command's result has status {status}")
        delays.append(time.perf_counter() - started)
    return delays


def proof_delays(port, host, count):
    """Seconds that the first answer with proofs takes on the state of a block, with proofs of no record made yet."""
    connection, delays, known = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), [], None

    def height():
        connection.request("GET", "/", headers={"Host": host})
        answer = connection.getresponse()
        answer.read()
        return answer.headers["X-Cowboy-Block"]

    while len(delays) < count:
        if (newest := height()) == known:
            time.sleep(0.01)
            continue
        known = newest
        started = time.perf_counter()
        connection.request("GET", "/", headers={"Host": host, "Cowboy-Verify": "1"})
        answer = connection.getresponse()
        size = len(answer.read())
        delays.append(time.perf_counter() - started)
        if answer.headers["Content-Type"] != "application/vnd.cowboy.witness":
            raise SystemExit(f"no proof: {answer.status}")
    return delays, size


def memory(served, folder, hosts, minutes):
    """Resident memory after a first load, and after minutes of it."""
    wrk(folder, served.port, hosts, 10)
    before = served.resident()
    for _ in range(minutes):
        wrk(folder, served.port, hosts, 60)
    return before, served.resident()


def measure_gateway(folder, arguments):
    figures = {}
    with devnet(folder, "instant") as node:
        keys = re.findall(r"^\(\d+\) 0x\S+\s+(\S+)", "".join(node.lines), re.M)
        hosts = settle(folder, node, keys[1:], arguments.names)
    with devnet(folder, f"{BLOCK_TIME:.0f}s") as node, gateway(folder, node, keys[0]) as served:
        first = hosts[:1]
        until(lambda: ask(served.port, "GET", "/", hosts[-1])[0] == 200, "the gateway knows every name")
        page = ask(served.port, "GET", "/", first[0])[1]
        with nginx(folder, page) as static:
            rounds = {"cowboy": [], "nginx": []}
            for _ in range(arguments.rounds):
                for name, port in (("nginx", static), ("cowboy", served.port)):
                    most = wrk(folder, port, first, arguments.seconds)
                    # Thinking takes what answering does not.
                    half = wrk(folder, port, first, arguments.seconds, pause=CONNECTIONS * 1000 / HALF)
                    one = wrk(folder, port, first, arguments.seconds, connections=1)
                    rounds[name].append({"rate": most["rate"], "half_rate": half["rate"], "half_p50": half["p50"], "half_p99": half["p99"], "one_p50": one["p50"]})
        for name, every in rounds.items():
            figures[name] = {key: median([each[key] for each in every]) for key in every[0]}
        cowboy_figures = figures["cowboy"]
        cowboy_figures["names_rate"] = wrk(folder, served.port, hosts, arguments.seconds)["rate"]
        cowboy_figures["before"], cowboy_figures["after"] = memory(served, folder, hosts, arguments.minutes)
        cowboy_figures["proof_p50"] = wrk(folder, served.port, first, arguments.seconds, connections=1, proof=1)["p50"]
        cold, cowboy_figures["proof_bytes"] = proof_delays(served.port, first[0], arguments.commands)
        cowboy_figures["proof_cold"] = median(cold)
        delays = command_delays(served.port, first[0], arguments.commands)
        cowboy_figures["command_p50"], cowboy_figures["command_max"] = median(delays), max(delays)
        cowboy_figures["page"] = len(page)
    return figures


def measure_anvil(folder, arguments):
    anvil = chain.Anvil()
    with anvil.start(folder) as node:
        counter = chain.load(anvil, node, None, "deploy")["counter"]
        return {
            "rate": chain.load(anvil, node, counter, "reads", "--count", 60_000, "--connections", CONNECTIONS)["per_second"],
            "one_p50": chain.load(anvil, node, counter, "reads", "--count", 5_000, "--connections", 1)["p50_us"],
        }


def main():
    parser = argparse.ArgumentParser(prog="./bench gateway", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured, in turns")
    parser.add_argument("--seconds", type=int, default=10, help="seconds of one load")
    parser.add_argument("--names", type=int, default=1_000, help="names, each with an actor of its own")
    parser.add_argument("--minutes", type=int, default=1, help="minutes of load between the two looks at memory; 10 for the figure")
    parser.add_argument("--commands", type=int, default=30, help="POSTs, one after another")
    parser.add_argument("--no-anvil", action="store_true", help="leave anvil out")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments = parser.parse_args()
    need_tools()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cowboy-bench-"))
    try:
        figures = measure_gateway(folder, arguments)
        anvil = {} if arguments.no_anvil else measure_anvil(folder, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ours, static = figures["cowboy"], figures["nginx"]
    micro, rate = "{:,.0f} µs".format, "{:,.0f}".format
    at_half = f"at {rate(ours['half_rate'])} requests/s"
    rows = [
        [f"requests/s, {CONNECTIONS} connections", rate(ours["rate"]), rate(static["rate"]), rate(anvil["rate"]) if anvil else ""],
        ["one connection, p50", micro(ours["one_p50"]), micro(static["one_p50"]), micro(anvil["one_p50"]) if anvil else ""],
        [f"the same with proofs, {ours['proof_bytes']:,} bytes, p50", micro(ours["proof_p50"]), "", ""],
        ["the same, the first of each block, p50", f"{ours['proof_cold'] * 1000:.1f} ms", "", ""],
        [f"{at_half}, p50", micro(ours["half_p50"]), micro(static["half_p50"]), ""],
        [f"{at_half}, p99", micro(ours["half_p99"]), micro(static["half_p99"]), ""],
        [f"requests/s over {arguments.names:,} names with an actor each", rate(ours["names_rate"]), "", ""],
        [f"resident memory before and after {arguments.minutes} min of load over them", f"{ours['before']:.0f}, {ours['after']:.0f} MiB", "", ""],
        [f"POST to stored result, blocks of {BLOCK_TIME:.0f} s, p50", f"{ours['command_p50'] * 1000:,.0f} ms", "", ""],
        [f"the same, slowest of {arguments.commands}", f"{ours['command_max'] * 1000:,.0f} ms", "", ""],
    ]
    text = table(["", "cowboy-gateway", "nginx, a file", "anvil, eth_call"], rows)
    text = (f"`./bench gateway`: median of {arguments.rounds} alternating rounds of {arguments.seconds} s each; client, gateway and its devnet run on the same computer. The page has {ours['page']:,} bytes: "
            "a handler that uses the SDK reads one key and renders it, nginx serves the same bytes from a file, and anvil answers a read of its counter. The client is wrk, and for anvil the client of "
            "`./bench chain`. Configuration: `requests_per_second = 0`, `requests_at_once = 100000` (the protocol's defaults are 100 and 1,000), no access logs. "
            f"{machine()}.\n\n{text}")
    print(text)
    if arguments.write:
        write_section("A gateway against nginx and anvil", text)


if __name__ == "__main__":
    main()
