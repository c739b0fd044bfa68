"""A price that no single source can bend: five pages, each read by its own runner, and their median."""

from decimal import Decimal
from typing import Any

from cowboy_sdk import Actor, JobFailed, TaskGroup, actor, emit, public, runner, runtime

SOURCES = (
    "https://alpha.example.com/price/{}",
    "https://beta.example.com/price/{}",
    "https://gamma.example.com/price/{}",
    "https://delta.example.com/price/{}",
    "https://epsilon.example.com/price/{}",
)
# With fewer answers than these there is no price: two wrong ones among five do not move the median past the others.
QUORUM = 3

# What one answer may use here. Each is held until it has come, so tight limits let a small balance ask often.
RESUME = {"resume_cycles": 400_000, "resume_cells": 102_000}


@actor
class Oracle(Actor):
    @public
    @runner.continuation
    async def ask(self, symbol: str) -> int | None:
        """Asks all sources for the price of `symbol`. It is there a few blocks later: see `price`."""
        async with TaskGroup() as group:
            tasks = [group.create_task(runner.http(source.format(symbol), **RESUME)) for source in SOURCES]
        prices = []
        for task in tasks:
            cents = self._cents(task)
            if cents is not None:
                prices.append(cents)
        if len(prices) < QUORUM:
            emit("no_price", {"symbol": symbol, "answers": len(prices)})
            return None
        prices.sort()
        median = prices[len(prices) // 2]
        self.storage[f"price:{symbol}"] = {"cents": median, "answers": len(prices), "height": runtime.current_block()}
        emit("price", {"symbol": symbol, "cents": median, "answers": len(prices)})
        return median

    def _cents(self, task: Any) -> int | None:
        """A source's price in whole cents, None where it failed or answered nonsense."""
        try:
            return int(Decimal(task.result().json()["price"]) * 100)
        except (JobFailed, ValueError, KeyError, TypeError, ArithmeticError):
            return None

    @public
    def price(self, symbol: str) -> Any:
        """The last price in cents, from how many sources, and when."""
        return self.storage.get(f"price:{symbol}")
