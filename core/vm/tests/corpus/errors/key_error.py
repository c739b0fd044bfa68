table = {"a": 1}
print(table["a"])
table["missing key"]
