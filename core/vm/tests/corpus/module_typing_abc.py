"""typing and abc: what a program sees of hints at run time, protocols, abstract methods."""
from abc import ABC, ABCMeta, abstractmethod
import typing
from typing import Any, Callable, ClassVar, Dict, Final, Generic, Iterable, List, Literal, NamedTuple, NewType, Optional, Protocol, Tuple, TypedDict, TypeVar, Union, cast, get_type_hints, overload, runtime_checkable


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


T = TypeVar("T")
UserId = NewType("UserId", int)


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: List[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


class Employee(NamedTuple):
    """A row."""
    name: str
    salary: int = 100

    def raised(self):
        return self._replace(salary=self.salary + 1)


class Movie(TypedDict):
    title: str
    year: int


class Partial(TypedDict, total=False):
    note: str


@runtime_checkable
class Speaks(Protocol):
    def speak(self) -> str: ...


class Duck:
    def speak(self):
        return "quack"


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    return x * 2


def hinted(a: int, b: Optional[str] = None, *c: float, **d: Any) -> Union[int, None]:
    return a


print(Stack[int]().push(1).push(2).items, UserId(5), Employee("Ann"), Employee("Bob", 5).raised(), Employee._fields, Movie(title="t", year=1), isinstance(Movie(title="t", year=1), dict), isinstance(Duck(), Speaks), isinstance(5, Speaks), double(2), double("a"), cast(int, "text"), get_type_hints(hinted)["a"], hinted(1), Partial(note="n"))
print(List[int], Dict[str, int], Optional[int], Union[int, str], Tuple[int, ...], Callable[[int], str], Any, Literal["a", 1], ClassVar[int], Final, T, Iterable[T], Optional[List["x"]] is not None, typing.TYPE_CHECKING, List, Union[int, int], Optional[None] if False else "")


class Shape(ABC):
    @abstractmethod
    def area(self):
        """The area."""

    @property
    @abstractmethod
    def name(self):
        ...

    def describe(self):
        return f"{self.name} of {self.area()}"

    @classmethod
    def __subclasshook__(cls, other):
        return NotImplemented


class Square(Shape):
    name = "square"

    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Half(Shape):
    def area(self):
        return super().area()


class Registered(metaclass=ABCMeta):
    pass


Registered.register(int)
print(Square(3).describe(), isinstance(Square(1), Shape), issubclass(Half, Shape), sorted(Half.__abstractmethods__), isinstance(5, Registered), issubclass(bool, Registered), isinstance("s", Registered), Square.__abstractmethods__ == frozenset())
attempt(Shape)
attempt(Half)
attempt(lambda: Speaks())


class Duckish(ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return hasattr(other, "speak") or NotImplemented


class Interface(ABC):
    @staticmethod
    @abstractmethod
    def make(): ...

    @classmethod
    @abstractmethod
    def build(cls): ...


print(isinstance(Duck(), Duckish), issubclass(int, Duckish), sorted(Interface.__abstractmethods__))
attempt(Interface)
