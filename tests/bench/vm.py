"""The virtual machine against CPython 3.11: processor time of the same programs inside each, run in turns, start-up excluded."""
import argparse
import json
import pathlib
import subprocess
import sys

from common import ROOT, geometric_mean, machine, table, write_section

PROGRAMS = ROOT / "core" / "vm" / "benches" / "programs"


# Runs a program again and again for some milliseconds of processor time.
INSIDE = """
import contextlib, io, json, sys, time
source = compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
start, runs = time.process_time_ns(), 0
while runs == 0 or time.process_time_ns() - start < int(sys.argv[2]) * 1000000:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(source, {'__name__': '__main__'})
    runs += 1
print(json.dumps({'ns': (time.process_time_ns() - start) / runs, 'output': output.getvalue().rstrip()}))
"""


def run(command):
    return json.loads(subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout)


def memory(machine):
    """Resident memory, each measure in a process of its own."""
    cached, rows = run([machine]), []
    for name in cached["fillings"]:
        filled = run([machine, name])
        rows.append([name, f"{filled['modelled']:.1f}", f"{filled['resident']:.1f}", f"{filled['resident'] / filled['modelled']:.2f}"])
    text = table(["filled with", "modelled MiB", "resident MiB", "ratio"], rows)
    return f"Resident memory that an invocation adds when it fills its modelled 10 MiB; 1,000 cached actors take {cached['actors']:.0f} MiB.\n\n{text}"


def main():
    parser = argparse.ArgumentParser(prog="./bench vm", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each side has its turn")
    parser.add_argument("--milliseconds", type=int, default=400, help="how long a turn is")
    parser.add_argument("--machine", default=str(ROOT / "target" / "release" / "examples" / "time"), help="the example that measures")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    parser.add_argument("names", nargs="*", help="programs; all where none is named")
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        parser.error(f"the comparison is with CPython 3.11, not {sys.version.split()[0]}")
    # The interpreter itself: a wrapper on the PATH would be measured with it.
    oracle = [str(pathlib.Path(sys.executable).resolve()), "-I"]
    rows, ratios = [], []
    for program in sorted(PROGRAMS.glob("*.py")):
        if arguments.names and program.stem not in arguments.names:
            continue
        theirs, mine = [], []
        for _ in range(arguments.rounds):
            expected = run([*oracle, "-c", INSIDE, program, arguments.milliseconds])
            got = run([arguments.machine, program, arguments.milliseconds])
            if expected["output"] != got["output"]:
                raise SystemExit(f"{program.name} prints {got['output']!r}, and {expected['output']!r} on CPython")
            theirs.append(expected["ns"] / 1e6)
            mine.append(got["ns"] / 1e6)
        theirs, mine, cycles = min(theirs), min(mine), got["cycles"]
        ratios.append(mine / theirs)
        rows.append([program.stem, f"{theirs:.1f}", f"{mine:.1f}", f"{mine / theirs:.2f}", f"{cycles / 1e6:.1f}", f"{mine * 1e6 / cycles:.1f}", f"{got['memory'] / 2**20:.1f}"])
        print(f"{program.stem}: {rows[-1][3]}", file=sys.stderr)
    rows.append(["**geometric mean**", "", "", f"**{geometric_mean(ratios):.2f}**", "", "", ""])
    text = table(["program", "CPython ms", "Cowboy ms", "ratio", "M cycles", "ns/cycle", "peak MiB"], rows)
    own = run([arguments.machine])
    text = f"`./bench vm`: processor time of a run in each, without start-up and compilation; minimum of {arguments.rounds} alternating rounds of {arguments.milliseconds} ms; CPython {sys.version.split()[0]}; with metering and software floats. {machine()}.\n\n{text}"
    text += f"\n\nThe VM alone: an empty handler starts in {own['start_us']} µs on cached code and ends after {own['handled_us']} µs, including the SDK's dispatch, or after {own['checked_us']} µs if it asks the host for the caller; source compiles at {own['compile_mb_s']} MB/s; a loop executes {own['dispatch_m_s']} million metered instructions per second."
    text += "\n\n" + memory(arguments.machine.replace("/time", "/memory"))
    print(text)
    if arguments.write:
        write_section("The virtual machine against CPython", text)


if __name__ == "__main__":
    main()
