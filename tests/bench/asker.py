"""Asks for jobs of a tool that answers at once, and counts the answers: what is measured is the market."""

from cowboy_sdk import Address, actor, callable_by, pure, public, runner, runtime


@actor
class Asker:
    @public
    def ask(self, count: int, runners: int) -> int:
        """Sends a number of jobs, each for a number of runners."""
        sent = self.storage.get("sent", 0)
        terms = {
            "verification": {"mode": "majority_vote", "runners": runners},
            "max_price": 2_000_000,
            "timeout_blocks": 300,
            "resume_cycles": 200_000,
            "resume_cells": 102_000,
        }
        for number in range(sent, sent + count):
            runner.send_message("custom", number.to_bytes(8, "big"), "answered", ["echo", f"answer {number}"], terms)
        self.storage["sent"] = sent + count
        return sent + count

    @callable_by(Address.RESULT_VERIFIER)
    def answered(self, answer) -> None:
        """Counts an answer, and notes when the last one came."""
        name = "answers" if answer["status"] == "ok" else "failures"
        self.storage[name] = self.storage.get(name, 0) + 1
        self.storage["last"] = runtime.current_block()

    @pure
    @public
    def count(self) -> list:
        """Answers, failures, and the height of the last one."""
        return [self.storage.get("answers", 0), self.storage.get("failures", 0), self.storage.get("last", 0)]
