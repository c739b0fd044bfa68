class Shape:
    def __init__(self, name):
        self.name = name
        self.count = 0

    def area(self):
        return 0

    def touch(self):
        self.count += 1
        return self.count


class Square(Shape):
    def __init__(self, side):
        super().__init__("square")
        self.side = side

    def area(self):
        return self.side * self.side


class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self.radius = radius

    def area(self):
        return 3 * self.radius * self.radius


total = 0


def run(n):
    total = 0
    for i in range(n):
        shape = Square(i % 10) if i % 2 else Circle(i % 7)
        total += shape.area()
        shape.touch()
        try:
            if i % 100 == 0:
                raise ValueError(i)
        except ValueError:
            total += 1
    return total


print(run(100000))
