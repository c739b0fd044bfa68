# Uses of `json`, compared with CPython's own module.
import json
import math


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


values = [
    None, True, False, 0, -1, 10**30, 1.0, -0.0, 1.5e300, 1e-7, 0.1, "", "text", "é🤠\u2028", 'q"\\/\b\f\n\r\t\x00\x1f\x7f', [], {}, [[]],
    {"a": {}}, [1, [2, [3]]], (1, 2), {"b": 1, "a": [None]}, {1: 2, 1.5: 3, True: 4, None: 5}, {"x": (1,)}, math.inf, -math.inf, math.nan,
]
for value in values:
    for options in ({}, {"ensure_ascii": False}, {"indent": 2}, {"separators": (",", ":")}, {"indent": "\t", "separators": (" ,", " : ")}, {"indent": 0}):
        attempt(lambda: json.dumps(value, **options))
attempt(lambda: json.dumps({"b": 1, "a": 2, "c": [3]}, sort_keys=True, indent=1))
attempt(lambda: json.dumps({1: 1, "a": 2}, sort_keys=True))
attempt(lambda: json.dumps({(1, 2): 1}))
attempt(lambda: json.dumps({(1, 2): 1, "a": 2}, skipkeys=True))
attempt(lambda: json.dumps(object))
attempt(lambda: json.dumps([{1, 2}]))
attempt(lambda: json.dumps(b"x"))
attempt(lambda: json.dumps([math.nan], allow_nan=False))
attempt(lambda: json.dumps({math.inf: 1}, allow_nan=False))
attempt(lambda: json.dumps([1, {2}], default=lambda x: sorted(x)))


class Money:
    def __init__(self, n):
        self.n = n


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, Money):
            return {"money": o.n}
        return super().default(o)


attempt(lambda: json.dumps([Money(5)], cls=Encoder))
attempt(lambda: json.dumps([object()], cls=Encoder) and None)
attempt(lambda: Encoder(indent=1).encode({"a": Money(1)}))

texts = [
    "null", " true ", "false", "0", "-0", "12", "-1.5", "1e5", "1E+2", "1.5e-3", "123456789012345678901234567890", '""', '"a\\u00e9\\n\\"\\\\\\/"',
    '"\\ud83e\\udd20"', "[]", "[ ]", "{}", "{ }", "[1,2 , 3]", '{"a":1, "b" : [true,null]}', '[[[]],{"a":{}}]', "NaN", "Infinity", "-Infinity",
    "\n\t[1]\r\n", '{"a":1,"a":2}', "1.0", "-", "01", "1.", ".5", "1e", "+1", "", " ", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{a:1}",
    "{1:2}", '{"a" 1}', '"abc', '"a\nb"', '"\\x"', '"\\u12"', '"\\u12g4"', '"\\', "nul", "tru", "[1]]", "{} {}", "'a'", "\ufeff1", '"\x00"', '["a", "b"', "[1,\n2,\n x]", '{"a": 1,\n "b": }', "--1", "1 2", "nan", "[1,2,,3]", '{"a":1 "b":2}', "\x0b1",
]
for text in texts:
    attempt(lambda: (json.loads(text), json.loads(text.encode())) if "\ufeff" not in text else json.loads(text))
attempt(lambda: json.loads(5))
attempt(lambda: json.loads(b'"\xff"'))
attempt(lambda: json.loads(bytearray(b"[1]")))
attempt(lambda: json.loads('{"a": 1.5, "b": [2, {"c": 3}]}', object_hook=lambda d: sorted(d), parse_float=str, parse_int=lambda t: int(t) * 10))
attempt(lambda: json.loads('{"b": 1, "a": {"c": 2}}', object_pairs_hook=list))
attempt(lambda: json.loads("[NaN, Infinity]", parse_constant=lambda name: name))
attempt(lambda: json.JSONDecoder().raw_decode('{"a": 1} rest'))
attempt(lambda: json.JSONDecoder(strict=False).decode('"a\nb"'))
try:
    json.loads('[1,\n  oops]')
except json.JSONDecodeError as problem:
    print(problem.msg, problem.pos, problem.lineno, problem.colno, problem.doc, isinstance(problem, ValueError))
deep = "[" * 150 + "]" * 150
print(json.dumps(json.loads(deep)) == deep)
print(json.loads(json.dumps({"k": [1, 2.5, "é", None, True, {"n": -3}]})))
