"""JSONDecoder.raw_decode with every kind of place to begin."""
import json
def attempt(call):
    try:
        return repr(call())
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)
d = json.JSONDecoder()
for text in ("", "  1", "1 2", "[1", "{", "x", '{"a":1} z', "nul", '"abc'):
    for idx in (0, 1, 2, 5, -1, -3, -100, 1 << 70, "0", None, 1.5, True):
        print(repr(text), repr(idx), attempt(lambda: d.raw_decode(text, idx)))
for bad in (5, None, b"1", ["1"]):
    print(attempt(lambda: d.raw_decode(bad)))
