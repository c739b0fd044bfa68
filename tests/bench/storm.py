"""A storm of 100,000 timers of 1,000 actors: how many blocks late the timers of 40 others fire."""
import argparse
import re
import subprocess

from common import ROOT, table, write_section

REPORT = r"(.+): median (\d+) worst (\d+) blocks late; (\d+) of the storm fired in (\d+) blocks, for (\d+) base units each"


def main():
    parser = argparse.ArgumentParser(prog="./bench storm", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments, _ = parser.parse_known_args()
    output = subprocess.run([ROOT / "target" / "release" / "examples" / "storm"], capture_output=True, text=True, check=True).stdout
    header = ["", "median delay in blocks", "maximum", "fires of the storm", "in blocks", "CBY per fire"]
    rows = [
        [what, middle, worst, fires, blocks, f"{int(price) / 1e9:.3f}"]
        for what, middle, worst, fires, blocks, price in re.findall(REPORT, output)
    ]
    text = (
        "`./bench storm`: 100,000 timers of 1,000 actors are due at one height, and one timer of each of 40 other actors is due at every"
        " second height after it. The unit is blocks, so the figures are the same on every computer.\n\n" + table(header, rows)
    )
    print(text)
    if arguments.write:
        write_section("A storm of timers", text)


if __name__ == "__main__":
    main()
