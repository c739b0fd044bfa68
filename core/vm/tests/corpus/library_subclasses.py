# Values of classes of one's own in json, native floats in struct, letters of many cases in re.
import json
import re
import struct


class Other(list):
    def __iter__(self):
        return iter([9])


class Pair(tuple):
    def __iter__(self):
        return iter([8])


class Hidden(list):
    def __len__(self):
        return 0


for value in (Other([1, 2]), Pair([1]), Other([]), Pair(()), Hidden([1]), list(Other([1])), Other([Other([]), 2])):
    print(json.dumps(value), json.dumps({"k": value}), json.dumps(value, indent=1), json.dumps([value], separators=(",", ":")))


def outcome(function, *args):
    try:
        return function(*args)
    except (OverflowError, struct.error) as error:
        return f"{type(error).__name__}: {error}"


for mark in ("", "@", "=", "<", ">", "!"):
    for value in (1e39, -1e39, 3.4028235677973366e38, 3.4028235e38, float("inf")):
        print(mark, value, outcome(struct.pack, mark + "f", value), outcome(struct.pack, mark + "2f", 1.0, value))
    print(outcome(struct.pack, mark + "e", 1e9), outcome(struct.pack, mark + "d", 1e39))
buffer = bytearray(4)
struct.pack_into("f", buffer, 0, -1e300)
print(bytes(buffer), struct.unpack("f", buffer))


letters = "\xdf\u1e9e\u0149\u01f0\u0390\u03b0\u0587\u1e96\u1f50\u1f80\u1f88\u1f87\u1f8f\u1f90\u1f98\u1fa0\u1fa8\u1fa7\u1faf\u1fb2\u1fb3\u1fbc\u1fc3\u1fcc\u1ff3\u1ffc\ufb00\ufb05\ufb06sSiI\u0130\u0131"
for one in letters:
    found = [f"{ord(two):x}" for two in letters if re.fullmatch(one, two, re.IGNORECASE)]
    within = [f"{ord(two):x}" for two in letters if re.fullmatch(f"[{one}]", two, re.IGNORECASE)]
    beyond = [f"{ord(two):x}" for two in letters if re.fullmatch(f"[^{one}]", two, re.IGNORECASE)]
    print(f"{ord(one):x}", found, within, len(beyond))
print(re.findall("(?i)[\u03b1-\u03c9]", "\u1f88"), re.findall("(?i)\xdf", "STRA\u1e9eE"), re.findall("(?i)[\u1f80-\u1f87]", "\u1f88\u1f8f\u1f80"))
