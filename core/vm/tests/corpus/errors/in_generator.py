def numbers():
    yield 1
    raise LookupError("no more numbers")


for number in numbers():
    print(number)
