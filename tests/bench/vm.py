"""The virtual machine against CPython 3.11: processor time of the same programs, run in turns."""
import argparse
import json
import pathlib
import subprocess
import sys

from common import ROOT, cpu_seconds, geometric_mean, machine, median, table, write_section

PROGRAMS = ROOT / "core" / "vm" / "benches" / "programs"


def main():
    parser = argparse.ArgumentParser(prog="./bench vm", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs on each side")
    parser.add_argument("--machine", default=str(ROOT / "target" / "release" / "cowboy"), help="the program that has `vm run`")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    parser.add_argument("names", nargs="*", help="programs; all where none is named")
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        parser.error(f"the comparison is with CPython 3.11, not {sys.version.split()[0]}")
    # The interpreter itself: a wrapper on the PATH would be measured with it.
    oracle = [str(pathlib.Path(sys.executable).resolve()), "-I"]
    ours = [arguments.machine, "vm", "run", "--cycles", str(10**15), "--memory", "1024"]
    rows, ratios = [], []
    for program in sorted(PROGRAMS.glob("*.py")):
        if arguments.names and program.stem not in arguments.names:
            continue
        theirs_seconds, our_seconds = [], []
        for _ in range(arguments.rounds):
            seconds, expected = cpu_seconds([*oracle, str(program)])
            theirs_seconds.append(seconds)
            seconds, got = cpu_seconds([*ours, str(program)])
            our_seconds.append(seconds)
            if expected != got:
                raise SystemExit(f"{program.name} prints {got!r}, and {expected!r} on CPython")
        stats = json.loads(subprocess.run([*ours, "--stats", str(program)], capture_output=True, text=True, check=True).stderr.strip().splitlines()[-1])
        theirs, mine = median(theirs_seconds), median(our_seconds)
        ratios.append(mine / theirs)
        cycles = stats.get("cycles", 0)
        rows.append([program.stem, f"{theirs * 1000:.0f}", f"{mine * 1000:.0f}", f"{mine / theirs:.2f}", f"{cycles / 1e6:.1f}", f"{mine * 1e9 / cycles:.1f}" if cycles else "", f"{stats.get('peak_memory', 0) / 2**20:.1f}"])
        print(f"{program.stem}: {rows[-1][3]}", file=sys.stderr)
    rows.append(["**geometric mean**", "", "", f"**{geometric_mean(ratios):.2f}**", "", "", ""])
    text = table(["program", "CPython ms", "Cowboy ms", "ratio", "M cycles", "ns/cycle", "peak MiB"], rows)
    text = f"`./bench vm`: processor time of whole processes, median of {arguments.rounds} runs in turns; CPython {sys.version.split()[0]}; metering and softfloat on. {machine()}.\n\n{text}"
    print(text)
    if arguments.write:
        write_section("The virtual machine against CPython", text)


if __name__ == "__main__":
    main()
