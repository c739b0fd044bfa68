def forever(n):
    return forever(n + 1)


try:
    forever(0)
except RecursionError as error:
    print(type(error).__name__, str(error)[:32])
raise SystemError("after the recursion")
