from cowboy_sdk import Actor, Address, actor, deferred, public, runner, runtime, volumes
from cowboy_sdk.volumes import BlobRef, Mount


@actor
class Archive(Actor):
    @public
    @deferred
    def open(self) -> int:
        costs = volumes.quote(64 << 20, data=2, parity=1)
        volumes.create("archive", quota=64 << 20, data=2, parity=1)
        return costs["fee"] + costs["escrow"]

    @public
    @runner.continuation
    async def file(self, image: str, page: str) -> None:
        pages = Mount("archive", "pages", "rw", max_bytes=1 << 20)
        found = await runner.container(image, [], stdin=page, volumes=[pages])
        # The program prints the BLAKE3 hash and the size of what it wrote.
        digest, size = found.text.split()
        self.storage["newest"] = volumes.blob_ref("archive", bytes.fromhex(digest), int(size))

    @public
    def newest(self) -> list[object]:
        reference = BlobRef(self.storage["newest"])
        return [reference.size, reference.is_public, reference.is_in("archive")]

    @public
    @deferred
    def share(self, holder: Address) -> None:
        self.storage["right"] = volumes.grant("archive", "pages", holder, "r", until=runtime.current_block() + 100)

    @public
    @deferred
    def look(self) -> list[object]:
        right: bytes = self.storage["right"]
        archive, known, pages = volumes.get("archive"), volumes.get_capability(right), volumes.get_partition("archive", "pages")
        assert archive is not None and volumes.owned() == [volumes.volume_id("archive")]
        assert known is None or known["partition"] == volumes.partition_id("pages")
        return [archive["status"], known is not None, pages is not None]

    @public
    @deferred
    def keep(self) -> int:
        volumes.revoke(self.storage["right"])
        volumes.set_quota("archive", 128 << 20, value=1_000_000)
        return volumes.fund("archive", 1_000_000)

    @public
    @deferred
    def close(self, heir: Address) -> int:
        until = volumes.delete("archive")
        volumes.undelete("archive")
        volumes.transfer("archive", heir)
        return until

    @public
    @deferred
    def undo(self) -> None:
        volumes.revert("archive", "pages")

# Test
from cowboy_sdk import ActorCallError
from cowboy_sdk.testing import BOB, Chain


def test(chain: Chain, archive: object) -> None:
    chain.fund(archive, 3_000_000_000)
    before = chain.balance(archive)
    assert chain.execute(archive, "open") == before - chain.balance(archive)

    chain.execute(archive, "file", ["shelf@sha256:" + "0" * 64, "A page."])
    chain.answer("07" * 32 + " 7")
    assert chain.query(archive, "newest") == [7, False, True]

    chain.execute(archive, "share", BOB)
    # No program ran here, so nothing is in the volume.
    assert chain.execute(archive, "look") == ["active", True, False]
    refused = ""
    try:
        chain.execute(archive, "undo")
    except ActorCallError as problem:
        refused = str(problem)
    assert "volume_not_found" in refused
    assert chain.execute(archive, "keep") > 2_000_000
    assert chain.execute(archive, "look") == ["active", False, False]
    assert chain.execute(archive, "close", BOB) > chain.height
