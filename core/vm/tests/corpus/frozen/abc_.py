# Every use of `abc`, compared with CPython's own module.
from abc import ABC, ABCMeta, abstractmethod


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


class Shape(ABC):
    @abstractmethod
    def area(self):
        """The area."""

    @property
    @abstractmethod
    def name(self):
        return "shape"

    @classmethod
    @abstractmethod
    def make(cls):
        pass

    @staticmethod
    @abstractmethod
    def kind():
        pass

    def describe(self):
        return f"{self.name} of {self.area()}"


class Half(Shape):
    def area(self):
        return 1

    name = "half"


class Square(Half):
    def __init__(self, side=2):
        self.side = side

    def area(self):
        return self.side**2

    @property
    def name(self):
        return super().name + " square"

    @classmethod
    def make(cls):
        return cls(3)

    @staticmethod
    def kind():
        return "k"


attempt(lambda: Shape())
attempt(lambda: Half())
print(Square().describe(), Square.make().area(), Square.kind(), sorted(Shape.__abstractmethods__), sorted(Square.__abstractmethods__))


class One(metaclass=ABCMeta):
    @abstractmethod
    def only(self):
        pass


attempt(lambda: One())
One.register(int)
print(isinstance(5, One), issubclass(int, One), isinstance("x", One), issubclass(bool, One))


@One.register
class Registered:
    pass


class Sub(One):
    pass


Sub.register(str)
print(isinstance(Registered(), One), isinstance("x", One), isinstance("x", Sub), isinstance(5, Sub))


class Duck(ABC):
    @classmethod
    def __subclasshook__(cls, other):
        if cls is Duck:
            return any("quack" in base.__dict__ for base in other.__mro__)
        return NotImplemented


class Quacker:
    def quack(self):
        pass


print(isinstance(Quacker(), Duck), isinstance(5, Duck), issubclass(Quacker, Duck))
attempt(lambda: One.register(5))


class Late(ABC):
    @abstractmethod
    def run(self):
        return "base"


class Done(Late):
    def run(self):
        return super().run() + " done"


print(Done().run(), isinstance(Done(), ABC), type(Done).__name__)
