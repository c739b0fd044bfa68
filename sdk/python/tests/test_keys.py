"""Key files of the command line: encrypted where the node is elsewhere, and opened by the right passphrase only."""

import json
import os
import subprocess

import pytest
from devnet import programs

pytestmark = pytest.mark.skipif(programs() is None, reason="cowboyd is not built")

ELSEWHERE = ("--rpc-url", "https://rpc.example.com")


@pytest.fixture
def cowboy(tmp_path):
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}

    def run(*arguments, **environment):
        command = [programs() / "cowboy", *arguments]
        # No terminal: what would be asked there fails.
        done = subprocess.run(
            command, cwd=tmp_path, env={**keep, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_key_for_another_machine_is_encrypted(cowboy, tmp_path):
    code, said = cowboy("wallet", "create", *ELSEWHERE)
    assert code == 1 and "COWBOY_PASSPHRASE" in said and not (tmp_path / ".cowboy/key").exists()
    code, said = cowboy("wallet", "create", *ELSEWHERE, COWBOY_PASSPHRASE="a long one")
    assert code == 0 and "encrypted" in said, said
    kept = json.loads((tmp_path / ".cowboy/key").read_text())
    assert (kept["version"], kept["crypto"]["cipher"], kept["crypto"]["kdf"]) == (3, "aes-128-ctr", "scrypt")
    assert (tmp_path / ".cowboy/key").stat().st_mode & 0o777 == 0o600
    address = said.split()[1]
    assert address.lower() == "0x" + kept["address"]
    (tmp_path / "passphrase").write_text("a long one\n")
    assert cowboy("wallet", "address", COWBOY_PASSPHRASE_FILE="passphrase") == (0, address + "\n")
    code, said = cowboy("wallet", "address", COWBOY_PASSPHRASE="another")
    assert code == 1 and "passphrase is wrong" in said and ".cowboy/key" in said
    code, said = cowboy("wallet", "address")
    assert code == 1 and "no terminal" in said and "fix: set COWBOY_PASSPHRASE" in said
    # Which key is used is said without opening it.
    code, said = cowboy("config", "show")
    assert code == 0 and ".cowboy/key" in said


def test_a_key_of_a_devnet_is_plain_unless_asked_otherwise(cowboy, tmp_path):
    assert cowboy("wallet", "create")[0] == 0
    assert (tmp_path / ".cowboy/key").read_text().startswith("-----BEGIN COWBOY PRIVATE KEY-----")
    _, address = cowboy("wallet", "address")
    code, said = cowboy("wallet", "import", ".cowboy/key", "--force", "--encrypt", COWBOY_PASSPHRASE="x")
    assert code == 0, said
    assert (tmp_path / ".cowboy/key").read_text().startswith("{")
    assert cowboy("wallet", "address", COWBOY_PASSPHRASE="x") == (0, address)
    code, said = cowboy("wallet", "create", "--force", "--encrypt", COWBOY_PASSPHRASE="")
    assert code == 1 and "empty passphrase" in said
    assert (tmp_path / ".cowboy/key").read_text().startswith("{"), "the key that was there is still there"
    assert cowboy("wallet", "create", "--out", "plain.pem", "--plain", *ELSEWHERE)[0] == 0
    assert (tmp_path / "plain.pem").read_text().startswith("-----BEGIN")


def test_words_are_imported_from_anywhere(cowboy):
    """The first account of the devnet's words, as every wallet derives it."""
    words = "test test test test test test test test test test test junk"
    code, said = cowboy("wallet", "import", "--mnemonic", words, "--index", "1", *ELSEWHERE, COWBOY_PASSPHRASE="x")
    assert code == 0 and "0x70997970c51812dc3a010c7d01b50e0d17dc79c8" in said.lower()
