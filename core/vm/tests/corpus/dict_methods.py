"""Dicts: order, methods, views, merging, comprehension, changes during iteration, errors."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


ages = {"ann": 30, "bob": 25, 3: "three", (1, 2): [1], None: None, 1.5: True}
print(ages, len(ages), ages["ann"], ages[1, 2], ages.get("bob"), ages.get("zoe"), ages.get("zoe", 0), "ann" in ages, "zoe" not in ages, None in ages)
ages["zoe"] = 41
ages["ann"] = 31
del ages["bob"]
ages["bob"] = 26
print(list(ages), list(ages.keys()), list(ages.values()), list(ages.items()), list(reversed(ages)))
print(ages.pop("zoe"), ages.pop("none", "default"), ages.popitem(), ages.setdefault("new", []), ages.setdefault("ann", 5), ages)
ages["new"].append(1)
print(ages.setdefault("new"), ages.setdefault("empty"), ages.copy() == ages, ages.copy() is ages)
for key, value in ages.items():
    print(key, value, end="; ")
print()
print(dict(), dict(a=1, b=2), dict([("x", 1), ("y", 2)]), dict({"k": "v"}, z=3), dict(zip("ab", range(2))), dict(["ab", "cd"]), dict.fromkeys("abc"), dict.fromkeys([1, 2], 0), {**{"a": 1}, "b": 2, **{"a": 3}})
left, right = {"a": 1, "b": 2}, {"b": 3, "c": 4}
print(left | right, right | left, left == {"b": 2, "a": 1}, left != right, left)
left |= right
left |= [("d", 5)]
left.update({"e": 6})
left.update(f=7)
left.update([("g", 8)], h=9)
print(left, {1: "int", 1.0: "float", True: "bool"}, {"x": 1, "x": 2})
print({number: number**2 for number in range(5)}, {word: len(word) for word in ("a", "bb") if word != "c"}, {value: key for key, value in right.items()}, {x: y for x in "ab" for y in range(2)})

keys, values, items = right.keys(), right.values(), right.items()
print(keys, values, items, len(keys), "b" in keys, 4 in values, ("c", 4) in items, ("c", 5) in items)
right["z"] = 0
print(list(keys), list(values), list(items), sorted(keys & {"b", "q"}), sorted(keys | {"q"}), sorted(keys - {"b"}), sorted(keys ^ {"b", "q"}), keys == {"b", "c", "z"}, sorted(items & {("b", 3)}), keys.isdisjoint(["q"]), list(reversed(items)))
print(keys >= {"b"}, keys < {"b", "c", "z", "w"}, items == {"b": 3, "c": 4, "z": 0}.items(), values == right.values(), type(keys).__name__, type(values).__name__, type(items).__name__)

attempt(lambda: right["missing"])
attempt(lambda: {}[5])
attempt(lambda: {}[(1, "a")])
attempt(right.pop, "missing")
attempt({}.popitem)
attempt(lambda: {[]: 1})
attempt(lambda: {}[{}])
attempt(right.get)
attempt(dict, 5)
attempt(dict, [1])
attempt(dict, [(1, 2, 3)])
attempt(dict, ["abc"])
attempt(right.update, 5)
attempt(lambda: {} < {})
attempt(lambda: {} | [])
attempt(lambda: {} + {})
attempt(hash, {})
attempt(right.__delitem__, "missing")
attempt(lambda: right.keys()[0])
attempt(right.setdefault, [])


def change(action):
    table = {1: "a", 2: "b", 3: "c"}
    try:
        for key in table:
            action(table, key)
    except RuntimeError as error:
        print(error)
    print(table)


change(lambda table, key: table.pop(key))
change(lambda table, key: table.update({key + 10: 0}))
change(lambda table, key: table.update({key: "changed"}))
change(lambda table, key: table.clear())
for key in list(right):
    if key > "b":
        del right[key]
print(right)
counts = {}
for letter in "mississippi":
    counts[letter] = counts.get(letter, 0) + 1
groups = {}
for word in "apple avocado bean cherry corn".split():
    groups.setdefault(word[0], []).append(word)
print(counts, groups, sorted(counts.items(), key=lambda item: (-item[1], item[0])), max(counts, key=counts.get), sum(counts.values()))
nested = {"a": {"b": {"c": [1, {"d": 2}]}}}
nested["a"]["b"]["c"][1]["d"] += 5
print(nested, nested["a"]["b"]["c"][1]["d"], str({"quote'": 'dou"ble', 1: {}}), bool({}), bool({0: 0}))
many = {number: str(number) for number in range(500)}
for number in range(0, 500, 3):
    del many[number]
many.update((number, "back") for number in range(0, 30, 3))
print(len(many), list(many)[:5], list(many)[-12:], many[3], 6 in many, 33 in many)
it = iter({"a": 1, "b": 2})
print(next(it), next(it), next(it, "done"), next(iter({}), "none"))
