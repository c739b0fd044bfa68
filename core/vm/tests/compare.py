#!/usr/bin/env python3
"""Runs programs on CPython 3.11 and on the virtual machine, and shows the first line where they part.

    compare.py [--machine COMMAND] [--limit N] PROGRAM_OR_FOLDER...

COMMAND defaults to `target/release/cowboy vm run`; the program's path is appended. A program agrees when its output is the same
byte for byte, both end the same way, and a failing one ends with the same last line of the traceback.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys

SECONDS = 60


def run(command, program):
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run([*command, program.name], cwd=program.parent, env=environment, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"<no end within {SECONDS} s>"], "", None
    errors = done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace").split("\n"), errors, done.returncode


def oracle(program):
    """What CPython does with a program: run now, or read from the `.out` that `generate.py --expect` wrote."""
    written = program.with_suffix(".out")
    if not written.exists():
        return run([sys.executable, "-W", "ignore"], program)
    lines = written.read_text().split("\n")
    if len(lines) > 1 and lines[-2].startswith("!! "):
        return [*lines[:-2], ""], lines[-2][3:], 1
    return lines, "", 0


def last_line(errors):
    lines = [line for line in errors.rstrip("\n").split("\n") if line.strip()]
    return lines[-1] if lines else ""


def difference(program, machine):
    """None if both agree, else a few lines that say where they do not."""
    expected, expected_errors, expected_code = oracle(program)
    got, got_errors, got_code = run(machine, program)
    for number, (left, right) in enumerate(zip(expected + [None] * len(got), got + [None] * len(expected)), 1):
        if left != right and not (left is None and right is None):
            return f"output line {number}\n  expected {clip(left, right)}\n  got      {clip(right, left)}\n  stderr   {last_line(got_errors)[:300]}"
    if (expected_code == 0) != (got_code == 0):
        return f"exit code {got_code}, expected {expected_code}\n  expected {last_line(expected_errors)[:300]}\n  stderr   {last_line(got_errors)[:300]}"
    if expected_code and last_line(expected_errors) != last_line(got_errors):
        return f"last line of the traceback\n  expected {last_line(expected_errors)[:300]}\n  got      {last_line(got_errors)[:300]}"
    return None


def clip(text, other):
    """The part of a long line that starts a little before the two differ."""
    if text is None:
        return "<end of output>"
    same = len(os.path.commonprefix([text, other or ""]))
    start = max(0, same - 60)
    return ("…" if start else "") + repr(text[start:same + 160])


def main():
    parser = argparse.ArgumentParser(description="Compare the virtual machine with CPython.")
    parser.add_argument("--machine", default="target/release/cowboy vm run", help="the command that runs a program on the machine")
    parser.add_argument("--limit", type=int, default=1000, help="stop after so many differences")
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        parser.error(f"the oracle is CPython 3.11, not {sys.version.split()[0]}")
    machine = shlex.split(arguments.machine)
    if os.sep in machine[0]:
        machine[0] = str(pathlib.Path(machine[0]).resolve())
    programs = [program for path in arguments.programs for program in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    failures = 0
    for program in programs:
        found = difference(program.resolve(), machine)
        if found:
            failures += 1
            print(f"{program}: {found}", flush=True)
            if failures >= arguments.limit:
                break
    print(f"{len(programs) - failures} of {len(programs)} programs agree" if failures < arguments.limit else "stopped at the limit")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
