"""json: text in, text out, every option, every refusal."""
import json


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, "|", error)


values = [None, True, False, 0, -5, 2**70, 1.5, -0.0, 1e100, 1e-7, 0.1, "", "text", "é日🎉", 'q"uo\\te/', "\n\t\x00\x1f\x7f\u2028", [], [1, [2, [3]]], (), (1, "a"), {}, {"k": "v", "n": {"x": [1, None]}}, {1: "int", 1.5: "float", True: "bool", None: "none"}, float("inf"), float("-inf"), float("nan")]
for value in values:
    attempt(json.dumps, value)
sample = {"name": "Ann", "tags": ["x", "y", []], "nested": {"b": 1, "a": {}, "é": 2.5}, "none": None}
for options in ({"indent": 2}, {"indent": 0}, {"indent": "\t"}, {"sort_keys": True}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"sort_keys": True, "separators": (",", ":")}, {"indent": 1, "separators": (";", "=")}, {"indent": 4, "sort_keys": True, "ensure_ascii": False}):
    print(json.dumps(sample, **options))
for bad in (object, {1, 2}, b"bytes", {(1, 2): 3}, {"ok": [print]}, range(3), 1 .__add__):
    try:
        print(json.dumps(bad))
    except TypeError as error:
        print(str(error).split(" 0x")[0])
attempt(json.dumps, float("nan"), allow_nan=False)
attempt(json.dumps, {(1, 2): 3, "a": 1}, skipkeys=True)
attempt(json.dumps, {"b": 1, 2: "a"}, sort_keys=True)


class Point:
    def __init__(self, x):
        self.x = x


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, Point):
            return {"x": value.x}
        return super().default(value)


attempt(json.dumps, [Point(1), {"p": Point(2)}], default=lambda value: value.x)
attempt(json.dumps, {3, 1}, default=sorted)
attempt(json.dumps, Point(5), cls=Encoder)
attempt(Encoder().encode, [Point(1)])
attempt(json.dumps, type("I", (int,), {})(7))
attempt(json.dumps, type("S", (str,), {})("s"))
attempt(json.dumps, type("D", (dict,), {})(a=1))

for text in ["null", "true", "[1, 2.5, -3e2, 1E+2, 0.0, -0]", '{"a": {"b": [1, {"c": null}]}, "a2": "x"}', '"\\u00e9\\ud83c\\udf89\\n\\"\\/\\\\"', "  [ ]  ", "{}", "123456789012345678901234567890", "1.0e400", "-Infinity", "NaN", '"é日"', '{"d": 1, "d": 2}', "[[[[]]]]", "\t\r\n 5 "]:
    attempt(json.loads, text)
attempt(json.loads, b'{"bytes": "\xc3\xa9"}')
attempt(json.loads, bytearray(b"[1]"))
for text in ["", " ", "{", "[", "[1", "[1,", "[1,]", "[1 2]", "{1: 2}", '{"a"}', '{"a":}', '{"a": 1,}', '{"a": 1 "b": 2}', "'single'", '"open', '"bad \\x"', '"tab\there"', '"\\u12"', "tru", "nul", "01", "1.", ".5", "-", "+1", "1 2", "[1] x", "{'a': 1}", "undefined", "\ufeff[]", '["a", "b"\n, c]', '{"a": [1, 2\n}']:
    attempt(json.loads, text)
attempt(json.loads, 5)
attempt(json.loads, None)
attempt(json.loads, '{"a": 1, "b": [1.5, {"c": 2}]}', object_hook=lambda d: sorted(d))
attempt(json.loads, '{"a": 1, "b": {"c": 2}}', object_pairs_hook=lambda pairs: pairs)
attempt(json.loads, "[1, 2.5, 1e3, NaN]", parse_int=lambda s: "i" + s, parse_float=lambda s: "f" + s, parse_constant=lambda s: "c" + s)
try:
    json.loads('[1,\n 2,\n x]')
except json.JSONDecodeError as error:
    print(error.msg, error.pos, error.lineno, error.colno, isinstance(error, ValueError))
round_trip = json.loads(json.dumps(sample))
print(round_trip == sample, json.loads(json.dumps([0.1, 1e22, 5e-324, 2**64])), json.loads(json.dumps("\u2028é\x00")), json.dumps(json.loads('{"z": 1, "a": [true, false]}'), sort_keys=True))
deep = []
for _ in range(50):
    deep = [deep]
print(json.dumps(deep), json.loads(json.dumps(deep)) == deep)
for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
    for text in ('"é𝄞"', "7", '{"a": [1, "b"]}', "[]"):
        data = text.encode(encoding)
        print(encoding, json.detect_encoding(data), json.loads(data), json.loads(bytearray(data)))
for data in (b"", b"1", b"\x00", b"\x00\x00\x00", b"\xff\xfe"):
    print(data, json.detect_encoding(data))
