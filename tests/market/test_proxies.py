"""Proxies in processes of their own: a secret outlives every machine that ever held a share of its key."""

import pytest
from test_secrets import VALUE, keep
from world import Refused, World, until

MEMBERS, NEEDED = 4, 3
STAKE_CBY = 1_000
# A phase of three seconds has three looks of each proxy, and a term ends soon after its committee is seated.
ROWS = {
    "proxy_stake": STAKE_CBY * 10**9,
    "proxy_wait": 0,
    "members": MEMBERS,
    "phase": 20,
    "term": 100,
    "retry": 5,
    "exclusion": 1,
}


class Proxies(World):
    """A devnet whose proxies are processes of their own, each with the key of an account."""

    def __init__(self, folder):
        rows = [option for name, value in ROWS.items() for option in ("--parameter", f"secrets.{name}={value}")]
        super().__init__(
            folder, "--block-time", "150ms", "--runners", "0", "--no-gateway", "--no-demo", "--proxies", "0", "--accounts", "20", *rows
        )
        self.proxies = {}

    def proxy(self, number):
        """A proxy with the key of an account. Its folder stays, so that it can be started again."""
        folder = self.place(number)
        if not folder.exists():
            folder.mkdir()
            (folder / "proxy.key").write_text(self.accounts[number][1])
            (folder / "proxy.toml").write_text(
                f'node = "{self.url}"\ntrust_node = true\nkey_file = "{folder / "proxy.key"}"\nstate = "{folder / "state"}"\n'
                f'listen = "127.0.0.1:0"\nendpoint = "localhost"\nstake_cby = {STAKE_CBY}\n'
            )
        command = [self.bin / "cowboyd", "--config", folder / "proxy.toml"]
        self.proxies[number] = self.start("cowboy-proxy", command, RUST_LOG="info,cowboy_proxy=debug")

    def place(self, number):
        return self.folder / f"proxy{number}"

    def shares(self, number):
        return [path.name for path in (self.place(number) / "state").glob("share-*")]

    def committee(self):
        return self.run("secret", "committee")

    def members(self):
        """The numbers of the accounts that hold the key."""
        numbers = {address: number for number, (address, _) in enumerate(self.accounts)}
        key = self.committee()["key"]
        return {numbers[member["address"]] for member in key["members"]} if key else set()

    def record(self, number):
        return self.run("call", "secrets-manager", "get_proxy", "--address", self.accounts[number][0])

    def leave(self, numbers):
        """Has proxies leave: they keep their seats until others have them."""

        def has_left(number):
            if self.record(number)["left_at"] is None:
                try:
                    self.run("call", "secrets-manager", "leave", account=number)
                except Refused as refused:
                    # Its own message took the number of the transaction.
                    assert "nonce" in str(refused).lower(), refused
            return self.record(number)["left_at"] is not None

        for number in numbers:
            until(f"proxy {number} leaves", lambda: has_left(number))

    def value(self):
        return self.run("secret", "get", "KEY")["value"]


def restarted_in(world, phase, number):
    """Kills a proxy while a dealing is in a phase, and starts it again."""
    until(f"the phase {phase}", lambda: (world.committee()["round"] or {}).get("phase") == phase)
    world.proxies[number].kill()
    world.proxy(number)


def test_a_secret_survives_disjoint_committees(tmp_path):
    """A-239, A-240, A-241: three times the key is dealt to proxies of which none had a share before, while one restarts, one is dead, or none is missing;
    then all others are gone for good. Three of four answers open the secret, two do not."""
    first, *others = [set(range(start, start + MEMBERS)) for start in (1, 5, 9, 13)]
    with Proxies(tmp_path) as world:
        for number in first:
            world.proxy(number)
        until("the first committee", lambda: world.members() == first)
        assert {row["address"] for row in world.run("proxy", "list")["proxies"]} == {world.accounts[number][0] for number in first}
        kept = keep(world, "KEY", VALUE, "--any-runner")
        master = world.committee()["key"]["master"]
        stored = world.run("call", "secrets-manager", "get_version", "--account", world.accounts[0][0], "--name-hash", kept["name_hash"], "--version", 1)
        assert VALUE.encode().hex() not in str(stored) and VALUE not in str(stored), "the chain has it sealed"
        assert world.value() == VALUE

        before = first
        for turn, committee in enumerate(others):
            for number in committee:
                world.proxy(number)
            world.leave(before)
            if turn == 0:
                restarted_in(world, "deal", min(before))
                restarted_in(world, "ack", min(before))
            if turn == 1:
                world.proxies[max(before)].kill()
            until(f"committee {turn + 2}", lambda: world.members() == committee)
            key = world.committee()["key"]
            assert (key["master"], key["threshold"]) == (master, NEEDED), "the key is the same, and as many have to answer"
            assert world.value() == VALUE
            # One of the first stays for a while: it has no share of what the others hold now.
            for number in before - {min(first)}:
                world.proxies[number].kill()
            if turn == 1:
                until("shares that were replaced are removed", lambda: world.shares(min(first)) == [])
            before = committee
        world.proxies[min(first)].kill()
        assert world.value() == VALUE, "of sixteen that ever had a share, four are left"

        world.proxies[min(before)].kill()
        assert world.value() == VALUE, "three are enough"
        world.proxies[max(before)].kill()
        with pytest.raises(Refused, match="2 members did not answer as they should"):
            world.value()


def test_a_share_that_does_not_open_stops_nothing_else(tmp_path):
    """Decisions 650, 665: a proxy whose share is damaged keeps the file, still says where it is reached, and receives a share in the next dealing."""
    with Proxies(tmp_path) as world:
        first = set(range(1, 1 + MEMBERS))
        for number in first:
            world.proxy(number)
        until("the first committee", lambda: world.members() == first)
        keep(world, "KEY", VALUE, "--any-runner")
        share = until("its share", lambda: next((world.place(1) / "state").glob("share-*"), None))
        port = world.record(1)["port"]
        world.proxies[1].kill()
        share.write_bytes(bytes(60))
        # It listens at another port.
        world.proxy(1)
        until("it says where it is reached", lambda: world.record(1)["port"] != port)
        assert share.read_bytes() == bytes(60)
        assert world.value() == VALUE, "the three others are enough"
        until("a share of the next committee", lambda: set(world.shares(1)) - {share.name})
        assert f"{share.name} is damaged" in world.proxies[1].errors.read_text()
