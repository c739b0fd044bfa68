# Uses of `typing`, compared with CPython's own module.
import typing
from typing import (
    TYPE_CHECKING, Annotated, Any, Callable, ClassVar, Dict, Final, Generic, Iterable, List, Literal, Mapping, NamedTuple, NewType,
    Optional, Protocol, Sequence, Set, Tuple, Type, TypedDict, TypeVar, Union, cast, final, get_args, get_origin, get_type_hints,
    overload, runtime_checkable,
)


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


T = TypeVar("T")
K = TypeVar("K", bound=int)
V = TypeVar("V", covariant=True)
print(Any, Optional[int], Union[int, str], Union[int, str, None], List[int], Dict[str, List[int]], Tuple[int, ...], Tuple[()], Set[T], T, V)
print(Callable[[int, str], bool], Callable[..., int], Callable[[], None], Type[int], Literal[1, "a", None], Annotated[int, "m"], ClassVar[int], Final[str])
print(Union[int, int], Union[int, Union[str, int]], Optional[Optional[int]], Union[int], Optional[int] == Union[None, int], List[int] == List[int], List[int] == List[str])
print(get_origin(List[int]), get_args(Dict[str, int]), get_origin(Optional[int]), get_args(Optional[int]), get_args(Callable[[int], str]), get_origin(int), get_args(int), get_origin(list[int]), get_args(tuple[int, str]))
print(List, Dict, Callable, Optional, Union, Sequence, TYPE_CHECKING, hash(List[int]) == hash(List[int]), {Optional[int]: 1}[Optional[int]])
print(List[T][int], Dict[K, List[T]][int, str], Optional[T][str], isinstance([], List), isinstance({}, Mapping), isinstance((), Sequence), issubclass(list, Iterable))
print(int | None, Optional[int] | str, List[int] | None, "Name" in str(List["Name"]))
attempt(lambda: List())
attempt(lambda: Union[()])
attempt(lambda: isinstance(5, List[int]))
attempt(lambda: Dict[int])
attempt(lambda: List[int][str])
attempt(lambda: Optional())
attempt(lambda: TypeVar("A", int))
print(isinstance(5, Union[int, str]), isinstance(5.5, Optional[int]))


class Stack(Generic[T]):
    def __init__(self):
        self.items: List[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)

    def pop(self) -> T:
        return self.items.pop()


s = Stack[int]()
s.push(5)
print(s.pop(), Stack[int], Stack.__parameters__, Stack.__mro__[1].__name__, type(s).__name__)


class Pair(Stack[T], Generic[T, K]):
    pass


print(Pair.__parameters__, Pair[str, int])
attempt(lambda: Pair[int])


class IntStack(Stack[int]):
    pass


print(IntStack.__mro__[1].__name__, IntStack().items)


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None:
        ...


class Door:
    def close(self):
        return "closed"


class Explicit(Closes):
    def other(self):
        return 1


print(isinstance(Door(), Closes), isinstance(5, Closes), issubclass(Door, Closes), Explicit().other(), isinstance(Explicit(), Closes))
attempt(lambda: Closes())


class Silent(Protocol):
    name: str


attempt(lambda: isinstance(5, Silent))


class Employee(NamedTuple):
    """A worker."""

    name: str
    id: int = 3

    def label(self) -> str:
        return f"{self.name}#{self.id}"


e = Employee("Guido")
print(e, e.label(), Employee.__annotations__, e._replace(id=5), e == ("Guido", 3), Employee._field_defaults, Employee.__doc__, Employee._fields)
attempt(lambda: Employee())
Point = NamedTuple("Point", [("x", int), ("y", int)])
print(Point(1, 2), Point(1, y=3).x)


class Movie(TypedDict):
    title: str
    year: int


class Longer(Movie, total=False):
    minutes: int


m: Movie = {"title": "x", "year": 1}
print(Movie(title="a", year=2), m, Movie.__annotations__, sorted(Longer.__required_keys__), sorted(Longer.__optional_keys__), Movie.__total__, Longer.__total__, type(Movie(title="x", year=3)).__name__)
UserId = NewType("UserId", int)
print(UserId(5) + 1, UserId.__name__, cast(str, 5))


@overload
def f(x: int) -> int:
    ...


@overload
def f(x: str) -> str:
    ...


def f(x):
    return x


@final
class Leaf:
    pass


def annotated(a: int, b: "str" = "", *, c: Optional[int] = None) -> List[int]:
    return []


print(f(1), f("a"), Leaf().__class__.__name__, annotated.__annotations__["a"], get_type_hints(Leaf))


class Config:
    a: int = 1
    b: Annotated[str, "x"] = "y"


class SubConfig(Config):
    c: float = 1.0


print(get_type_hints(SubConfig), get_type_hints(Config, include_extras=True))
print(Annotated[int, 1].__metadata__, get_args(Annotated[int, 1, 2]), get_origin(Annotated[int, 1]) is Annotated, get_args(Literal[1, 2]))


class Registry(Dict[str, int]):
    pass


r = Registry(a=1)
print(r, isinstance(r, dict), Registry.__mro__[1].__name__)
print(typing.AnyStr, typing.Text is str, isinstance(3, typing.SupportsInt), isinstance(3, typing.SupportsIndex))
