"""Files in /tmp: modes, positions, lines, bytes, errors."""
import re


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


name = "/tmp/cowboy_corpus_file.txt"
with open(name, "w") as f:
    print(f.write("one\ntwo\n"), f.write("thrée 🎉\n"), f.tell(), f.writable(), f.readable(), f.name, f.mode, f.closed)
    f.writelines(["four\n", "five"])
print(f.closed, f)
with open(name) as f:
    print(f.read())
with open(name) as f:
    print(f.readline(), f.read(3), f.tell(), f.readline(), f.read(4), f.read(2), f.readlines(), f.readline(), f.read())
with open(name, "r") as f:
    for number, line in enumerate(f):
        print(number, repr(line))
with open(name, "a") as f:
    print(f.tell(), f.write("\nsix\n"))
with open(name, "r+") as f:
    f.seek(4)
    f.write("TWO")
    f.seek(0)
    print(f.read())
    print(f.seek(0, 2), f.tell())
    f.truncate(7)
    f.seek(0)
    print(f.read())
with open(name, "rb") as f:
    print(f.read(2), f.read(), f.seek(-3, 2), f.read(), f.seek(1), f.seek(2, 1), f.readline(), f.readlines(), list(f))
with open(name, "wb") as f:
    print(f.write(b"\x00\x01\r\nlines\r\nand\rmore\n"), f.tell(), f)
with open(name, newline="") as f:
    print(f.readlines())
with open(name) as f:
    print(f.readlines(), f)
with open(name, "w+b") as f:
    f.write(b"abc")
    f.seek(5)
    f.write(b"z")
    f.seek(0)
    buffer = bytearray(4)
    print(f.readinto(buffer), buffer, f.read())
with open(name, "w", newline="\r\n") as f:
    f.write("a\nb\n")
with open(name, "rb") as f:
    print(f.read())
attempt(open, name, "x")
attempt(open, "/tmp/cowboy_missing_file")
attempt(open, "/tmp")
attempt(open, "/tmp/cowboy_no_folder/file", "w")
attempt(open, name, "q")
attempt(open, name, "rw")
attempt(open, name, "rbt")
attempt(open, name, "")
attempt(open, name, "rb", encoding="utf-8")
attempt(open, "a\0b")
attempt(open, 1.5)
f = open(name)
attempt(f.write, "x")
attempt(f.seek, 1, 1)
attempt(f.fileno) if False else None
f.close()
attempt(f.read)
attempt(f.readline)
attempt(lambda: f.__enter__())
f = open(name, "w")
attempt(f.read)
attempt(f.write, b"x")
f.close()
f = open(name, "wb")
attempt(f.write, "x")
attempt(f.read)
f.close()
try:
    with open(name, "w") as f:
        f.write("kept")
        raise KeyError("out")
except KeyError:
    print(f.closed, open(name).read())
try:
    open("/tmp/cowboy_missing_file")
except OSError as error:
    print(error.errno, error.strerror, error.filename, error.args, isinstance(error, FileNotFoundError))
