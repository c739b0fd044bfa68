"""with: entering and leaving, suppression, several managers, exits that raise, returns on the way."""


class Manager:
    def __init__(self, name, suppress=False, fail=None):
        self.name, self.suppress, self.fail = name, suppress, fail

    def __enter__(self):
        print("enter", self.name)
        if self.fail == "enter":
            raise RuntimeError("enter failed")
        return self.name.upper()

    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind.__name__ if kind else None, repr(error), trace is None)
        if self.fail == "exit":
            raise RuntimeError("exit failed")
        return self.suppress


with Manager("a") as a, Manager("b") as b:
    print(a, b)
with (
    Manager("c") as c,
    Manager("d"),
):
    print(c)
with Manager("quiet", suppress=True):
    print("before")
    raise ValueError("suppressed")
print("after")


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error, repr(error.__context__))


def propagate():
    with Manager("loud"), Manager("inner"):
        raise KeyError("k")


def enter_fails():
    with Manager("first"), Manager("second", fail="enter"):
        print("never")


def exit_fails():
    with Manager("outer"), Manager("bad", fail="exit"):
        1 / 0


def exit_fails_quietly():
    with Manager("bad", fail="exit"):
        pass


def inner_suppressed():
    with Manager("outer"):
        with Manager("inner", suppress=True):
            raise ValueError
        return "reached"


def returning():
    for number in range(3):
        with Manager(f"loop{number}"):
            if number == 0:
                continue
            return f"returned {number}"


def breaking():
    while True:
        with Manager("while") as name:
            break
    return name


def with_try():
    try:
        with Manager("m") as m:
            try:
                raise ValueError(m)
            finally:
                print("inner finally")
    except ValueError as error:
        return f"caught {error}"
    finally:
        print("outer finally")


for function in (propagate, enter_fails, exit_fails, exit_fails_quietly, inner_suppressed, returning, breaking, with_try):
    attempt(function)


class NoExit:
    def __enter__(self):
        return self


class NoEnter:
    def __exit__(self, *details):
        return True


def use(manager):
    with manager:
        return "used"


attempt(lambda: use(NoExit()))
attempt(lambda: use(NoEnter()))
attempt(lambda: use(5))


def generator():
    with Manager("gen"):
        yield 1
        yield 2


print(list(generator()))
g = generator()
next(g)
g.close()


class contextmanager:
    """What contextlib does, in small."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        return Running(self.function(*arguments))


class Running:
    def __init__(self, gen):
        self.gen = gen

    def __enter__(self):
        return next(self.gen)

    def __exit__(self, kind, error, trace):
        if kind is None:
            return next(self.gen, None)
        try:
            self.gen.throw(error)
        except StopIteration:
            return True
        return False


@contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name
    except ValueError as error:
        print("handled", error)
    print(f"</{name}>")


with tag("p") as p, tag("b") as bold:
    print(p, bold)
with tag("e"):
    raise ValueError("inside")
data = {}
with Manager("t") as data["key"], Manager("u") as (x, *y):
    print(data, x, y)
