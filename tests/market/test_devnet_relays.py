"""The relays inside a devnet, where many blocks come at once."""

from world import World


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
