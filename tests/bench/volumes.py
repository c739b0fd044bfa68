"""How fast a file becomes shards, beside what its libraries do alone."""

import json
import subprocess
import sys

import common

PROGRAM = common.ROOT / "target" / "release" / "examples" / "coding"


def main():
    figures = json.loads(subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout)
    rows = [
        ["encrypting, coding and hashing", figures["whole"], f"{figures['ratio']:.2f}"],
        ["the three libraries, one after the other", figures["libraries"], "1"],
        ["AES-256-GCM alone", figures["encrypting"], ""],
        ["Reed–Solomon 4+2 alone", figures["coding"], ""],
        ["BLAKE3 of all shards alone", figures["hashing"], ""],
    ]
    text = common.table(["one core", "MiB/s of the file", "ratio"], rows)
    print(text)
    if "--write" in sys.argv:
        about = f"`./bench volumes`: a file of 64 MiB with the code 4+2, on {common.machine()}. Median of seven rounds."
        common.write_section("Files of volumes", f"{about}\n\n{text}")


main()
