try:
    [].pop()
except IndexError as error:
    raise ValueError("converted") from error
