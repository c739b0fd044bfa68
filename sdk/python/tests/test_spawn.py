"""Children: deployed by their parent, bound to it, undone when their init fails (A-104)."""

import pytest
from cowboy_sdk import ActorCallError, PurityViolationError, codec, derive_actor_address
from cowboy_sdk._keccak import keccak256
from cowboy_sdk.spawn import encode_manifest
from cowboy_sdk.testing import Chain, to_address_bytes

CHILD = """
from cowboy_sdk import actor, public, OWNER, callable_by

@actor
class Child:
    @public
    def init(self, payload):
        if payload == b"bad":
            raise ValueError("no such child")
        self.storage["note"] = payload.decode()

    @callable_by(OWNER)
    def note(self):
        return self.storage["note"]
"""

PARENT = """
from cowboy_sdk import actor, call, deferred, public, spawn, ActorCallError

@actor
class Parent:
    @public
    @deferred
    def breed(self, code, note):
        child = spawn(code, b"salt", "init", note, [("storage.kv", {"max_bytes": 100})], 5)
        return [child, call(child, "note")]

    @public
    @deferred
    def fail(self, code):
        try:
            spawn(code, b"other", "init", b"bad")
        except ActorCallError as problem:
            return str(problem)

    @public
    def purely(self, code):
        spawn(code)
"""


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    chain = Chain()
    chain.parent = chain.deploy(tmp_path / "parent.py")
    chain.fund(chain.parent, 100)
    return chain


def test_a_child_belongs_to_its_parent(chain):
    child, note = chain.execute(chain.parent, "breed", {"code": CHILD, "note": b"hello"})
    assert note == "hello"
    expected = derive_actor_address(chain.parent, b"salt", keccak256(CHILD.encode()))
    assert to_address_bytes(child) == to_address_bytes(expected)
    assert chain.balance(child) == 5
    assert chain.world.account(to_address_bytes(child)).owner == to_address_bytes(chain.parent)
    with pytest.raises(ActorCallError, match="address_taken"):
        chain.execute(chain.parent, "breed", {"code": CHILD, "note": b"again"})


def test_a_child_whose_init_fails_was_never_born(chain):
    assert "no such child" in chain.execute(chain.parent, "fail", CHILD)
    assert all(account.balance >= 0 for account in chain.world.accounts.values())
    assert chain.balance(chain.parent) == 100


def test_spawning_is_no_pure_work(chain):
    with pytest.raises(PurityViolationError):
        chain.execute(chain.parent, "purely", CHILD)


@pytest.mark.parametrize(
    "given, expected",
    [
        ([], []),
        (["timer.schedule", "storage.kv"], [{"id": "storage.kv"}, {"id": "timer.schedule"}]),
        ([("storage.kv", {"max_bytes": 5})], [{"id": "storage.kv", "params": {"max_bytes": 5}}]),
        ([{"id": "exec.spawn"}], [{"id": "exec.spawn"}]),
    ],
)
def test_manifests_are_sorted(given, expected):
    assert codec.decode(encode_manifest(given)) == {"entitlements": expected}
    assert encode_manifest(b"\xa0") == b"\xa0"
