"""The rest of the SDK: storage, collections, patterns, randomness, errors, types (A-102, A-103, A-136)."""

import ast
import hashlib
import hmac
import pathlib

import cowboy_sdk
import pytest
from cowboy_sdk import (
    Address,
    AddressError,
    CowboyError,
    LoopBoundExceeded,
    PermissionDeniedError,
    ReentrancyError,
    TokenId,
    TokenIdError,
    Verify,
    actor,
    bounded_loop,
    check_iteration,
    codec,
    deferred,
    derive_actor_address,
    errors,
    mock_host,
    ordered_set,
    patterns,
    public,
    pvm_random,
    pvm_time,
    reentrancy_guard,
    runner,
    runtime,
    signing,
    system,
    vrf,
)
from cowboy_sdk._bounds import CALLBACK_MAX, CALLBACK_MIN, RUNNERS_MAX
from cowboy_sdk._keccak import keccak256
from cowboy_sdk.actor_ref import derive_actor_address_cip6, derive_actor_address_grouped
from cowboy_sdk.collections import StoredLog, StoredMap
from cowboy_sdk.mock import volumes
from cowboy_sdk.mock.protocol import REFUSALS
from cowboy_sdk.mock.world import refusal
from cowboy_sdk.storage import STORAGE
from cowboy_sdk.testing import Chain


@pytest.fixture(autouse=True)
def fresh():
    mock_host.reset()


SLUGS = {
    # background of CIP-6: class -> slug
    "DeterminismError": "E1101", "CycleLimitExceeded": "E1201", "LoopBoundExceeded": "E1201", "RunnerTimeoutError": "E1201",
    "CaptureTypeError": "E1202", "ContinuationLimitError": "E1202", "AddressError": "E1202", "UncarriedNameError": "E1202",
    "ContinuationNotFoundError": "E1203", "CallDepthExceeded": "E1205", "ReentrancyError": "E1205",
    "PurityViolationError": "E1205", "StateConflictError": "E1206", "ContinuationCorruptedError": "E1206",
    "ActorCallError": "E1206", "ContinuationSizeLimitError": "E1208", "ContinuationCountLimitError": "E1208",
    "CodecError": "E1213", "ActorNotFoundError": "E1220", "PermissionDeniedError": "E1230", "TokenIdError": "E1417",
    "RunnerValidationError": "E1604", "DeterministicValidationError": "E1610", "JobFailed": "E1621",
}


def test_every_error_has_its_slug_and_words():
    classes = {name: value for name, value in vars(errors).items() if isinstance(value, type)}
    for name, slug in SLUGS.items():
        assert classes[name].ERROR_SLUG == slug
    for name, cls in classes.items():
        assert issubclass(cls, CowboyError)
        if cls is not CowboyError:
            assert cls.why and cls.fix and 1 <= cls.HOST_ERROR_CODE <= 8, name
    assert errors.JobFailed("retries_exhausted", "0x1", 3).attempts == 3


# Storage


def test_storage_is_a_dict_of_values():
    STORAGE["a"] = {"n": [1, None, b"x"]}
    STORAGE[b"b"] = 5
    assert STORAGE["a"] == {"n": [1, None, b"x"]} and STORAGE["b"] == 5
    assert "a" in STORAGE and "c" not in STORAGE and STORAGE["c"] is None
    assert STORAGE.get("c", 7) == 7
    del STORAGE["a"]
    STORAGE.delete("a")
    assert "a" not in STORAGE
    STORAGE.set_raw("raw", b"\xff")
    assert STORAGE.get_raw("raw") == b"\xff"
    for action in (lambda: STORAGE["__INITIALIZED__"], lambda: STORAGE.delete(b"__INITIALIZED__")):
        with pytest.raises(ValueError, match="SDK-reserved"):
            action()


def test_prefixes_are_listed_in_key_order():
    for name in ("user:b", "user:a", "user:c", "other"):
        STORAGE[name] = name.upper()
    STORAGE["user:" + "x" * 60] = "too long to be found"
    assert STORAGE.items("user:") == [(b"user:a", "USER:A"), (b"user:b", "USER:B"), (b"user:c", "USER:C")]
    assert STORAGE.items("user:", limit=2) == [(b"user:a", "USER:A"), (b"user:b", "USER:B")]
    assert runtime.scan_state_prefix(b"oth") == [(b"other", codec.encode("OTHER"))]
    assert STORAGE.items("nothing") == []


def test_collections():
    table = StoredMap("t:", default=0)
    table["a"] += 5
    table[b"\x01"] = 2
    assert (table["a"], table["z"], "a" in table, "z" in table, table.get("z")) == (5, 0, True, False, None)
    assert table.items() == [(b"\x01", 2), (b"a", 5)]
    del table["a"]
    assert table["a"] == 0
    address, token = Address(b"\x07" * 20), TokenId(b"\x08" * 32)
    table[address] += 9
    table[token] = 3
    assert (table[address], table[bytes(address)], address in table, table.get(token)) == (9, 9, True, 3)
    assert table.items() == [(b"\x01", 2), (bytes(address), 9), (bytes(token), 3)]
    STORAGE[address] = 4
    assert STORAGE[bytes(address)] == 4 and STORAGE.get(address) == 4 and str(address) not in STORAGE
    del table[address]
    assert table[address] == 0
    for wrong in (5, None, 1.5, ("a",)):
        with pytest.raises(TypeError, match="storage keys are str, bytes, Address or TokenId, not"):
            table[wrong]
    log = StoredLog("log", limit=3)
    for number in range(5):
        log.append({"n": number})
    assert log.total() == 5 and log.entries() == [{"n": 2}, {"n": 3}, {"n": 4}]
    assert StoredLog("empty", limit=3).entries() == []


# Patterns


def test_once():
    """A-103: an order is carried out once, however often it arrives."""
    assert [patterns.once("order-1"), patterns.once("order-1"), patterns.once(b"order-2")] == [True, False, True]
    patterns.forget("order-1")
    assert patterns.once("order-1")


@actor
class Asker:
    @public
    @deferred
    def ask(self, target, question):
        return patterns.request(
            target, question, answer="answered", timeout_blocks=5, on_timeout="expired", context={"question": question}
        )

    @public
    def answered(self, message):
        body, context = patterns.take_answer(message)
        self.storage["answer"] = [context["question"], body]

    def expired(self, message: dict):
        self.storage["expired"] = patterns.take_timeout(codec.decode(message))


@actor
class Oracle:
    @public
    @deferred
    def handle_message(self, message):
        if message["body"] != "silence":
            patterns.reply(self.sender, message, message["body"].upper())

    @public
    @deferred
    def forge(self, target, message):
        patterns.reply(target, message, "forged")


def test_a_request_finds_its_answer():
    """A-102: correlation id, context kept in storage, timer cancelled by the answer."""
    chain = Chain()
    asker, oracle = chain.deploy(Asker), chain.deploy(Oracle)
    chain.execute(asker, "ask", [bytes(oracle), "why"])
    chain.mine(2)
    assert chain.storage(asker)["answer"] == ["why", "WHY"]
    assert not chain.world.timers
    chain.mine(10)
    assert "expired" not in chain.storage(asker) and not chain.failures


def test_a_request_times_out():
    """A-102: no answer in time leads to the timeout's handler, and a late or foreign answer is refused."""
    chain = Chain()
    asker, oracle, liar = chain.deploy(Asker), chain.deploy(Oracle), chain.deploy(Oracle)
    request_id = chain.execute(asker, "ask", [bytes(oracle), "silence"])
    forged = {"id": request_id, "reply_to": "answered"}
    chain.execute(liar, "forge", [bytes(asker), forged])
    chain.mine()
    assert isinstance(chain.failures[0][2], PermissionDeniedError)
    chain.mine(6)
    assert chain.storage(asker)["expired"] == {"question": "silence"} and "answer" not in chain.storage(asker)
    chain.execute(oracle, "forge", [bytes(asker), forged])
    chain.mine()
    assert "no open request" in str(chain.failures[1][2])


def test_handles_are_narrow():
    """A-103: a handle does what it was made for, and can only get narrower."""
    calls = []
    mock_host.set_call_handler(lambda *call: calls.append(call) or codec.encode("done"))
    handle = patterns.Handle(b"\x05" * 20, ["price", "volume"], cycles_limit=500)
    assert handle.call("price", ["ETH"]) == "done"
    assert calls == [(b"\x05" * 20, "price", codec.encode(["ETH"]), 500, 0)]
    narrow = handle.narrowed(["price"], cycles_limit=9000)
    for action in (lambda: handle.call("drain"), lambda: narrow.call("volume"), lambda: narrow.narrowed(["volume"])):
        with pytest.raises(PermissionDeniedError):
            action()
    STORAGE["handle"] = narrow
    kept = patterns.handle_from(STORAGE["handle"])
    assert kept.methods == ("price",) and kept.call("price") == "done" and calls[-1][3] == 500


@actor
class Locked:
    @public
    @reentrancy_guard
    def enter(self, target):
        if target is None:
            return "inside"
        from cowboy_sdk import call

        return call(target, "back", bytes(self.address))

    @public
    def back(self, target):
        from cowboy_sdk import call

        return call(target, "enter")


def test_reentry_through_another_actor_is_refused():
    """A-103: the lock lies in storage, so it holds for every path back in, and is gone afterwards."""
    chain = Chain()
    first, second = chain.deploy(Locked), chain.deploy(Locked)
    with pytest.raises(errors.ActorCallError, match="Reentrant call"):
        chain.execute(first, "enter", codec.encode(bytes(second)))
    assert chain.execute(first, "enter") == "inside"
    assert chain.storage(first) == {}
    assert issubclass(ReentrancyError, CowboyError)


def test_bounded_loops_count_per_call():
    @bounded_loop(max_iterations=2)
    def twice(n):
        for _ in range(n):
            check_iteration()
        return n

    assert twice(2) == 2 and twice(2) == 2 and check_iteration() == 0
    with pytest.raises(LoopBoundExceeded):
        twice(3)
    assert twice(1) == 1


# Randomness


def test_randomness_is_hkdf_of_the_beacon():
    """A-136, decision 130: HKDF-SHA256 without salt, info = label, 32 bytes."""
    mock_host.set_block_height(77)
    seed = hashlib.sha384(b"fake beacon" + (77).to_bytes(8, "big")).digest()
    key = hmac.new(bytes(32), seed, hashlib.sha256).digest()
    assert vrf.randomness("label") == hmac.new(key, b"label\x01", hashlib.sha256).digest()
    assert vrf.randomness("label") == vrf.randomness(b"label") == runtime.randomness(b"label") != vrf.randomness("other")


def test_commit_then_reveal():
    """A-137, decision 115: a later round is named first, and read by name for 256 rounds."""
    mock_host.set_block_height(1000)
    round = vrf.commit()
    assert round == [0, 1002] and vrf.current_round() == (0, 1000)
    for height, known in ((1000, False), (1001, False), (1002, True), (1200, True)):
        mock_host.set_block_height(height)
        assert (vrf.reveal_at(round, "draw") is not None) == known
    answer = vrf.reveal_at(round, "draw")
    mock_host.set_block_height(1257)
    assert vrf.reveal_at(round, "draw") == answer
    mock_host.set_block_height(1258)
    assert vrf.reveal_at(round, "draw") is None and vrf.reveal_at([7, 1], "draw") is None
    with pytest.raises(ValueError, match="at least 2 ahead"):
        vrf.commit(ahead=1)


def test_integers_are_unbiased():
    counts = [0] * 6
    for number in range(600):
        counts[vrf.to_int(keccak256(number.to_bytes(4, "big")), 6)] += 1
    assert min(counts) > 70
    assert vrf.to_int(b"\xff" * 32, 3) == vrf.to_int(keccak256(b"\xff" * 32), 3)
    assert vrf.to_int(b"\xff" * 32, 1 << 256) == (1 << 256) - 1
    with pytest.raises(ValueError):
        vrf.random_int("x", 0)


def test_random_module_over_the_beacon():
    pvm_random.seed(5)
    first = [pvm_random.randint(1, 6) for _ in range(20)]
    state = pvm_random.getstate()
    after = pvm_random.random()
    pvm_random.setstate(state)
    assert pvm_random.random() == after and 0 <= after < 1
    pvm_random.seed(5)
    assert [pvm_random.randint(1, 6) for _ in range(20)] == first and set(first) <= set(range(1, 7))
    items = list(range(10))
    pvm_random.shuffle(items)
    assert sorted(items) == list(range(10)) and sorted(pvm_random.sample(items, 3))[0] in items
    assert pvm_random.choice("a") == "a" and pvm_random.randrange(0, 10, 5) in (0, 5) and len(pvm_random.randbytes(5)) == 5
    for action in (lambda: pvm_random.choice([]), lambda: pvm_random.randint(2, 1), lambda: pvm_random.sample([1], 2)):
        with pytest.raises((IndexError, ValueError)):
            action()


# Types


def test_addresses():
    text = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
    address = Address(text)
    assert address.to_hex() == str(address) == text and bytes(address) == bytes.fromhex(text[2:])
    assert address == Address(text.lower()) == Address(address) == bytes(address) and {address: 1}[Address(text[2:])] == 1
    assert address.to_hex(checksum=False) == text.lower() and repr(address) == f"Address({text})" and len(address) == 20
    assert codec.encode(address) == codec.encode(bytes(address)) and codec.encode({address: [address]})
    for wrong in (b"", b"\x01" * 19, "0x12", "0x" + "zz" * 20, "0x" + "1 " * 20, 5, None):
        with pytest.raises(AddressError):
            Address(wrong)
    with pytest.raises(TokenIdError):
        TokenId("0x12")


def test_actor_addresses():
    """A-4 and the two older forms (decision 64)."""
    deployer, salt, code_hash = b"\x01" * 20, b"salt", b"\x02" * 32
    padded = salt + bytes(28)
    assert derive_actor_address(deployer, salt, code_hash) == keccak256(deployer + padded + code_hash)[12:]
    assert derive_actor_address_cip6(deployer, salt, code_hash) == keccak256(b"\xff" + deployer + padded + code_hash)[12:]
    grouped = derive_actor_address_grouped(deployer, salt, code_hash, shard=258)
    assert bytes(grouped)[:2] == b"\x01\x02"
    for wrong in ((deployer, b"x" * 33, code_hash), (deployer, salt, b"short")):
        with pytest.raises(ValueError):
            derive_actor_address(*wrong)


def test_ordered_set():
    s = ordered_set("banana")
    assert list(s) == ["b", "a", "n"] and s.pop() == "b" and len(s) == 2 and "a" in s
    assert (s & ["n"]).to_list() == ["n"] and (s - "a").to_list() == ["n"] and s.issubset("nab") and s.isdisjoint("xyz")
    assert s == ordered_set("an") and s != ordered_set("na") and s == {"n", "a"} and repr(s) == "ordered_set({'a', 'n'})"
    with pytest.raises(KeyError):
        s.remove("zz")
    with pytest.raises(TypeError):
        hash(s)


def test_time():
    assert (pvm_time.time_ms(), pvm_time.time(), pvm_time.block_height_obj()) == (1_700_000_000_000, 1_700_000_000.0, 1000)


def test_signing_keys_belong_to_the_owner():
    mock_host.seed_actor_owner(b"\x01" * 20)
    with pytest.raises(PermissionDeniedError):
        signing.set_signing_key(b"key", signing.ED25519, b"\x07" * 32)
    mock_host.set_context(sender=b"\x01" * 20)
    signing.set_signing_key(b"key", signing.ED25519, b"\x07" * 32)
    assert signing.get_signing_key(b"key") == {"algorithm": 2, "public_key": b"\x07" * 32}
    assert signing.get_signing_key(b"none") is None
    for wrong in ((1, b"\x07" * 32), (2, b"short")):
        with pytest.raises(ValueError):
            signing.set_signing_key(b"key", *wrong)


def test_keccak():
    vectors = {
        b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
        b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    }
    for data, digest in vectors.items():
        assert keccak256(data).hex() == digest


def test_functions_of_other_networks_are_refused_by_the_host():
    """Decisions, part B: they import, and calling them is forbidden (code 5)."""
    for action in (runtime.fork_actor, lambda: runtime.upgrade_self(b"x"), lambda: runtime.update_bid(b"x", 1)):
        with pytest.raises(mock_host.HostError) as caught:
            action()
        assert caught.value.code == 5


def _timer_of_another():
    timer = mock_host.schedule_timer(mock_host.current_block() + 1, b"")
    mock_host.set_context(actor_addr=b"\x33" * 20)
    return timer


REFUSED = [
    ("transfer_failed", 2, lambda: mock_host.transfer_balance(b"\x01" * 20, 1)),
    ("invalid_argument", 2, lambda: mock_host.charge_gas(-1)),
    ("storage_entry_too_large", 8, lambda: mock_host.blob_commit(bytes(65_537))),
    ("storage_entry_too_large", 8, lambda: mock_host.set_state(bytes(257), b"")),
    ("storage_entry_too_large", 8, lambda: mock_host.set_state(b"key", bytes(65_537))),
    ("event_too_large", 8, lambda: mock_host.emit_event("E", bytes(4_097))),
    ("actor_not_found", 3, lambda: mock_host.call_actor(b"\x01" * 20, "go", b"", 0)),
    ("unavailable", 5, lambda: mock_host.spawn_actor(b"")),
    ("timer_in_past", 2, lambda: mock_host.schedule_timer(mock_host.current_block(), b"")),
    ("bad_fee_payer", 5, lambda: mock_host.schedule_timer_ex(mock_host.current_block() + 1, b"", b"\x01" * 20)),
    ("timer_not_found", 3, lambda: mock_host.resume_interval(bytes(32))),
    ("not_an_interval", 2, lambda: mock_host.resume_interval(mock_host.schedule_timer(mock_host.current_block() + 1, b""))),
    ("timer_not_owned", 5, lambda: mock_host.cancel_timer(_timer_of_another())),
    # As on chain, the code of what does not exist with the name of a wrong argument.
    ("invalid_argument", 3, lambda: mock_host.randomness_at(0, mock_host.current_block() - 256, b"")),
    ("token_not_found", 2, lambda: mock_host.token_balance_of(bytes(32), bytes(20))),
    ("token_balance", 2, lambda: mock_host.token_burn(mock_host.token_create("Coin", "C"), 1)),
    ("volume_not_found", 2, lambda: volumes.METHODS["delete_volume"](bytes(20), 0, volume=bytes(32))),
]


@pytest.mark.parametrize("name, code, action", REFUSED)
def test_the_simulated_host_refuses_as_the_chain_does(name, code, action):
    with pytest.raises(mock_host.HostError) as caught:
        action()
    assert (caught.value.name, caught.value.code) == (name, code)
    assert code == REFUSALS[name] or (name, code) == ("invalid_argument", 3)


def test_a_refusal_that_the_chain_does_not_have_is_a_mistake_of_the_simulator():
    with pytest.raises(KeyError):
        refusal("insufficient_balance", "no row has this name")


def test_the_sdk_has_the_bounds_of_the_chain():
    assert Verify.builder().mode("optimistic").runners(RUNNERS_MAX).build()["runners"] == 9
    for wrong in (lambda: Verify.builder().runners(RUNNERS_MAX + 1), lambda: Verify.builder().mode("zk")):
        with pytest.raises(ValueError):
            wrong()
    for name, value, is_refused in [("cycles", CALLBACK_MIN - 1, True), ("cells", CALLBACK_MIN, False), ("cycles", CALLBACK_MAX, False), ("cells", CALLBACK_MAX + 1, True)]:
        terms = {f"resume_{name}": value}
        if is_refused:
            with pytest.raises(ValueError, match=f"between {CALLBACK_MIN} and {CALLBACK_MAX}"):
                runner.http("https://example.com", **terms).send(b"", "go")
        else:
            runner.http("https://example.com", **terms).send(b"", "go")


def test_parts_that_are_missing_say_so():
    with pytest.raises(ImportError, match="has no HTTP routes"):
        from cowboy_sdk import routes  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from cowboy_sdk import nonsense  # noqa: F401


# System actors


def test_system_actors_have_the_names_and_numbers_of_their_stubs():
    stub = ast.parse((pathlib.Path(cowboy_sdk.__file__).parent / "system.pyi").read_text())
    classes = {node.name: int(ast.get_docstring(node)[:4], 16) for node in stub.body if isinstance(node, ast.ClassDef) and node.name[0] == "_"}
    names = {node.target.id: classes[node.annotation.id] for node in stub.body if isinstance(node, ast.AnnAssign)}
    found = {name: actor.address.to_bytes()[19] for name, actor in vars(system).items() if isinstance(actor, system.SystemActor)}
    assert found == names and len(found) >= 12
    with pytest.raises(AttributeError):
        system.governance._propose
