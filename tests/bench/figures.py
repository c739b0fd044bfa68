"""What benches made of parts share: their options, a folder for each part, and the section of the page with all rows."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common import ROOT, table, write_section

os.environ.setdefault("COWBOY_BIN", str(ROOT / "target" / "release"))
sys.path.insert(0, str(ROOT / "tests" / "market"))
from rates import Row  # noqa: E402, F401


def say(text):
    """How far a bench is."""
    print(text, file=sys.stderr, flush=True)


def example(name, *arguments):
    """What an example program prints as JSON. What it says of its progress stays on stderr."""
    command = [pathlib.Path(os.environ["COWBOY_BIN"]) / "examples" / name, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ends with {done.returncode}")
    return json.loads(done.stdout)


def run(bench, about, parts, page, options=lambda parser: None):
    """Measures the parts that are named, each with a folder and the options that were given, and prints their rows. `page` gives the heading and the
    introduction of the section."""
    parser = argparse.ArgumentParser(prog=f"./bench {bench}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(parts), help=f"parts, with commas between: {', '.join(parts)}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    options(parser)
    asked = parser.parse_args()
    if unknown := set(asked.only) - set(parts):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    if asked.write and set(asked.only) != set(parts):
        parser.error("--write replaces the whole table: measure all of it")
    rows = []
    for name in asked.only:
        say(f"{bench}: {name}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"cowboy-bench-{name}-"))
        try:
            found = parts[name](folder, asked)
        except BaseException:
            say(f"the logs are in {folder}")
            raise
        shutil.rmtree(folder)
        rows += found
        for row in found:
            say(f"  {row.what}: {row.text()}")
    if asked.json:
        print(json.dumps([row.json() for row in rows], indent=2))
        return
    heading, introduction = page(asked)
    text = introduction + "\n\n" + table(["what", "target", "figure"], [[row.what, row.target or "", row.text()] for row in rows])
    print(f"{heading}\n\n{text}")
    if asked.write:
        write_section(heading, text)
