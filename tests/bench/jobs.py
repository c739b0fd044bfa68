"""A job that a thousand runners can do: its submission in a block, signatures already recovered, and the draw of its committee."""
import argparse
import re
import subprocess

from common import ROOT, machine, table, write_section

EXAMPLE = ROOT / "target" / "release" / "examples" / "jobs"


def main():
    parser = argparse.ArgumentParser(prog="./bench jobs", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments, _ = parser.parse_known_args()
    output = subprocess.run([EXAMPLE], capture_output=True, text=True, check=True).stdout
    runners, propose, verify, empty, cycles = re.search(
        r"a job for (\d+) runners: propose (\S+), verify (\S+), an empty block (\S+) \(medians of 9\), (\d+) cycles", output
    ).groups()
    committee, draw = re.search(r"a draw of (\d+) out of \d+: (\S+) ", output).groups()
    rows = [
        ["a block with the submission, proposed", propose],
        ["the same, verified", verify],
        ["an empty block", empty],
        [f"the draw of {committee}", draw],
        ["cycles of the submission", f"{int(cycles):,}"],
    ]
    text = f"`./bench jobs`: one job, {int(runners):,} eligible runners, nothing synced to disk. {machine()}.\n\n" + table(["", ""], rows)
    print(text)
    if arguments.write:
        write_section("A job for a thousand runners", text)


if __name__ == "__main__":
    main()
