def count(n):
    for i in range(n):
        yield i


def squares(items):
    for item in items:
        yield item * item


def tree(depth):
    if depth == 0:
        yield 1
        return
    yield from tree(depth - 1)
    yield from tree(depth - 1)


print(sum(squares(count(300000))), sum(1 for _ in tree(13)), sum(x for x in range(300000) if x % 3))
