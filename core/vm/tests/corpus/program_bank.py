"""A program: accounts with rules, transactions that roll back, an audit log, and a report."""
from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
import hashlib
import json


class Kind(Enum):
    DEPOSIT = "deposit"
    WITHDRAW = "withdraw"
    TRANSFER = "transfer"


class BankError(Exception):
    slug = "bank"

    def __str__(self):
        return f"{self.slug}: {super().__str__()}"


class InsufficientFunds(BankError):
    slug = "insufficient_funds"

    def __init__(self, needed, available):
        super().__init__(f"needed {needed}, has {available}")
        self.missing = needed - available


class Frozen(BankError):
    slug = "frozen"


@dataclass
class Account:
    owner: str
    balance: int = 0
    frozen: bool = False
    history: list[tuple[Kind, int]] = field(default_factory=list)

    def change(self, kind, amount):
        if self.frozen:
            raise Frozen(self.owner)
        if self.balance + amount < 0:
            raise InsufficientFunds(-amount, self.balance)
        self.balance += amount
        self.history.append((kind, amount))


class Transaction:
    def __init__(self, bank):
        self.bank = bank

    def __enter__(self):
        self.saved = {name: (account.balance, len(account.history)) for name, account in self.bank.accounts.items()}
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            for name, (balance, length) in self.saved.items():
                account = self.bank.accounts[name]
                account.balance = balance
                del account.history[length:]
            self.bank.log("rollback", error=str(error))
        return isinstance(error, BankError)


class Bank:
    def __init__(self):
        self.accounts: dict[str, Account] = {}
        self.entries = []
        self.digest = "0" * 16

    def log(self, event, **details):
        entry = {"event": event, "n": len(self.entries), **details}
        self.digest = hashlib.sha256((self.digest + json.dumps(entry, sort_keys=True, separators=(",", ":"))).encode()).hexdigest()[:16]
        self.entries.append(entry)

    def open(self, owner, amount=0):
        account = self.accounts.setdefault(owner, Account(owner))
        if amount:
            account.change(Kind.DEPOSIT, amount)
        self.log("open", owner=owner, amount=amount)
        return account

    def transfer(self, source, target, amount, fee=0):
        with Transaction(self):
            self.accounts[target].change(Kind.TRANSFER, amount)
            self.accounts[source].change(Kind.TRANSFER, -amount - fee)
            self.log("transfer", source=source, target=target, amount=amount)
            return True
        return False

    @property
    def total(self):
        return sum(account.balance for account in self.accounts.values())

    def report(self):
        width = max(map(len, self.accounts))
        for name, account in sorted(self.accounts.items(), key=lambda item: -item[1].balance):
            yield f"{name:<{width}} {account.balance:>8,} {'frozen' if account.frozen else '':^8} {sum(amount for _, amount in account.history):+d}"


bank = Bank()
for owner, amount in (("ann", 1000), ("bob", 50), ("cleo", 20_000), ("dan", 0)):
    bank.open(owner, amount)
results = [bank.transfer("ann", "bob", 300), bank.transfer("bob", "ann", 5000), bank.transfer("cleo", "dan", 2500, fee=3)]
bank.accounts["dan"].frozen = True
results += [bank.transfer("cleo", "dan", 1), bank.transfer("ann", "cleo", 700), bank.transfer("ann", "cleo", 1)]
print(results, bank.total, bank.digest)
try:
    bank.transfer("ann", "nobody", 1)
except KeyError as error:
    print("KeyError", error, bank.total)
print(*bank.report(), sep="\n")
print(*(json.dumps(entry) for entry in bank.entries), sep="\n")
per_kind = defaultdict(lambda: [0, 0])
for account in bank.accounts.values():
    for kind, amount in account.history:
        per_kind[kind.name][0] += 1
        per_kind[kind.name][1] += amount
print(dict(per_kind), [entry["n"] for entry in bank.entries if entry["event"] == "rollback"], bank.accounts["ann"])
for number in range(200):
    names = sorted(bank.accounts)
    source, target = names[number % 4], names[(number * 7 + 1) % 4]
    if source != target:
        bank.transfer(source, target, (number * 37) % 400)
print(bank.total, bank.digest, {name: account.balance for name, account in bank.accounts.items()})
