"""Abstract base classes."""


def abstractmethod(function):
    """Marks a method that concrete subclasses must override."""
    function.__isabstractmethod__ = True
    return function


class abstractclassmethod(classmethod):
    """An abstract class method. Deprecated in favour of @classmethod over @abstractmethod."""

    __isabstractmethod__ = True

    def __init__(self, function):
        function.__isabstractmethod__ = True
        super().__init__(function)


class abstractstaticmethod(staticmethod):
    """An abstract static method. Deprecated in favour of @staticmethod over @abstractmethod."""

    __isabstractmethod__ = True

    def __init__(self, function):
        function.__isabstractmethod__ = True
        super().__init__(function)


class abstractproperty(property):
    """An abstract property. Deprecated in favour of @property over @abstractmethod."""

    __isabstractmethod__ = True


def _is_abstract(value):
    if getattr(value, "__isabstractmethod__", False):
        return True
    # Descriptors are as abstract as the functions in them.
    if isinstance(value, property):
        return any([getattr(f, "__isabstractmethod__", False) for f in (value.fget, value.fset, value.fdel)])
    if isinstance(value, (classmethod, staticmethod)):
        return getattr(value.__func__, "__isabstractmethod__", False)
    return False


class ABCMeta(type):
    """The metaclass of abstract base classes: it refuses to make instances while abstract methods remain."""

    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        abstract = [key for key, value in namespace.items() if _is_abstract(value)]
        for base in bases:
            for key in getattr(base, "__abstractmethods__", ()):
                if key not in abstract and _is_abstract(getattr(cls, key, None)):
                    abstract.append(key)
        cls.__abstractmethods__ = frozenset(abstract)
        cls._abc_registry = []
        return cls

    def __call__(cls, *args, **kwargs):
        if cls.__abstractmethods__:
            names = sorted(cls.__abstractmethods__)
            plural = "s" if len(names) > 1 else ""
            raise TypeError(f"Can't instantiate abstract class {cls.__name__} with abstract method{plural} {', '.join(names)}")
        return super().__call__(*args, **kwargs)

    def register(cls, subclass):
        """Declares `subclass` a virtual subclass. Returns it, so that it can decorate a class."""
        if not isinstance(subclass, type):
            raise TypeError("Can only register classes")
        if _inherits(subclass, cls):
            return subclass
        if _inherits(cls, subclass):
            raise RuntimeError("Refusing to create an inheritance cycle")
        # A virtual subclass of this class is one of its abstract bases, too.
        for base in cls.__mro__:
            if isinstance(base, ABCMeta):
                base._abc_registry.append(subclass)
        # What it matches in a `match` statement goes with it.
        for base in cls.__mro__:
            for mark in ("__match_sequence__", "__match_mapping__"):
                if mark in base.__dict__ and subclass.__module__ != "builtins":
                    setattr(subclass, mark, True)
        return subclass

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass):
        if not isinstance(subclass, type):
            raise TypeError("issubclass() arg 1 must be a class")
        answer = cls.__subclasshook__(subclass)
        if answer is not NotImplemented:
            return answer
        if cls in subclass.__mro__:
            return True
        for registered in cls._abc_registry:
            if _inherits(subclass, registered):
                return True
        return False


def _inherits(subclass, cls):
    """issubclass() as abstract classes ask it among themselves: a metaclass may be stricter with everybody else."""
    check = getattr(type(cls), "_inner_subclasscheck", None)
    return issubclass(subclass, cls) if check is None else check(cls, subclass)


class ABC(metaclass=ABCMeta):
    """A class made abstract by inheritance."""

    __slots__ = ()


def get_cache_token():
    return 0


def update_abstractmethods(cls):
    """Computes the abstract methods again after methods were added to the class."""
    if not hasattr(cls, "__abstractmethods__"):
        return cls
    names = []
    for base in cls.__mro__:
        for key in base.__dict__:
            if key not in names and _is_abstract(getattr(cls, key, None)):
                names.append(key)
    cls.__abstractmethods__ = frozenset(names)
    return cls
