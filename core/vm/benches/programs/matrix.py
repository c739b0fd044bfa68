def multiply(a, b):
    n = len(a)
    result = []
    for i in range(n):
        row = []
        line = a[i]
        for j in range(n):
            total = 0
            for k in range(n):
                total += line[k] * b[k][j]
            row.append(total)
        result.append(row)
    return result


n = 60
a = [[(i * j) % 10 for j in range(n)] for i in range(n)]
b = [[(i + j) % 10 for j in range(n)] for i in range(n)]
for _ in range(4):
    a = [[value % 1000 for value in row] for row in multiply(a, b)]
print(a[3][4], sum(sum(row) for row in a))
