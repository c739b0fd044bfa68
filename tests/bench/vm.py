"""The virtual machine against CPython 3.11: processor time of the same programs inside each, run in turns, start-up apart."""
import argparse
import pathlib
import re
import sys

import suites
from common import cpu_seconds, geometric_mean, machine, table, write_section
from suites import TARGET, in_vm, on_cpython, run

# What CPython does and a rule of our VM does not allow: how a program ends then, and the rule.
RULES = [
    (r"import of '([\w.]+)' is forbidden", r"no module `\1`"),
    (r"(?:name |attribute )?'(\w+)' is forbidden", r"`\1` is forbidden"),
    (r"DeterminismError: this store would create a reference cycle", "no reference cycles"),
    (r"OverflowError: integer has more than 4096 bits", "integers have at most 4,096 bits"),
    (r"RecursionError", "at most 256 nested calls"),
    (r"the decimal context is fixed", "`decimal` has one context"),
    (suites.PROCESS, suites.PROCESS),
]

def memory(machine):
    """Resident memory, each measure in a process of its own."""
    cached, rows = run([machine]), []
    for name in cached["fillings"]:
        filled = run([machine, name])
        rows.append([name, f"{filled['modelled']:.1f}", f"{filled['resident']:.1f}", f"{filled['resident'] / filled['modelled']:.2f}"])
    text = table(["filled with", "modelled MiB", "resident MiB", "ratio"], rows)
    return f"Resident memory that an invocation adds when it fills its modelled 10 MiB; 1,000 cached actors take {cached['actors']:.0f} MiB.\n\n{text}"


def rule(reason):
    """The rule that forbids what ended so, or none."""
    for pattern, text in RULES:
        found = re.search(pattern, reason)
        if found:
            return found.expand(text)
    return None


def measure(program, arguments):
    """A row of the table and the ratio, or how the program ended in our VM alone."""
    theirs, mine = [], []
    for _ in range(arguments.rounds):
        expected = on_cpython(program, arguments.milliseconds)
        got = in_vm(arguments.machine, program, arguments.milliseconds)
        if "refused" in got:
            return got["refused"]
        if expected["output"] != got["output"]:
            last = got["output"].rpartition("\n")[2]
            return last if last.startswith("!!") and last not in expected["output"] else f"prints {got['output'][:80]!r}, and {expected['output'][:80]!r} on CPython"
        theirs.append(expected["ns"] / 1e6)
        mine.append(got["ns"] / 1e6)
    theirs, mine, cycles = min(theirs), min(mine), got["cycles"]
    row = [program.name, f"{theirs:.2f}", f"{mine:.2f}", f"{mine / theirs:.2f}", f"{cycles / 1e6:.2f}", f"{mine * 1e6 / cycles:.1f}", f"{got['memory'] / 2**20:.1f}"]
    print(f"{program.name}: {row[3]}", file=sys.stderr)
    return row, mine / theirs


def suite(title, programs, refused, arguments):
    """The table of a suite, below it what the rules forbid, and its ratios."""
    rows, ratios = [], []
    for program in programs:
        if arguments.names and program.name not in arguments.names:
            continue
        outcome = measure(program, arguments)
        if isinstance(outcome, str):
            print(f"{program.name}: {outcome}", file=sys.stderr)
            refused[program.name] = outcome
            continue
        rows.append(outcome[0])
        ratios.append(outcome[1])
    if not rows:
        return "", ratios
    rows.append(["**geometric mean**", "", "", f"**{geometric_mean(ratios):.2f}**", "", "", ""])
    text = f"### {title}\n\n" + table(["program", "CPython ms", "Cowboy ms", "ratio", "M cycles", "ns/cycle", "peak MiB"], rows)
    if refused and not arguments.names:
        text += "\n\nNot measured:\n\n" + table(["program", "why"], [[name, rule(reason) or f"differs: {reason}"] for name, reason in sorted(refused.items())])
    return text, ratios


def startup():
    """Processor time of a process that runs an empty script, in milliseconds."""
    empty = TARGET / "bench" / "empty.py"
    empty.parent.mkdir(parents=True, exist_ok=True)
    empty.write_text("")
    # The interpreter itself: a wrapper on the PATH would be measured with it.
    commands = [pathlib.Path(sys.executable).resolve(), "-I", empty], [TARGET / "release" / "examples" / "script", empty]
    theirs, mine = [min(cpu_seconds([str(part) for part in command])[0] for _ in range(10)) * 1e3 for command in commands]
    return f"A process that runs an empty script needs {mine:.0f} ms of processor time, and CPython's {theirs:.0f} ms; minimum of 10."


def main():
    parser = argparse.ArgumentParser(prog="./bench vm", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each side has its turn")
    parser.add_argument("--milliseconds", type=int, default=400, help="how long a turn is")
    parser.add_argument("--machine", default=str(TARGET / "release" / "examples" / "time"), help="the example that measures")
    parser.add_argument("--seed", type=int, default=1, help="of the first generated program")
    parser.add_argument("--sample", type=int, default=30, help="how many generated programs")
    parser.add_argument("--suite", choices=["own", "pyperformance", "generated"], action="append", help="only this suite")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    parser.add_argument("names", nargs="*", help="programs; all where none is named")
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        parser.error(f"the comparison is with CPython 3.11, not {sys.version.split()[0]}")
    chosen = arguments.suite or ["own", "pyperformance", "generated"]
    sections, means = [], []
    for name, title, programs in [
        ("own", "Programs of this project", lambda: (suites.own(), {})),
        ("pyperformance", "pyperformance", lambda: suites.pyperformance(arguments.machine)),
        ("generated", f"Generated programs, from seed {arguments.seed}", lambda: (suites.generated(arguments.seed, arguments.sample), {})),
    ]:
        if name in chosen:
            text, ratios = suite(title, *programs(), arguments)
            sections.append(text)
            if ratios:
                means.append([title, len(ratios), f"{geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"])
    text = f"`./bench vm`: processor time of a run in each, without start-up and compilation; minimum of {arguments.rounds} alternating rounds of {arguments.milliseconds} ms; CPython {sys.version.split()[0]}; with metering and software floats. {machine()}."
    text += "\n\n" + table(["suite", "programs", "geometric mean", "worst"], means) + "\n\n" + "\n\n".join(filter(None, sections))
    if not arguments.names and not arguments.suite:
        own = run([arguments.machine])
        text += f"\n\n### Start-up\n\n{startup()}"
        text += f"\n\nThe VM alone: an empty handler starts in {own['start_us']} µs on cached code and ends after {own['handled_us']} µs, including the SDK's dispatch, or after {own['checked_us']} µs if it asks the host for the caller; source compiles at {own['compile_mb_s']} MB/s; a loop executes {own['dispatch_m_s']} million metered instructions per second."
        text += "\n\n### Memory\n\n" + memory(arguments.machine.replace("/time", "/memory"))
    print(text)
    if arguments.write:
        write_section("The virtual machine against CPython", text)


if __name__ == "__main__":
    main()
