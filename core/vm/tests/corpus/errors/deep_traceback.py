def a():
    b()


def b():
    c()


def c():
    (lambda: [][0])()


a()
