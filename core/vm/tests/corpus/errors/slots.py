class Slotted:
    __slots__ = ("x",)


Slotted().y = 1
