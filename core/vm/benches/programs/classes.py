"""Classes: inheritance, methods, properties, exceptions on the way."""


class Refused(Exception):
    pass


class Shape:
    count = 0

    def __init__(self, name):
        self.name = name
        Shape.count += 1

    def area(self):
        raise NotImplementedError

    def scaled(self, factor):
        if factor <= 0:
            raise Refused(self.name)
        return self.area() * factor


class Rectangle(Shape):
    def __init__(self, width, height):
        super().__init__("rectangle")
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height

    @property
    def wide(self):
        return self.width > self.height


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)
        self.name = "square"

    def area(self):
        return super().area() + 1


class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self.radius = radius

    def area(self):
        return 3 * self.radius * self.radius

    def __add__(self, other):
        return Circle(self.radius + other.radius)

    def __eq__(self, other):
        return self.radius == other.radius


total = refused = wide = 0
for number in range(60000):
    kind = number % 3
    shape = Rectangle(number % 10, 5) if kind == 0 else Square(number % 7) if kind == 1 else Circle(number % 5) + Circle(1)
    try:
        total += shape.scaled(number % 4 - 1)
    except Refused as error:
        refused += len(error.args[0])
    finally:
        total += 1
    if isinstance(shape, Rectangle) and shape.wide:
        wide += 1
print(total, refused, wide, Shape.count)
