"""How the chain reaches a handler: names, payloads, permissions, modes, messages (A-92, A-93)."""

import pathlib

import pytest
from cowboy_sdk import (
    OWNER,
    SELF,
    ActorCallError,
    ActorNotFoundError,
    ActorRef,
    Address,
    BlockHeight,
    CodecError,
    PermissionDeniedError,
    PurityViolationError,
    actor,
    call,
    callable_by,
    codec,
    deferred,
    public,
    runtime,
    send,
)
from cowboy_sdk.testing import ALICE, BOB, Chain

ACTORS = pathlib.Path(__file__).parent / "actors"


@actor
class Shapes:
    @public
    def nothing(self):
        return "nothing"

    @public
    def whole(self, payload):
        return payload

    @public
    def pair(self, first, second=2):
        return [first, second]

    @public
    def rest(self, *items):
        return list(items)

    @public
    def typed(self, owner: Address, height: BlockHeight = None):
        return [type(owner).__name__, owner, type(height).__name__]

    @public
    def one(self, owner: Address):
        return [type(owner).__name__, owner]

    @public
    def number(self, n: int):
        return n

    @public
    def table(self, items: list):
        return items

    def own_business(self, payload):
        return payload + b"!"


SHAPES = [
    # handler, payload, result
    ("nothing", None, "nothing"),
    ("nothing", [1, 2], "nothing"),
    ("whole", None, None),
    ("whole", [1], [1]),
    ("whole", {"a": 1}, {"a": 1}),
    ("pair", [1], [1, 2]),
    ("pair", [1, 5], [1, 5]),
    ("pair", {"second": 7, "first": 3}, [3, 7]),
    ("rest", [1, 2], [[1, 2]]),
    ("typed", ["0x" + "12" * 20], ["Address", b"\x12" * 20, "NoneType"]),
    ("typed", {"owner": b"\x12" * 20, "height": 5}, ["Address", b"\x12" * 20, "BlockHeight"]),
    ("one", b"\x12" * 20, ["Address", b"\x12" * 20]),
    ("one", ["0x" + "12" * 20], ["Address", b"\x12" * 20]),
    ("number", 5, 5),
    ("number", [5], 5),
    ("table", [5], [5]),
]


@pytest.mark.parametrize("handler, payload, result", SHAPES)
def test_parameters(handler, payload, result):
    chain = Chain()
    # Bytes given to `execute` are the wire's own, so a payload that is bytes is encoded first.
    payload = codec.encode(payload) if isinstance(payload, bytes) else payload
    assert chain.execute(chain.deploy(Shapes), handler, payload) == result


REFUSED = [
    ("pair", None, TypeError, "first"),
    ("pair", 5, TypeError, "send a list"),
    ("pair", [1, 2, 3], TypeError, "3 values were sent, at most 2 are taken"),
    ("pair", {"third": 1}, TypeError, "third"),
    ("typed", ["0x12"], Exception, "40 hex digits"),
    ("whole", b"\xff", CodecError, "CBOR"),
    ("own_business", b"x", PermissionDeniedError, "deny-by-default"),
    ("unknown", None, ActorCallError, "this actor offers: nothing, number, one, pair, rest, table, typed, whole"),
    ("__init__", None, ActorCallError, "no handler"),
    ("_methods", None, ActorCallError, "no handler"),
    ("storage", None, ActorCallError, "no handler"),
]


@pytest.mark.parametrize("handler, payload, error, text", REFUSED)
def test_refusals(handler, payload, error, text):
    chain = Chain()
    actor_address = chain.deploy(Shapes)
    with pytest.raises(error, match=text):
        chain.execute(actor_address, handler, payload)


def test_several_parameters_refuse_raw_bytes():
    def pay(self, a, b):
        pass

    with pytest.raises(TypeError, match='decode="json"'):
        actor(type("Wrong", (), {"pay": public(decode="raw")(pay)}))


# Actors written as modules


def test_module_functions_stand_for_methods():
    chain = Chain()
    agent = chain.deploy(ACTORS / "wrapped.py")
    assert chain.execute(agent, "chat", "hi") == {"heard": "hi", "calls": 1}
    assert chain.execute(agent, "only_method") == "method"
    assert chain.execute(agent, "declared", 5) == {"declared": 5}


@pytest.mark.parametrize("name", ["helper", "_agent", "send", "cancel_timer", "codec", "Agent", "actor"])
def test_nothing_else_of_a_module_is_reachable_beside_an_actor_class(name):
    chain = Chain()
    agent = chain.deploy(ACTORS / "wrapped.py")
    with pytest.raises(ActorCallError, match="no handler"):
        chain.execute(agent, name, b"\x80")
    with pytest.raises(PermissionDeniedError):
        chain.execute(agent, "private")


def test_only_what_everybody_may_call_is_offered():
    """A stranger's mistake names no handler of the actor's own business, or of its owner."""

    class Shop:
        @public
        def price(self):
            return 1

        @callable_by(OWNER)
        def restock(self):
            return 2

        def _helper(self):
            return 3

        def on_timer(self, payload):
            return payload

    chain = Chain()
    shop = chain.deploy(actor(Shop))
    agent = chain.deploy(ACTORS / "wrapped.py")
    for address, offered in [(shop, "price"), (agent, "chat, declared, init, only_method")]:
        with pytest.raises(ActorCallError) as refused:
            chain.execute(address, "missing")
        assert str(refused.value).endswith(f"no handler 'missing'; this actor offers: {offered}"), str(refused.value)


def test_a_module_without_class_offers_its_functions():
    chain = Chain()
    agent = chain.deploy(ACTORS / "functions.py")
    assert [chain.execute(agent, "increment") for _ in range(3)] == [1, 2, 3]
    chain.execute(agent, "schedule")
    chain.mine(2)
    assert chain.world.account(bytes(agent)).storage[b"fired"] == b"ping"
    for name in ("_hidden", "runtime", "codec", "nope"):
        with pytest.raises(ActorCallError, match="this actor offers: handle_timer, increment, init, schedule, wrong"):
            chain.execute(agent, name)
    with pytest.raises(TypeError, match="must return bytes"):
        chain.execute(agent, "wrong")


# init


def test_init_needs_an_open_door_and_runs_once():
    """Decision 111: undecorated init is refused, and the second run is the chain's to refuse."""

    @actor
    class Closed:
        def init(self, payload):
            self.storage["x"] = 1

    chain = Chain()
    with pytest.raises(PermissionDeniedError, match="explicit permission"):
        chain.deploy(Closed)

    @actor
    class Opened:
        @public
        def init(self, payload):
            self.storage["x"] = 1

    address = chain.deploy(Opened)
    assert chain.storage(address)["__INITIALIZED__"] == 1
    with pytest.raises(PermissionDeniedError, match="only once"):
        chain.execute(address, "init", b"{}")


# Calls and messages between actors


@actor
class Shop:
    @public
    @deferred
    def buy(self, price):
        if runtime.get_value() < price:
            raise ValueError("too little")
        self.storage["sold"] = self.storage.get("sold", 0) + 1
        return "thanks"

    @public
    def fail(self):
        self.storage["sold"] = 1000
        raise ValueError("broken")

    @public
    def handle_message(self, message):
        self.storage["message"] = [self.sender, message, runtime.get_value()]

    @public
    def restock(self, item):
        self.storage["item"] = item


@actor
class Customer:
    @public
    @deferred
    def shop(self, target, price, value):
        return call(target, "buy", price, value=value)

    @public
    def careful(self, target):
        try:
            ActorRef(target).fail()
        except ActorCallError as problem:
            self.storage["caught"] = True
            return str(problem)

    @public
    def pure_payment(self, target):
        return call(target[0], "buy", 1, value=1)

    @public
    @deferred
    def write(self, target, message, value):
        send(target, message, value=value)
        send(target, "shoes", handler="restock")

    @public
    @deferred
    def write_and_fail(self, target):
        send(target, "never")
        raise ValueError("changed my mind")


def market():
    chain = Chain()
    shop, customer = chain.deploy(Shop), chain.deploy(Customer)
    chain.fund(customer, 100)
    return chain, shop, customer


def test_call_carries_value():
    chain, shop, customer = market()
    assert chain.execute(customer, "shop", [bytes(shop), 30, 30]) == "thanks"
    assert (chain.balance(shop), chain.balance(customer)) == (30, 70)


def test_a_failed_call_is_undone_and_the_caller_goes_on():
    """Decision 134: the callee's writes and the value are rolled back, the caller's stay."""
    chain, shop, customer = market()
    with pytest.raises(ActorCallError, match="too little"):
        chain.execute(customer, "shop", [bytes(shop), 30, 20])
    assert (chain.balance(shop), chain.balance(customer)) == (0, 100)
    assert "broken" in chain.execute(customer, "careful", codec.encode(bytes(shop)))
    assert chain.storage(shop) == {} and chain.storage(customer) == {"caught": True}


def test_errors_of_calls():
    chain, shop, customer = market()
    with pytest.raises(ActorNotFoundError):
        chain.execute(customer, "shop", [b"\x99" * 20, 1, 1])
    with pytest.raises(PurityViolationError):
        chain.execute(customer, "pure_payment", [bytes(shop)])


def test_messages_arrive_in_the_next_block():
    """A-93: payload, value and sender arrive; without a name at handle_message, else at the handler named."""
    chain, shop, customer = market()
    chain.execute(customer, "write", [bytes(shop), {"n": 1}, 25])
    assert chain.storage(shop) == {} and chain.balance(customer) == 75
    chain.mine()
    assert not chain.failures
    assert chain.storage(shop) == {"item": "shoes", "message": [bytes(customer), {"n": 1}, 25]}
    assert chain.balance(shop) == 25


def test_messages_of_a_failed_handler_are_never_sent():
    """A-90: writes and sends commit or vanish together."""
    chain, shop, customer = market()
    with pytest.raises(ValueError):
        chain.execute(customer, "write_and_fail", codec.encode(bytes(shop)))
    chain.mine(3)
    assert chain.storage(shop) == {}


def test_a_message_nobody_takes_gives_its_value_back():
    @actor
    class Deaf:
        @public
        def other(self):
            pass

    chain, _, customer = market()
    deaf = chain.deploy(Deaf)
    chain.execute(customer, "write", [bytes(deaf), "hello", 40])
    chain.mine()
    assert chain.balance(customer) == 100 and len(chain.failures) == 2


# Permissions


@actor
class Doors:
    @callable_by(ALICE, BOB.to_hex())
    def listed(self):
        return "in"

    @callable_by(SELF)
    def own(self):
        return "in"

    @public
    def through(self):
        return codec.decode(self.own())

    @public
    def open_through(self):
        return codec.decode(self.whole(codec.encode([1])))

    @public
    def whole(self, payload):
        return payload


def test_in_language_calls_keep_the_outer_caller():
    chain = Chain()
    doors = chain.deploy(Doors)
    assert chain.execute(doors, "listed", sender=BOB) == "in"
    with pytest.raises(PermissionDeniedError):
        chain.execute(doors, "through", sender=ALICE)
    assert chain.execute(doors, "open_through") == [1]
    with pytest.raises(ValueError, match="at least one principal"):
        callable_by()
    with pytest.raises(ValueError, match="decode must be one of"):
        public(decode="xml")(lambda self: None)
