"""Boxes of containers: from a cached image to the first instruction, processor time, boxes that share the computer, and what thousands of them leave.

    ./bench containers [--only first,together,many] [--starts 10000] [--together 8] [--json] [--write]

It needs root and control groups. Ten thousand starts take some minutes.
"""
import os

import figures
from common import machine
from figures import Row, example


def boxes(*arguments):
    if os.geteuid() != 0:
        raise SystemExit("boxes need root: run it as root")
    return example("starts", *arguments)


def first(_, asked):
    found = boxes()
    return [
        Row("first_instruction_ms", f"unpacked image to first instruction, p50 of {found['starts']}", "≤ 150 ms", found["first_instruction_us"] / 1e3, "ms"),
        Row("start_to_result_ms", "the same, until the box is gone, p50", None, found["start_to_result_us"] / 1e3, "ms"),
        Row("cpu_more_percent", "processor time of the same work in a box, beyond the bare process", "≤ 3 %", found["cpu_more_percent"], "%"),
    ]


def together(_, asked):
    found = boxes("together", asked.together)
    what = f"{found['at_once']} boxes at once, a second of work each in an equal part of 2 cores, of {found['boxes']}"
    deadline = found["deadline_ms"] / 1e3
    return [
        Row("late_boxes", f"{what}: ended by their deadline of {deadline:.1f} s", "0", found["late"], "boxes"),
        Row("longest_box_s", "the same: the longest", f"≤ {deadline:.1f} s", found["longest_ms"] / 1e3, "s"),
    ]


def many(_, asked):
    found = boxes("many", asked.starts)
    left = {"processes": "processes", "mounts": "mounts", "groups": "control groups", "files": "files", "open_files": "open files of the runner"}
    rows = [Row("starts_per_second", f"{found['starts']:,} starts, one after the other", None, found["starts"] / found["seconds"], "/s")]
    rows.append(Row("failed_starts", "the same: programs that did not end with 0", "0", found["failed"], "starts"))
    return rows + [Row(f"left_{key}", f"the same: {what} left behind", "0", found[key], what) for key, what in left.items()]


def page(asked):
    return "Boxes of containers", (
        f"`./bench containers`: boxes of `cowboy-container` as a runner uses them, on {machine()}. The program of the image is the bench's own; its first instruction is the "
        "time that it reads from the clock."
    )


def options(parser):
    parser.add_argument("--starts", type=int, default=10_000, help="boxes one after the other")
    parser.add_argument("--together", type=int, default=8, help="boxes at once")


if __name__ == "__main__":
    figures.run("containers", __doc__, {"first": first, "together": together, "many": many}, page, options)
