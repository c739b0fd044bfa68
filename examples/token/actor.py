"""A fungible token as a plain actor: balances, allowances, and an owner who may mint."""

from typing import Any

from cowboy_sdk import OWNER, Actor, Address, actor, callable_by, emit, public
from cowboy_sdk.collections import StoredMap

BALANCES = StoredMap("balance:", default=0)
ALLOWANCES = StoredMap("allowance:", default=0)


@actor
class Token(Actor):
    @public(decode="json")
    def init(self, name: str = "Example", symbol: str = "EXT", supply: int = 1_000_000) -> None:
        """Names the token and gives the whole supply to the deployer."""
        self.storage["name"] = name
        self.storage["symbol"] = symbol
        self.storage["supply"] = 0
        self._mint(self.sender, supply)

    @public
    def transfer(self, to: Address, amount: int) -> None:
        """Moves `amount` of the caller's tokens to `to`."""
        self._move(self.sender, to, amount)

    @public
    def approve(self, spender: Address, amount: int) -> None:
        """Lets `spender` move up to `amount` of the caller's tokens. Replaces what was allowed before."""
        _check(amount)
        ALLOWANCES[bytes(self.sender) + bytes(spender)] = amount
        emit("Approval", {"owner": self.sender, "spender": spender, "amount": amount})

    @public
    def transfer_from(self, owner: Address, to: Address, amount: int) -> None:
        """Moves tokens of `owner`, who has allowed it."""
        pair = bytes(owner) + bytes(self.sender)
        allowed = ALLOWANCES[pair]
        _check(amount)
        if allowed < amount:
            raise ValueError(f"allowance is {allowed}, not {amount}")
        ALLOWANCES[pair] = allowed - amount
        self._move(owner, to, amount)

    @callable_by(OWNER)
    def mint(self, to: Address, amount: int) -> None:
        """Makes new tokens. Only the deployer may."""
        self._mint(to, amount)

    @public
    def burn(self, amount: int) -> None:
        """Destroys tokens of the caller."""
        self._take(self.sender, amount)
        self.storage["supply"] -= amount
        emit("Transfer", {"from": self.sender, "to": None, "amount": amount})

    @public
    def balance_of(self, owner: Address) -> int:
        return BALANCES[bytes(owner)]

    @public
    def allowance(self, owner: Address, spender: Address) -> int:
        return ALLOWANCES[bytes(owner) + bytes(spender)]

    @public
    def info(self) -> dict[str, Any]:
        return {key: self.storage[key] for key in ("name", "symbol", "supply")}

    def _mint(self, to: Address, amount: int) -> None:
        _check(amount)
        self.storage["supply"] += amount
        BALANCES[bytes(to)] += amount
        emit("Transfer", {"from": None, "to": to, "amount": amount})

    def _move(self, source: Address, to: Address, amount: int) -> None:
        self._take(source, amount)
        BALANCES[bytes(to)] += amount
        emit("Transfer", {"from": source, "to": to, "amount": amount})

    def _take(self, owner: Address, amount: int) -> None:
        _check(amount)
        balance = BALANCES[bytes(owner)]
        if balance < amount:
            raise ValueError(f"balance is {balance}, not {amount}")
        BALANCES[bytes(owner)] = balance - amount


def _check(amount: int) -> None:
    if type(amount) is not int or amount <= 0:
        raise ValueError("amount must be a positive integer")
