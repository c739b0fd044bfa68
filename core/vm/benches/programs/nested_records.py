"""Nested dicts and lists: a ledger of records changed in place, grouped and summed."""


def build(count):
    ledger = {"accounts": {}, "log": [], "totals": {"in": 0, "out": 0}}
    for number in range(count):
        ledger["accounts"][f"acct{number}"] = {"balance": 1000 + number % 50, "tags": ["new"], "limits": {"day": 100, "month": 2000}, "history": []}
    return ledger


def run(ledger, turns):
    accounts, names = ledger["accounts"], list(ledger["accounts"])
    size = len(names)
    for turn in range(turns):
        source, target = accounts[names[turn * 7 % size]], accounts[names[(turn * 13 + 1) % size]]
        amount = turn % 90 + 1
        if source["limits"]["day"] >= amount and source["balance"] >= amount:
            source["balance"] -= amount
            target["balance"] += amount
            source["history"].append({"to": names[(turn * 13 + 1) % size], "amount": amount})
            ledger["totals"]["out"] += amount
            if len(source["history"]) > 5:
                source["history"].pop(0)
            if "new" in target["tags"]:
                target["tags"].remove("new")
                target["tags"].append("seen")
        else:
            ledger["log"].append((turn, "refused"))


def summary(ledger):
    by_tag = {}
    for name, account in ledger["accounts"].items():
        for tag in account["tags"]:
            entry = by_tag.setdefault(tag, {"count": 0, "sum": 0})
            entry["count"] += 1
            entry["sum"] += account["balance"] + sum(item["amount"] for item in account["history"])
    return by_tag


ledger = build(600)
run(ledger, 250000)
print(summary(ledger), ledger["totals"], len(ledger["log"]), sum(account["balance"] for account in ledger["accounts"].values()))
