"""Runs an example's `test.json`: a list of steps, each one line of what a user does and sees.

Steps:

    {"deploy": file, "as": name, "init": value, "fund": amount, "from": account}
    {"execute": handler, "payload": value, "from": account, "value": amount, "on": name}
    {"query": handler, ...}
    {"transfer": amount, "to": account or actor}
    {"mine": blocks}
    {"answer": text or value, "embedded": bool}   the oldest waiting job's result: text, or a value as JSON text
    {"events": [[name, payload], ...]}          all events since the last such step
    {"balance": account or actor, "returns": n}

`execute`, `query` and `balance` check `returns` (equality), `at_least`, `length`, `more_than` (with `by`: exactly that much),
`fields` (some of a dict), `field_one_of`, or `fails` (an error's class or slug, or a part of its text); `remember` keeps the result under a name. In values, `{"$address": x}` stands for an account's or actor's
address as hex, `{"$height": n}` for the current height plus n, `{"$remembered": x}` for a kept result.
"""

import json
import pathlib

from cowboy_sdk.testing import ALICE, BOB, CAROL, Chain

ACCOUNTS = {"alice": ALICE, "bob": BOB, "carol": CAROL}


class FakeWorld:
    """The in-process chain as a scenario sees it."""

    def __init__(self):
        self.chain = Chain()
        for account in ACCOUNTS.values():
            self.chain.fund(account, 10**12)

    def accounts(self):
        return ACCOUNTS

    def deploy(self, path, init, sender):
        return self.chain.deploy(path, init=init, sender=sender)

    def execute(self, actor, handler, payload, sender, value):
        return self.chain.execute(actor, handler, payload, sender=sender, value=value)

    def query(self, actor, handler, payload, sender):
        return self.chain.query(actor, handler, payload, sender=sender)

    def transfer(self, to, amount):
        self.chain.fund(to, amount)

    def mine(self, blocks):
        self.chain.mine(blocks)
        assert not self.chain.failures, self.chain.failures

    def answer(self, result):
        waiting = self.chain.jobs()
        assert waiting, "no job waits"
        self.chain.answer(result, waiting[0])

    def height(self):
        return self.chain.height

    def balance(self, address):
        return self.chain.balance(address)

    def events(self):
        return self.chain.events()


class Scenario:
    def __init__(self, folder, world):
        self.folder = pathlib.Path(folder)
        self.world = world
        self.names = dict(world.accounts())
        self.remembered = {}
        self.seen_events = 0

    def run(self):
        steps = json.loads((self.folder / "test.json").read_text())["steps"]
        for number, step in enumerate(steps, 1):
            try:
                self.step(step)
            except AssertionError as problem:
                raise AssertionError(f"{self.folder.name}, step {number} {json.dumps(step)}: {problem}") from problem

    def step(self, step):
        sender = self.names[step.get("from", "alice")]
        if "deploy" in step:
            init = json.dumps(self.value(step["init"])).encode() if "init" in step else None
            actor = self.world.deploy(self.folder / step["deploy"], init, sender)
            self.names[step.get("as", "actor")] = actor
            if "fund" in step:
                self.world.transfer(actor, step["fund"])
        elif "answer" in step:
            result = self.value(step["answer"])
            self.world.answer(result if isinstance(result, str) else json.dumps(result, separators=(",", ":")))
        elif "mine" in step:
            self.world.mine(step["mine"])
        elif "transfer" in step:
            self.world.transfer(self.names[step["to"]], step["transfer"])
        elif "events" in step:
            events = [[name, plain(payload)] for name, payload in self.world.events()]
            new, self.seen_events = events[self.seen_events :], len(events)
            assert new == self.value(step["events"]), new
        elif "balance" in step:
            self.check(step, lambda: self.world.balance(self.names[step["balance"]]))
        else:
            actor = self.names[step.get("on", "actor")]
            payload = self.value(step.get("payload"))
            if "execute" in step:
                value = step.get("value", 0)
                self.check(step, lambda: self.world.execute(actor, step["execute"], payload, sender, value))
            else:
                self.check(step, lambda: self.world.query(actor, step["query"], payload, sender))

    def check(self, step, action):
        if "fails" in step:
            try:
                result = action()
            except Exception as problem:
                described = f"{type(problem).__name__} {getattr(problem, 'ERROR_SLUG', '')} {problem}"
                assert step["fails"] in described, described
                return
            raise AssertionError(f"returned {result!r}")
        result = plain(action())
        if "returns" in step:
            assert result == self.value(step["returns"]), result
        if "at_least" in step:
            assert result >= step["at_least"], result
        if "length" in step:
            assert len(result) == step["length"], len(result)
        if "more_than" in step:
            assert result == self.value(step["more_than"]) + step["by"], result
        for name, wanted in self.value(step.get("fields", {})).items():
            assert result[name] == wanted, result
        for name, options in self.value(step.get("field_one_of", {})).items():
            assert result[name] in options, result
        if "remember" in step:
            self.remembered[step["remember"]] = result

    def value(self, template):
        if isinstance(template, list):
            return [self.value(item) for item in template]
        if isinstance(template, dict):
            if "$address" in template:
                return self.names[template["$address"]].to_hex(checksum=False)
            if "$height" in template:
                return self.world.height() + template["$height"]
            if "$remembered" in template:
                return self.remembered[template["$remembered"]]
            return {key: self.value(item) for key, item in template.items()}
        return template


def plain(value):
    """`value` as JSON carries it: bytes and addresses as 0x-hex in lower case."""
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str) and len(value) == 42 and value.startswith("0x"):
        return value.lower()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value
