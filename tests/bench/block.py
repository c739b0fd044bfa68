"""Execution of a block of 3,800 transfers, signatures already recovered: what `core/chain` alone takes."""
import argparse
import re
import subprocess

from common import ROOT, machine, table, write_section

EXAMPLE = ROOT / "target" / "release" / "examples" / "transfers"


def main():
    parser = argparse.ArgumentParser(prog="./bench block", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments, _ = parser.parse_known_args()
    output = subprocess.run([EXAMPLE], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"(\d+) transfers over (\d+) accounts: propose (\S+), verify (\S+)", output)
    text = f"`./bench block`: execution without the store, medians of 9. {machine()}.\n\n" + table(["transfers", "accounts", "propose", "verify"], rows)
    print(text)
    if arguments.write:
        write_section("Execution of a block", text)


if __name__ == "__main__":
    main()
