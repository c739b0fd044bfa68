"""Answers of a gateway checked in chromium: certificate, proofs, and the actor's handler once more, in WebAssembly."""
import argparse
import json
import os
import subprocess

from common import ROOT, machine, table, write_section

BROWSER = ROOT / "web" / "explorer" / "tests" / "browser"
PROGRAMS = ROOT / "target" / "release"


def main():
    parser = argparse.ArgumentParser(prog="./bench verifier", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments = parser.parse_args()
    subprocess.run(["npm", "ci", "--silent"], cwd=BROWSER, check=True)
    done = subprocess.run(["node", "verify.bench.js"], cwd=BROWSER, env={**os.environ, "BIN_DIR": str(PROGRAMS)}, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout)
    size = (PROGRAMS / "verifier.wasm.gz").stat().st_size
    rows = [
        ["the verifier, compressed", f"{size / 1e6:.1f} MB"],
        ["opening the page: load, compile, build the VM's library", f"{found['load']:.0f} ms"],
        ["the first answer", f"{found['first']:.0f} ms"],
        ["later answers", f"{found['later']:.0f} ms"],
    ]
    text = ("`./bench verifier`: the explorer's page in chromium " + found["browser"] + ", with a devnet on the same computer; medians of three page loads, and of 20 answers in each. "
            "The answer is the page of `examples/site`; times exclude the request. " + machine() + ".\n\n" + table(["", "time"], rows))
    print(text)
    if arguments.write:
        write_section("An answer verified in a browser", text)


if __name__ == "__main__":
    main()
