"""The relays inside a devnet, where many blocks come at once."""

from world import World, until

RELAYS = f"0x{0x0B:040x}"


def test_relays_keep_up_with_a_warp(tmp_path):
    """Decision 605: thousands of blocks within seconds cost the relays of a devnet neither stake nor slots, and files stay."""
    with World(tmp_path, "--block-time", "200ms", "--runners", "0", "--no-gateway", "--no-demo") as world:
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public")
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        before = {relay["address"]: relay["stake"] for relay in world.run("relay", "list")}
        holders = [slot["relay"] for slot in world.run("volume", "info", "memory")["slots"]]
        height = world.run("chain", "warp", "--blocks", "1200")["height"]
        mined = world.run("chain", "mine", "200")["height"]
        assert height + 200 <= mined < height + 260, "a stop adds no blocks"
        relays = world.run("relay", "list")
        assert {relay["address"]: relay["stake"] for relay in relays} == before
        assert all(relay["is_eligible"] and relay["misses"] == 0 and relay["next_draw"] > height for relay in relays)
        slots = world.run("volume", "info", "memory")["slots"]
        assert [slot["relay"] for slot in slots] == holders and all(slot["is_serving"] for slot in slots)
        assert world.run("volume", "get", "memory", "notes/a.txt", tmp_path / "b.txt")["bytes"] == 1


def test_relays_that_refuse_are_left_and_demanded_of(tmp_path):
    """Decision 651: one of three relays gives nothing to readers. They read from the others, and it answers on the chain, as it would lose stake otherwise."""
    with World(tmp_path, "--block-time", "200ms", "--runners", "0", "--no-gateway", "--no-demo", "--relay-refuse", "1") as world:
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        content = bytes(range(256)) * 1_000
        (tmp_path / "a.bin").write_bytes(content)
        world.run("volume", "put", "memory", tmp_path / "a.bin", "notes/")
        world.run("volume", "get", "memory", "notes/a.bin", tmp_path / "b.bin")
        assert (tmp_path / "b.bin").read_bytes() == content
        for slot in range(3):
            world.run("volume", "demand", "memory", "notes/a.bin", "--slot", slot, "--length", "100")
        events = lambda: [log["name"] for log in world.get(f"/actor/{RELAYS}/logs?order=desc&limit=100")["logs"]]
        until("three answers", lambda: events().count("demand.answered") == 3)
        assert all(relay["misses"] == 0 for relay in world.run("relay", "list"))
