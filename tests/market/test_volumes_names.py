"""Which volume a name means, what commands count, and how they refuse."""

import hashlib
import os
import pty
import signal

import pytest
from test_volumes import Storage
from world import Refused, until


def public(folder):
    """A devnet with three relays."""
    world = Storage(folder)
    for number in range(1, 4):
        world.relay(number)
    return world


def test_a_new_owner_uses_the_name(tmp_path):
    """A name means the volume that the account created, or one that it has and that this folder knows; nobody else's."""
    names = tmp_path / ".cowboy" / "names.json"
    with public(tmp_path) as world:
        world.relays_are(3)
        names.mkdir(parents=True)
        with pytest.raises(Refused, match="names.json: .*nothing was paid"):
            world.run("volume", "create", "memory", "--quota", "20MiB", "--public")
        assert world.run("volume", "list") == []
        names.rmdir()
        volume = world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")["volume"]
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        giver, heir = world.accounts[0][0], world.accounts[5][0]
        world.run("volume", "transfer", "memory", heir)

        def owner(*arguments, account):
            found = world.run("volume", "info", "memory", *arguments, account=account)
            return found["owner"], found["volume_id"]

        for arguments, account in [((), 5), ((), 0), (("--owner", heir), 0)]:
            assert owner(*arguments, account=account) == (heir, volume)
        with pytest.raises(Refused, match="no such volume"):
            owner(account=6)

        # In a folder that knows no names, the account that created it is named once.
        names.unlink()
        with pytest.raises(Refused, match="(?s)no such volume.*--owner"):
            owner(account=5)
        assert owner("--owner", giver, account=5) == (heir, volume)
        assert world.fetched("memory", "notes/a.txt", account=5) == hashlib.sha256(b"a").hexdigest()
        assert [row["name"] for row in world.run("volume", "ls", "memory", account=5)] == ["notes"]
        for named in (("--owner", heir), (heir,)):
            assert [row["name"] for row in world.run("volume", "list", *named, account=0)] == ["memory"], "that of another account"
        assert [row["name"] for row in world.run("volume", "list", account=5)] == ["memory"]

        # What the account created itself comes first.
        own = world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1", account=5)["volume"]
        assert own != volume and owner(account=5) == (heir, own)


def test_bytes_and_refusals_are_plain(tmp_path):
    """A file makes no partition by mistake, JSON counts whole files, and a stranger reads in one sentence what it may not do."""
    with public(tmp_path) as world:
        world.relays_are(3)
        volume = world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")["volume"]
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_text(name)
        for to in ("x.txt", "notes"):
            with pytest.raises(Refused, match=f"the volume has no partition {to}"):
                world.run("volume", "put", "memory", tmp_path / "a.txt", to)
        assert world.run("volume", "ls", "memory") == []
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        world.run("volume", "put", "memory", tmp_path / "b.txt", "notes")
        assert [row["path"] for row in world.run("volume", "ls", "memory", "notes")] == ["notes/a.txt", "notes/b.txt"]

        # Each file counts 1 KiB in each of the two slots that carry it.
        (listed,) = world.run("volume", "list")
        info, (row,) = world.run("volume", "info", "memory"), world.run("volume", "ls", "memory")
        assert [found["bytes"] for found in (listed, info, info["partitions"][0], row)] == [4096] * 4
        assert [found["name"] for found in (listed, info, info["partitions"][0], row)] == ["memory", "memory", "notes", "notes"]

        with pytest.raises(Refused, match="missing is not a folder"):
            world.run("volume", "get", "memory", "notes/a.txt", tmp_path / "missing" / "a.txt")
        for arguments, expected in [
            (("put", volume, tmp_path / "a.txt", "notes/"), "may not write to the volume, which belongs to"),
            (("rm", volume, "notes/a.txt"), "may not delete files of the volume, which belongs to"),
            (("revert", volume, "notes"), "may not revert a partition of the volume, which belongs to"),
            (("grant", volume, "notes", "0x" + "11" * 20), "may not grant rights to the volume, which belongs to"),
        ]:
            with pytest.raises(Refused, match=expected) as refused:
                world.run("volume", *arguments, account=5)
            assert "slot" not in str(refused.value), "nobody reads what each relay said"


def test_a_question_is_ended_at_once(tmp_path):
    """Ctrl-C at a question of a command ends it, without an answer."""
    with public(tmp_path) as world:
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        project = tmp_path / "asked"
        (project / ".cowboy").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COWBOY_")}
        os.environ["COWBOY_PASSPHRASE"] = "secret"
        try:
            world.run("wallet", "import", "--encrypt", "--out", project / ".cowboy" / "key", world.accounts[0][1])
        finally:
            del os.environ["COWBOY_PASSPHRASE"]
        command = ["cowboy", "--rpc-url", world.url, "volume", "get", "memory", "notes/a.txt", "fetched.txt"]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(project)
            os.execve(world.bin / "cowboyd", command, environment)
        said = b""
        while b"Passphrase of" not in said:
            said += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        ended = until("the end of the command", lambda: (found := os.waitpid(child, os.WNOHANG))[0] and found)
        os.close(terminal)
        assert os.WIFSIGNALED(ended[1]) and os.WTERMSIG(ended[1]) == signal.SIGINT
        assert sorted(entry.name for entry in project.iterdir()) == [".cowboy"]
