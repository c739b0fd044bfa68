"""A variable that has no value yet, in a comprehension and beside it."""
def f():
    try:
        print([x + k for k in [1]])
    except NameError as e:
        print(type(e).__name__, e)
    try:
        print(x)
    except NameError as e:
        print(type(e).__name__, e)
    x = 1
f()
def g():
    try:
        print(list(x + k for k in [1]))
    except NameError as e:
        print(type(e).__name__, e)
    try:
        print(x)
    except NameError as e:
        print(type(e).__name__, e)
    x = 1
    return lambda: x
g()
def h():
    try:
        print([x for x in [1] if x > y], y)
    except NameError as e:
        print(type(e).__name__, e)
    for y in []: pass
h()
class C:
    try:
        print([z for k in [1]])
    except NameError as e:
        print(type(e).__name__, e)
def i():
    try:
        print([k for k in y])
    except NameError as e:
        print(type(e).__name__, e)
    y = 2
i()
