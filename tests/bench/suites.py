"""The programs of `./bench vm`: the project's own, the benchmarks of pyperformance, and a random sample of generated ones."""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

from common import ROOT

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
OWN = ROOT / "core" / "vm" / "benches" / "programs"
STAND_INS = ROOT / "tests" / "bench" / "stand_ins"
# A benchmark does its work as often as CPython needs for this long, so that the definition of its classes and functions hardly counts.
MILLISECONDS = 60
LOOPS_MAX = 2000
# Why a benchmark that hands pyperf no function cannot run.
PROCESS = "it measures a process"

# Runs a program once, which loads the modules that it imports, and then again and again for some milliseconds of processor time.
INSIDE = """
import contextlib, io, json, sys, time, traceback
source = compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
if sys.argv[3]:
    sys.path.insert(0, sys.argv[3])
start, runs = 0, -1
while runs <= 0 or time.process_time_ns() - start < int(sys.argv[2]) * 1000000:
    if runs == 0:
        start = time.process_time_ns()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(source, {'__name__': '__main__'})
        except Exception as error:
            print('!!', traceback.format_exception_only(error)[-1].rstrip())
    runs += 1
print(json.dumps({'ns': (time.process_time_ns() - start) / runs, 'output': output.getvalue().rstrip()}))
"""


@dataclasses.dataclass
class Program:
    name: str
    path: pathlib.Path
    # Modules that it may import.
    folder: str = ""


def run(command):
    return json.loads(subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout)


def on_cpython(program, milliseconds):
    # The interpreter itself: a wrapper on the PATH would be measured with it. Without bytecode files: `chosen.py` is written again.
    return run([pathlib.Path(sys.executable).resolve(), "-I", "-B", "-c", INSIDE, program.path, milliseconds, program.folder])


def in_vm(machine, program, milliseconds):
    return run([machine, program.path, milliseconds, *filter(None, [program.folder])])


def own():
    return [Program(path.stem, path) for path in sorted(OWN.glob("*.py"))]


def generated(seed, count):
    folder = TARGET / "bench" / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    generator = ROOT / "core" / "vm" / "tests" / "generate.py"
    subprocess.run([sys.executable, "-W", "ignore", str(generator), str(seed), str(count), str(folder)], check=True)
    return [Program(path.stem, path) for path in sorted(folder.glob("*.py"))]


def bodies():
    """The folder of pyperformance's benchmarks, which is installed under `target`."""
    environment = TARGET / "bench" / "pyperformance"
    requirements = ROOT / "tests" / "bench" / "requirements.txt"
    installed = environment / "installed.txt"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
        subprocess.run([str(environment / "bin" / "pip"), "install", "--quiet", "--no-deps", "-r", str(requirements)], check=True)
        installed.write_text(requirements.read_text())
    return next(environment.glob("lib/python3*/site-packages/pyperformance/data-files/benchmarks"))


def choose(folder, name, loops):
    (folder / "chosen.py").write_text(f"NAME = {name!r}\nLOOPS = {loops}\n")


def pyperformance(machine):
    """Its benchmarks that our VM compiles, and why it refuses the others, by name."""
    programs, refused = [], {}
    for body in sorted(bodies().glob("bm_*/run_benchmark.py")):
        folder = TARGET / "bench" / "stand_ins" / body.parent.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(STAND_INS, folder)
        choose(folder, None, 0)
        listing = Program(body.parent.name.removeprefix("bm_"), body, str(folder))
        answer = in_vm(machine, listing, 0)
        if "refused" in answer:
            refused[listing.name] = answer["refused"]
            continue
        names = on_cpython(listing, 0)["output"].split()
        if not names:
            refused[listing.name] = PROCESS
        for name in names:
            own_folder = folder.with_name(f"{folder.name}-{name}")
            shutil.rmtree(own_folder, ignore_errors=True)
            shutil.copytree(folder, own_folder)
            programs.append(Program(name, body, str(own_folder)))
            choose(own_folder, name, 1)
            took = on_cpython(programs[-1], 0)["ns"] / 1e6
            choose(own_folder, name, min(max(1, round(MILLISECONDS / took)), LOOPS_MAX))
    return programs, refused
