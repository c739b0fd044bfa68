result = [3, 1, 2].sort()
result.append(4)
