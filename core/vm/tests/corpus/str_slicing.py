"""Slices and indexes of strings, lists, tuples, bytes and ranges: every sign and step."""

sequences = ["abcdefg", "äb🎉d", "", [1, 2, 3, 4], (5, 6, 7), b"bytes", range(0, 20, 3), bytearray(b"xyz")]
bounds = [None, 0, 1, 3, -1, -3, 100, -100]
for sequence in sequences:
    for start in bounds:
        print([sequence[start:stop] for stop in bounds], [sequence[start::step] for step in (1, 2, 3, -1, -2, -100)])
    print([sequence[:stop:step] for stop in bounds for step in (-1, 2)])

for sequence in sequences:
    for index in (0, 1, -1, 6, -7, 7, -8, True):
        try:
            print(repr(sequence[index]), end=" ")
        except IndexError as error:
            print(type(error).__name__, error, end="; ")
    print()


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


attempt(lambda: "abc"[::0])
attempt(lambda: [1][::0])
text, numbers, pair, number = "abc", [1, 2], (1, 2), 5
attempt(lambda: text[1.5])
attempt(lambda: numbers["a"])
attempt(lambda: pair[None])
attempt(lambda: bytes(3)["x"])
attempt(lambda: range(3)["x"])
attempt(lambda: text["a":])
attempt(lambda: numbers[1.0:])
attempt(lambda: numbers[1, 2])
attempt(lambda: number[0])
attempt(lambda: print()[0])
attempt(lambda: {}[1:2])

part = slice(1, 10, 2)
print(part, part.start, part.stop, part.step, part.indices(5), slice(None).indices(3), slice(5), slice(None, None, -1).indices(4), slice(-100, 100, 7).indices(10))
print(part == slice(1, 10, 2), part != slice(1, 10), "abcdef"[part], [0, 1, 2, 3, 4][slice(-2, None)])
attempt(lambda: hash(slice(1)))
attempt(lambda: slice())
attempt(lambda: slice(1, 2, 0).indices(5))


class Window:
    def __getitem__(self, key):
        return key


window = Window()
print(window[1], window[1:2], window[::], window[1:2, 3], window[...], window[:, 1::2], window["a":"b"], window[()], window[1,], window[-1:None])
text = "x" * 10 + "é" * 10 + "日" * 10 + "🎉" * 10
print(text[5:35:5], text[-1], text[9:11], text[19:21], text[29:31], len(text), text[::-7])
print(text.index("日"), text.find("🎉"), text.rfind("é"), text.count("é"), text[15:].index("日"), text.replace("é", "e")[8:14], text.split("日日")[0][-3:])
