"""Execution of a block of 3,800 transfers, signatures already recovered: execution alone, and over the node's database with the state root."""
import argparse
import re
import subprocess

from common import ROOT, machine, table, write_section

EXAMPLES = ROOT / "target" / "release" / "examples"
# What is run, and how its report is read.
ROWS = [
    ("transfers", r"(\d+) transfers over (\d+)() accounts: propose (\S+), verify (\S+)", "execution alone, over a map"),
    ("block", r"(\d+) transfers over (\d+) accounts of (\d+): propose (\S+), verify (\S+)", "the node, state root included"),
]


def milliseconds(duration):
    """A duration as Rust prints it, in milliseconds."""
    number, unit = re.fullmatch(r"([\d.]+)(s|ms|µs|ns)", duration).groups()
    return f"{float(number) * {'s': 1000, 'ms': 1, 'µs': 1e-3, 'ns': 1e-6}[unit]:.1f} ms"


def main():
    parser = argparse.ArgumentParser(prog="./bench block", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments, _ = parser.parse_known_args()
    rows = []
    for example, report, what in ROWS:
        output = subprocess.run([EXAMPLES / example], capture_output=True, text=True, check=True).stdout
        for transfers, active, accounts, propose, verify in re.findall(report, output):
            rows.append([what, transfers, active, accounts or active, milliseconds(propose), milliseconds(verify)])
    header = ["", "transfers", "accounts in them", "accounts in the state", "propose", "verify"]
    text = f"`./bench block`: signatures already recovered, nothing synced to disk, medians of 9. {machine()}.\n\n" + table(header, rows)
    print(text)
    if arguments.write:
        write_section("Execution of a block", text)


if __name__ == "__main__":
    main()
