def build(n):
    out = ""
    for i in range(n):
        out += "item " + str(i) + ", "
    return out


parts = []
for i in range(60000):
    parts.append(f"{i}:{i * i:x}")
print(len(build(60000)), len(";".join(parts)), "ff" in parts[255])
