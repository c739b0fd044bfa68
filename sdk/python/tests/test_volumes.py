"""Volumes of actors: what the SDK sends, what it refuses itself, and the volumes of the simulated chain (A-179, A-234)."""

import pathlib

import pytest
from cowboy_sdk import ActorCallError, PurityViolationError, actor, codec, deferred, mock_host, public, runner, volumes
from cowboy_sdk.mock.volumes import CREATION_FEE, UNDELETE
from cowboy_sdk.testing import ALICE, BOB, Chain
from cowboy_sdk.volumes import BlobRef, Mount
from pages import block

ID = bytes(range(32))


def test_a_mount_is_the_map_that_the_chain_reads():
    rows = [
        (Mount("memory", "notes"), {"volume": "memory", "partition": "notes", "mode": "r"}),
        (Mount("memory", "notes", "rw", max_bytes=5), {"volume": "memory", "partition": "notes", "mode": "rw", "max_bytes": 5}),
        (Mount(ID, "notes", "w", max_bytes=0, name="in"), {"volume": ID, "partition": "notes", "mode": "w", "max_bytes": 0, "as": "in"}),
    ]
    for mount, sent in rows:
        assert codec.decode(codec.encode([mount])) == [sent]
        assert mount == eval(repr(mount)) and hash(mount) == hash(eval(repr(mount)))
    assert rows[0][0] != rows[1][0] and rows[0][0] != rows[0][1]


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("no/name", "notes"), {}, "no name of a volume"),
        (("", "notes"), {}, "no name of a volume"),
        (("a" * 65, "notes"), {}, "no name of a volume"),
        (("memory", ".."), {}, "no name of a partition"),
        (("memory", "n\u00f6tes"), {}, "no name of a partition"),
        (("memory", "notes\n"), {}, "no name of a partition"),
        (("memory", "notes", "x"), {}, "a mode is r, w or rw"),
        (("memory", "notes", "rw"), {}, "needs max_bytes"),
        (("memory", "notes", "r"), {"max_bytes": 1}, "writes nothing"),
        (("memory", "notes", "w"), {"max_bytes": -1}, "must be a number of bytes"),
        (("memory", "notes", "w"), {"max_bytes": True}, "must be a number of bytes"),
        ((ID, "notes"), {}, "needs a name"),
        ((ID[:31], "notes"), {"name": "in"}, "an id of 32 bytes"),
        ((ID, "notes"), {"name": "a/b"}, "no name in a container"),
    ],
)
def test_a_wrong_mount_is_refused_when_it_is_made(arguments, options, says):
    with pytest.raises(ValueError, match=says):
        Mount(*arguments, **options)


def test_a_blob_ref_has_one_form():
    raw = b"\x01\x1e\x20" + bytes([7]) * 32 + (5).to_bytes(8, "big") + ID[:20] + b"\x01"
    reference = BlobRef(raw)
    assert (reference.hash, reference.size, reference.is_public) == (bytes([7]) * 32, 5, True)
    assert reference.is_in(ID) and not reference.is_in(bytes(32))
    assert bytes(reference) == raw and codec.decode(codec.encode(reference)) == raw and BlobRef(reference) == reference
    for wrong in (raw[:63], raw + b"\0", b"\x02" + raw[1:], raw[:1] + b"\x12" + raw[2:], raw[:2] + b"\x21" + raw[3:], raw[:63] + b"\x02"):
        with pytest.raises(ValueError, match="has 64 bytes"):
            BlobRef(wrong)


def test_ids_are_those_of_the_chain():
    """The hashes of core/volumes/tests/formats.rs."""
    mock_host.reset()
    assert volumes.volume_id("memory", b"\x01" * 20) == mock_host.keccak256(b"cowboy-volume:" + b"\x01" * 20 + b"memory")
    assert volumes.volume_id("memory") == volumes.volume_id("memory", mock_host.DEFAULT_ACTOR)
    assert volumes.partition_id("notes") == mock_host.keccak256(b"cowboy-partition:notes")


@actor
class Keeper:
    @public
    @deferred
    def open(self, name, value=None):
        return volumes.create(name, quota=8 << 20, keys="public", value=value)

    @public
    def open_pure(self):
        return volumes.create("memory", quota=1)

    @public
    @deferred
    def close(self, name):
        return volumes.delete(name)

    @public
    @deferred
    def back(self, name):
        volumes.undelete(name)

    @public
    @deferred
    def status(self, name):
        found = volumes.get(name)
        return None if found is None else found["status"]

    @public
    @deferred
    def refer(self, name):
        return bytes(volumes.blob_ref(name, bytes([7]) * 32, 5))

    @public
    @runner.continuation
    async def run(self):
        found = await runner.container("tool@sha256:" + "0" * 64, [], volumes=[Mount("memory", "notes", "rw", max_bytes=9)])
        return found.text


@pytest.fixture
def chain():
    return Chain()


@pytest.fixture
def keeper(chain):
    keeper = chain.deploy(Keeper)
    chain.fund(keeper, 10 * CREATION_FEE)
    return keeper


def test_an_actor_pays_for_a_volume_and_gets_the_rest_back(chain, keeper):
    before = chain.balance(keeper)
    volume = chain.execute(keeper, "open", ["memory"])
    assert volume == volumes.volume_id("memory", keeper)
    # Ten epochs of six slots of 2 MiB at 450 base units a MiB.
    escrow = 10 * 6 * 2 * 450
    assert before - chain.balance(keeper) == CREATION_FEE + escrow
    with pytest.raises(ActorCallError, match="volume_exists"):
        chain.execute(keeper, "open", ["memory"])
    with pytest.raises(ActorCallError, match="volume_escrow"):
        chain.execute(keeper, "open", ["other", CREATION_FEE + escrow - 1])
    assert before - chain.balance(keeper) == CREATION_FEE + escrow, "a refusal costs nothing"
    assert chain.execute(keeper, "close", "memory") == chain.height + UNDELETE
    assert chain.execute(keeper, "status", "memory") == "deleted"
    chain.execute(keeper, "back", "memory")
    assert chain.execute(keeper, "status", "memory") == "active"
    chain.execute(keeper, "close", "memory")
    chain.mine(UNDELETE)
    assert chain.execute(keeper, "status", "memory") is None
    assert before - chain.balance(keeper) == CREATION_FEE


def test_nobody_else_deletes_a_volume(chain, keeper):
    volume = chain.execute(keeper, "open", ["memory"])
    other = chain.deploy(Keeper, sender=BOB)
    with pytest.raises(ActorCallError, match="volume_foreign"):
        chain.execute(other, "close", codec.encode(volume))
    with pytest.raises(ActorCallError, match="volume_not_found"):
        chain.execute(other, "close", "memory")


def test_what_moves_cby_is_deferred_and_no_query(chain, keeper):
    with pytest.raises(PurityViolationError, match="volumes.create"):
        chain.execute(keeper, "open_pure")
    for handler in ("close", "refer"):
        with pytest.raises((mock_host.HostError, ActorCallError), match="which a query may not"):
            chain.query(keeper, handler, "memory")


def test_a_reference_is_of_a_volume_that_is_there(chain, keeper):
    volume = chain.execute(keeper, "open", ["memory"])
    raw = chain.execute(keeper, "refer", "memory")
    assert raw == b"\x01\x1e\x20" + bytes([7]) * 32 + (5).to_bytes(8, "big") + volume[:20] + b"\x01"
    chain.execute(keeper, "close", "memory")
    for name, problem in (("memory", "volume_state"), ("other", "volume_not_found")):
        with pytest.raises(ActorCallError, match=problem):
            chain.execute(keeper, "refer", name)


def test_a_job_carries_its_mounts(chain, keeper):
    chain.execute(keeper, "run", sender=ALICE)
    (job,) = chain.jobs()
    assert job.kwargs["volumes"] == [{"volume": "memory", "partition": "notes", "mode": "rw", "max_bytes": 9}]
    assert chain.answer("done") == "done"


def test_the_page_runs(tmp_path):
    """The actor of docs/sdk.md."""
    (tmp_path / "shelf.py").write_text(block("docs/sdk.md", "Volumes", "python").text)
    chain = Chain(folder=tmp_path)
    shelf = chain.deploy("shelf.py", sender=ALICE)
    chain.fund(shelf, 2 * CREATION_FEE)
    volume = chain.execute(shelf, "open", sender=ALICE)
    chain.execute(shelf, "file", "A page.")
    (job,) = chain.jobs()
    assert job.kwargs["volumes"] == [{"volume": "shelf", "partition": "pages", "mode": "rw", "max_bytes": 1 << 20}]
    chain.answer("07" * 32 + " 7\n")
    assert chain.query(shelf, "newest") == 7
    assert chain.storage(shelf)["newest"][43:63] == volume[:20]


def test_stubs_and_module_have_the_same_names():
    stub = (pathlib.Path(mock_host.__file__).parent / "volumes.pyi").read_text()
    public_names = [name for name, item in vars(volumes).items() if getattr(item, "__module__", "") == "cowboy_sdk.volumes" and name[0] != "_"]
    assert public_names and all(f"def {name}(" in stub or f"class {name}:" in stub for name in public_names)
