"""Classes: attributes, methods, inheritance, super, class and static methods."""


class Animal:
    """A creature."""
    kingdom = "animalia"
    count = 0

    def __init__(self, name, legs=4):
        self.name = name
        self.legs = legs
        Animal.count += 1

    def speak(self):
        return f"{self.name} makes a sound"

    def describe(self):
        return f"{type(self).__name__} {self.name} with {self.legs} legs: {self.speak()}"

    @classmethod
    def named(cls, name):
        return cls(name)

    @staticmethod
    def helper(x, y=2):
        return x * y

    def __repr__(self):
        return f"{self.__class__.__name__}({self.name!r})"


class Dog(Animal):
    def speak(self):
        return super().speak() + ": woof"


class Bird(Animal):
    def __init__(self, name, wings=2):
        super().__init__(name, legs=2)
        self.wings = wings

    def speak(self):
        return "tweet"

    def describe(self):
        return super().describe() + f" and {self.wings} wings"


class Puppy(Dog):
    def speak(self):
        return super(Puppy, self).speak().upper()


for animal in (Animal("generic"), Dog("rex"), Bird("tweety"), Puppy.named("bit"), Bird.named("owl")):
    print(animal, animal.describe(), animal.kingdom, isinstance(animal, Dog), isinstance(animal, (Bird, str)), type(animal) is Dog)
print(Animal.count, Dog.count, Animal.helper(3), Dog("x").helper(1, y=5), issubclass(Puppy, Animal), issubclass(Dog, Bird), issubclass(Dog, (Bird, Animal)), Puppy.__mro__[1].__name__, [c.__name__ for c in Puppy.__mro__], Dog.__bases__[0].__name__, Dog.__name__, Dog.__qualname__, Animal.__doc__, Dog.__doc__)
rex = Dog("rex")
Dog.kingdom = "dogs"
print(rex.kingdom, Puppy.kingdom, Animal.kingdom, Bird.kingdom)
rex.kingdom = "mine"
print(rex.kingdom, Dog.kingdom)
del rex.kingdom
print(rex.kingdom, rex.__dict__, sorted(vars(rex)), hasattr(rex, "legs"), hasattr(rex, "wings"), getattr(rex, "wings", "none"), getattr(rex, "name"))
setattr(rex, "tricks", ["sit"])
rex.tricks.append("roll")
rex.bark = lambda times: "bark " * times
Dog.wag = lambda self: self.name + " wags"
print(rex.tricks, rex.bark(2), rex.wag(), Puppy("p").wag(), list(rex.__dict__))
delattr(rex, "tricks")
bound, unbound = rex.speak, Dog.speak
print(bound(), unbound(rex), Animal.speak(rex), bound.__self__ is rex, bound.__name__, bound.__func__ is unbound, bound == rex.speak, rex.speak is rex.speak)


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except Exception as error:
        print(type(error).__name__, error)


attempt(lambda: rex.missing)
attempt(lambda: Dog.missing)
attempt(lambda: Dog())
attempt(lambda: Dog("a", 1, 2))
attempt(lambda: rex.speak(1))
attempt(lambda: Dog.speak())
attempt(lambda: rex.helper())
attempt(lambda: rex())
attempt(lambda: rex + 1)
attempt(lambda: rex < rex)
attempt(lambda: rex[0])
attempt(lambda: len(rex))
attempt(lambda: iter(rex))
attempt(lambda: 1 in rex)
attempt(delattr, rex, "missing")
attempt(lambda: issubclass(rex, Dog))
attempt(lambda: isinstance(rex, 5))
attempt(lambda: object().x)
attempt(setattr, object(), "x", 1)
attempt(setattr, 5, "x", 1)
attempt(setattr, "s", "upper", 1)
attempt(lambda: Animal.__init__(5))
attempt(lambda: object(1))


class Empty:
    pass


class Outer:
    class Inner:
        value = 5

        def method(self):
            return Outer.Inner.value, type(self).__qualname__

    made = Inner()


empty, other = Empty(), Empty()
empty.x, other.x = 1, 2
print(empty.x, other.x, empty == other, empty == empty, empty != other, Outer.made.method(), Outer().Inner.__qualname__, bool(empty), Empty.__dict__.get("x", "no x"), isinstance(Empty, type), type(Empty).__name__, str(Empty), repr(Outer.Inner), callable(Empty))


class Chain:
    def __init__(self):
        self.log = []

    def step(self, value):
        self.log.append(value)
        return self

    def __str__(self):
        return ">".join(self.log)


class Base:
    def template(self):
        return self.prefix() + self.body() + getattr(self, "suffix", "")

    def prefix(self):
        return "<"

    def body(self):
        raise NotImplementedError("body")


class Filled(Base):
    suffix = ">"

    def body(self):
        return "filled"


print(Chain().step("a").step("b").step("c"), Filled().template())
attempt(Base().template)
print([cls().template() for cls in (Filled,)], {Dog: 1, Bird: 2}[Dog], sorted([Dog, Bird, Animal], key=lambda cls: cls.__name__)[0].__name__)
