"""What the benches share: medians, tables, and the page they write."""
import math
import os
import pathlib
import platform
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "bench.md"


def median(values):
    return statistics.median(values)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def cpu_seconds(command, **options):
    """Runs a command and answers the processor time that it took, user and system, and its output."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, output


def table(header, rows):
    """A Markdown table whose columns also line up in a terminal."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def machine():
    """The computer in one line."""
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else platform.machine()}, {platform.system()} {platform.machine()}"


def rows_of_section(name):
    """The cells of the rows of the table that the section of the page has, without its header; none where there is no such section."""
    page = PAGE.read_text() if PAGE.exists() else ""
    section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")][2:]


def write_section(name, text):
    """Replaces the section of the page that begins with this heading, or adds it."""
    heading = f"## {name}\n"
    page = PAGE.read_text() if PAGE.exists() else "# Benchmarks\n\nWritten by `./bench --write`. Figures are medians of one run on one computer. No test depends on them.\n\n"
    before, found, rest = page.partition(heading)
    following = rest.find("\n## ")
    after = rest[following + 1:] if found and following >= 0 else ""
    PAGE.write_text(f"{before.rstrip()}\n\n{heading}\n{text.strip()}\n" + (f"\n{after}" if after else ""))
