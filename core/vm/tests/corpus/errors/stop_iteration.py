def generator():
    yield 1
    raise StopIteration


print(list(generator()))
