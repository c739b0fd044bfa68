"""Files: the scratch space /tmp of one invocation, and texts and bytes that behave like files.

Actors use the builtin `open`. Only files directly in /tmp exist (003 "Forbidden Operations"); all other paths are refused.
"""
import _files

DEFAULT_BUFFER_SIZE = 8192
SEEK_SET = 0
SEEK_CUR = 1
SEEK_END = 2


class UnsupportedOperation(OSError, ValueError):
    """The file was not opened for that."""


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """A file in /tmp, opened."""
    if not isinstance(file, (str, bytes)):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(file).__name__}")
    if not isinstance(mode, str):
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    letters = set(mode)
    if letters - set("axrwb+t") or len(mode) > len(letters):
        raise ValueError(f"invalid mode: {mode!r}")
    if "t" in letters and "b" in letters:
        raise ValueError("can't have text and binary mode at once")
    kinds = [letter for letter in "xrwa" if letter in letters]
    if not mode:
        raise ValueError("Must have exactly one of create/read/write/append mode and at most one plus")
    if len(kinds) != 1:
        raise ValueError("must have exactly one of create/read/write/append mode")
    binary = "b" in letters
    if binary:
        for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
            if value is not None:
                article = "an" if name[0] == "e" else "a"
                raise ValueError(f"binary mode doesn't take {article} {name} argument")
    elif newline not in (None, "", "\n", "\r", "\r\n"):
        raise ValueError(f"illegal newline value: {newline}")
    if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1"):
        raise LookupError(f"unknown encoding: {encoding}")
    path = _checked(file)
    kind = kinds[0]
    exists = _files.exists(path)
    if kind == "r" and not exists:
        raise FileNotFoundError(2, "No such file or directory", file)
    if kind == "x" and exists:
        raise FileExistsError(17, "File exists", file)
    if kind == "w" or not exists:
        if not _files.create(path):
            raise OSError(28, "No space left on device", file)
    readable = kind == "r" or "+" in letters
    writable = kind != "r" or "+" in letters
    if not binary:
        made = TextIOWrapper._make(file, mode, path, readable, writable, kind == "a")
        made.encoding = encoding or "UTF-8"
        made.errors = errors or "strict"
        made.newlines = None
        made._newline = newline
        return made
    cls = BufferedRandom if "+" in letters else BufferedReader if readable else BufferedWriter
    return cls._make(file, mode.replace("b", "") + "b" if "+" not in letters else "rb+", path, readable, writable, kind == "a")


def _checked(file):
    """The one name of a path in /tmp."""
    path = file if isinstance(file, str) else file.decode("utf-8")
    if "\0" in path:
        raise ValueError("embedded null byte")
    if not path:
        raise FileNotFoundError(2, "No such file or directory", file)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path.startswith("/") or ".." in parts or not parts or parts[0] != "tmp":
        raise PermissionError(13, "Permission denied: an actor has only files in /tmp", file)
    if len(parts) == 1:
        raise IsADirectoryError(21, "Is a directory", file)
    if len(parts) > 2:
        if _files.exists(parts[1]):
            raise NotADirectoryError(20, "Not a directory", file)
        raise FileNotFoundError(2, "No such file or directory", file)
    if path.endswith("/"):
        raise IsADirectoryError(21, "Is a directory", file)
    if len(parts[1].encode("utf-8")) > 255:
        raise OSError(36, "File name too long", file)
    return parts[1]


class IOBase:
    """What all files can do."""

    closed = False

    def _check_open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def close(self):
        """Ends the use of the file."""
        self.closed = True

    def flush(self):
        """Does nothing: what is written is there."""
        self._check_open()

    def fileno(self):
        """Refused: there are no descriptors."""
        raise UnsupportedOperation("fileno")

    def isatty(self):
        """False."""
        self._check_open()
        return False

    def seekable(self):
        """Whether there are places to go to."""
        self._check_open()
        return True

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        self._check_open()
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readlines(self, hint=-1, /):
        """The rest, line by line."""
        lines = []
        size = 0
        while True:
            line = self.readline()
            if not line:
                return lines
            lines.append(line)
            size += len(line)
            if hint is not None and 0 < hint <= size:
                return lines

    def writelines(self, lines, /):
        """Writes each of some texts."""
        self._check_open()
        for line in lines:
            self.write(line)


class RawIOBase(IOBase):
    """Bytes without a buffer."""


class BufferedIOBase(IOBase):
    """Bytes."""


class TextIOBase(IOBase):
    """Text."""


class _File(IOBase):
    @classmethod
    def _make(cls, name, mode, path, readable, writable, append):
        self = object.__new__(cls)
        self.name = name
        self.mode = mode
        self._path = path
        self._readable = readable
        self._writable = writable
        self._append = append
        self._place = _files.size(path) if append else 0
        return self

    def readable(self):
        """Whether it was opened for reading."""
        self._check_open()
        return self._readable

    def writable(self):
        """Whether it was opened for writing."""
        self._check_open()
        return self._writable

    def _for_reading(self):
        self._check_open()
        if not self._readable:
            raise UnsupportedOperation(self._not_readable)

    def _for_writing(self):
        self._check_open()
        if not self._writable:
            raise UnsupportedOperation(self._not_writable)

    def _put(self, data):
        place = _files.size(self._path) if self._append else self._place
        if not _files.write(self._path, place, data):
            raise OSError(28, "No space left on device")
        self._place = place + len(data)

    def tell(self):
        """The place, in bytes."""
        self._check_open()
        return self._place

    def seek(self, offset, whence=0, /):
        """Goes to a place."""
        self._check_open()
        if not isinstance(offset, int):
            raise TypeError(f"'{type(offset).__name__}' object cannot be interpreted as an integer")
        if whence == 0:
            place = offset
            if place < 0:
                raise ValueError(f"negative seek position {offset}") if self._text else OSError(22, "Invalid argument")
        elif whence == 1:
            if self._text and offset:
                raise UnsupportedOperation("can't do nonzero cur-relative seeks")
            place = self._place + offset
        elif whence == 2:
            if self._text and offset:
                raise UnsupportedOperation("can't do nonzero end-relative seeks")
            place = _files.size(self._path) + offset
        else:
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        if place < 0:
            raise OSError(22, "Invalid argument")
        self._place = place
        return place

    def truncate(self, pos=None, /):
        """Cuts the file off, or makes it longer by zeros."""
        self._for_writing()
        size = self._place if pos is None else pos
        if size < 0:
            raise OSError(22, "Invalid argument")
        if not _files.resize(self._path, size):
            raise OSError(28, "No space left on device")
        return size


class _Binary(_File, BufferedIOBase):
    _text = False
    _not_readable = "read"
    _not_writable = "write"

    def read(self, size=-1, /):
        """Bytes, at most so many."""
        self._for_reading()
        data = _files.read(self._path, self._place, None if size is None or size < 0 else size)
        self._place += len(data)
        return data

    read1 = read

    def peek(self, size=0, /):
        """Bytes ahead, without moving."""
        self._for_reading()
        return _files.read(self._path, self._place, None)

    def readinto(self, buffer, /):
        """Fills a bytearray."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readline(self, size=-1, /):
        """The rest of the line."""
        self._for_reading()
        data = _files.line(self._path, self._place, "\n")
        if size is not None and 0 <= size < len(data):
            data = data[:size]
        self._place += len(data)
        return data

    def write(self, data, /):
        """Writes bytes; says how many."""
        self._for_writing()
        if isinstance(data, memoryview):
            data = data.tobytes()
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"a bytes-like object is required, not '{type(data).__name__}'")
        self._put(data)
        return len(data)

    def __repr__(self):
        return f"<_io.{type(self).__name__} name={self.name!r}>"


class BufferedReader(_Binary):
    """Bytes to read."""


class BufferedWriter(_Binary):
    """Bytes to write."""


class BufferedRandom(_Binary):
    """Bytes to read and write."""


class TextIOWrapper(_File, TextIOBase):
    """Text."""

    _text = True
    _not_readable = "not readable"
    _not_writable = "not writable"

    def _decoded(self, data):
        return str(data, self.encoding, self.errors)

    def _translated(self, text):
        if self._newline is None and "\r" in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
        return text

    def read(self, size=-1, /):
        """Characters, at most so many."""
        self._for_reading()
        if size is None or size < 0:
            data = _files.read(self._path, self._place, None)
            self._place += len(data)
            return self._translated(self._decoded(data))
        parts = []
        wanted = size
        while wanted > 0:
            data = _files.read(self._path, self._place, wanted)
            # A character that is cut in two is read whole, and a line feed stays with its carriage return.
            while data and (0 < _missing(data) or data[-1] == 13):
                more = _files.read(self._path, self._place + len(data), max(_missing(data), 1))
                if not more:
                    break
                data += more
            if not data:
                break
            self._place += len(data)
            text = self._translated(self._decoded(data))
            parts.append(text)
            wanted -= len(text)
        text = "".join(parts)
        if len(text) > size:
            self._place -= len(text[size:].encode(self.encoding, self.errors))
            text = text[:size]
        return text

    def readline(self, size=-1, /):
        """The rest of the line."""
        self._for_reading()
        newline = self._newline
        data = _files.line(self._path, self._place, "\r" if newline == "\r" else "\n")
        if newline == "\r\n":
            while data and not data.endswith(b"\r\n"):
                more = _files.line(self._path, self._place + len(data), "\n")
                if not more:
                    break
                data += more
        elif newline is None or newline == "":
            cut = data.find(b"\r")
            if cut >= 0:
                data = data[: cut + (2 if data[cut + 1 : cut + 2] == b"\n" else 1)]
        text = self._decoded(data)
        if size is not None and 0 <= size < len(text):
            text = text[:size]
            data = text.encode(self.encoding, self.errors)
        self._place += len(data)
        return self._translated(text)

    def write(self, text, /):
        """Writes text; says how many characters."""
        self._for_writing()
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        written = text
        if self._newline in ("\r", "\r\n"):
            written = text.replace("\n", self._newline)
        self._put(written.encode(self.encoding, self.errors))
        return len(text)

    def __repr__(self):
        return f"<_io.TextIOWrapper name={self.name!r} mode={self.mode!r} encoding={self.encoding!r}>"


def _missing(data):
    """How many bytes of the last character of UTF-8 bytes are still to come."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length - back
    return 0


class _Memory(IOBase):
    """A file that is a text or bytes."""

    def __init__(self, initial):
        self._buffer = initial
        self._place = 0

    def readable(self):
        """True."""
        self._check_open()
        return True

    writable = readable

    def getvalue(self):
        """All of it."""
        self._check_open()
        return self._buffer

    def read(self, size=-1, /):
        """What follows, at most so much."""
        self._check_open()
        start = self._place
        end = len(self._buffer) if size is None or size < 0 else start + size
        part = self._buffer[start:end]
        self._place += len(part)
        return part

    def readline(self, size=-1, /):
        """The rest of the line."""
        self._check_open()
        end = self._buffer.find(self._ending, self._place)
        end = len(self._buffer) if end < 0 else end + 1
        if size is not None and size >= 0:
            end = min(end, self._place + size)
        part = self._buffer[self._place : end]
        self._place += len(part)
        return part

    def tell(self):
        """The place."""
        self._check_open()
        return self._place

    def seek(self, offset, whence=0, /):
        """Goes to a place."""
        self._check_open()
        place = offset + (0 if whence == 0 else self._place if whence == 1 else len(self._buffer))
        if place < 0:
            raise ValueError(f"negative seek value {place}" if whence == 0 else "Can't do nonzero cur-relative seeks")
        self._place = place
        return place

    def truncate(self, pos=None, /):
        """Cuts it off."""
        self._check_open()
        size = self._place if pos is None else pos
        self._buffer = self._buffer[:size]
        return size

    def _put(self, part, blank):
        place = self._place
        if place == len(self._buffer):
            self._buffer += part
        else:
            gap = blank * (place - len(self._buffer))
            self._buffer = self._buffer[:place] + gap + part + self._buffer[place + len(part) :]
        self._place = place + len(part)
        return len(part)


class StringIO(_Memory, TextIOBase):
    """A text that behaves like a file."""

    _ending = "\n"

    def __init__(self, initial_value="", newline="\n"):
        super().__init__("" if initial_value is None else initial_value)

    def write(self, text, /):
        """Writes text; says how many characters."""
        self._check_open()
        if not isinstance(text, str):
            raise TypeError(f"string argument expected, got '{type(text).__name__}'")
        return self._put(text, "\0")


class BytesIO(_Memory, BufferedIOBase):
    """Bytes that behave like a file."""

    _ending = b"\n"

    def __init__(self, initial_bytes=b""):
        super().__init__(bytes(initial_bytes or b""))

    def write(self, data, /):
        """Writes bytes; says how many."""
        self._check_open()
        if isinstance(data, memoryview):
            data = data.tobytes()
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"a bytes-like object is required, not '{type(data).__name__}'")
        return self._put(bytes(data), b"\0")
