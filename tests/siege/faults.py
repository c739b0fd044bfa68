"""What happens to machines: ends, pauses, full disks, no descriptors, lost disks, damaged files, clocks that jump. Each is done to one
validator of four, is over when the function returns, and gives what it was; the validator then runs again."""

import pathlib
import resource
import shutil
import signal

from network import Finding, until

# Blocks that the engine of a validator keeps for its peers.
ENGINES_KEEP = 1_024
# What the parts of a node's folder have in their paths: the ledger, the record of votes, the engine's other files, the state.
PARTS = ["ledger", "cowboy-simplex", "engine", "cowboy-state"]
CHECKED = ["ledger", "cowboy-simplex", "cowboy-blocks", "cowboy-finalizations", "cowboy-state"]
# What a node that refuses a damaged file tells the operator to do.
WAYS_OUT = ["cowboyd check", "cowboyd snapshot import", "--reset"]

FAKETIME = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


def killed(network, validator, random):
    """Ends it at once, and starts it after some blocks."""
    validator.kill()
    network.advances(random.randint(1, 4))
    validator.start()
    return "kill −9"


def paused(network, validator, random):
    """Stops its time for some blocks."""
    validator.process.send_signal(signal.SIGSTOP)
    try:
        network.advances(random.randint(2, 6))
    finally:
        validator.process.send_signal(signal.SIGCONT)
    return "SIGSTOP"


def no_room(network, validator, random):
    """No file of it may grow any more, as on a full disk. It ends with the reason, and continues once there is room again."""
    resource.prlimit(validator.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    ends_with_a_sentence(validator)
    validator.start()
    return "full disk"


def no_descriptors(network, validator, random):
    """It gets no further file or connection. It continues, or ends with the reason."""
    resource.prlimit(validator.process.pid, resource.RLIMIT_NOFILE, (16, 16))
    network.advances(3)
    if validator.is_running():
        validator.kill()
    else:
        ends_with_a_sentence(validator)
    validator.start()
    return "no descriptors"


def wiped(network, validator, random):
    """Its disk is lost. It begins anew, listens before it votes, and gets every block from the others, beyond what their engines keep."""
    validator.kill()
    shutil.rmtree(validator.state)
    network.advances(1)
    behind = network.top()
    validator.start()
    return f"lost disk, {behind} blocks behind"


def long_away(network, validator, random):
    """It is away for longer than the engines of the others keep blocks."""
    validator.kill()
    network.advances(ENGINES_KEEP + random.randint(10, 50))
    validator.start()
    return f"away for more than {ENGINES_KEEP} blocks"


def flipped(network, validator, random):
    """One bit of one of its files is another one."""
    def flip(data):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return data

    return damaged(network, validator, random, "bit flip", flip)


def truncated(network, validator, random):
    """One of its files is cut off somewhere."""
    return damaged(network, validator, random, "truncation", lambda data: data[: random.randrange(len(data))])


def damaged(network, validator, random, what, change):
    """Changes one of its files. It serves the truth, or ends and says what to do. What it says is done, and it comes back."""
    validator.kill()
    files = [path for path in sorted(validator.state.rglob("*")) if path.is_file() and path.stat().st_size]
    kinds = [kind for kind in ([path for path in files if part in str(path)] for part in PARTS) if kind]
    path = random.choice(random.choice(kinds))
    path.write_bytes(change(bytearray(path.read_bytes())))
    what = f"{what} in {path.relative_to(validator.state)}"
    network.advances(1)
    validator.start()
    until(f"{validator} starts or ends after a {what}", lambda: validator.height() is not None or not validator.is_running())
    if validator.is_running():
        serves_the_truth(network, validator, random, what)
        network.advances(1)
    if is_refused := not validator.is_running():
        ends_with_a_sentence(validator)
        if not any(way in validator.errors for way in WAYS_OUT):
            raise Finding(f"after a {what}, {validator} does not say what to do: {validator.errors[-1500:]!r}")
    validator.stop()
    # A check reads the ledger, the state, the votes and the archives. Of what else the engine keeps it says nothing.
    is_checked = any(part in str(path) for part in CHECKED)
    repaired = validator.check_and_repair() and is_checked
    if not repaired:
        shutil.rmtree(validator.state)
    validator.start()
    return f"{what}: {'refused' if is_refused else 'goes on'}, {'sound or repaired' if repaired else 'begins anew'}"


def clock_jumped(network, validator, random):
    """The clock of the validator that has one of its own goes hours ahead or back, and is right again after some blocks. Another one
    starts again meanwhile, and all do afterwards: they are dialed by a clock that was set."""
    validator = next((one for one in network.validators if one.clock), None)
    if validator is None:
        return "clock jump left out: no faketime here"
    others = [one for one in network.validators if one is not validator]
    validator.clock.write_text(random.choice(["+2h", "-3h", "+40d"]))
    try:
        # It is not waited for: with a second one away, three of four would not be right.
        other = random.choice(others)
        other.kill()
        other.start()
        network.advances(3)
        validator.must_run()
    finally:
        validator.clock.write_text("+0")
    # Its last block may be an hour ahead. Only the others vote against it, and they are a quorum only while none of them is away. The first block from now
    # on may be older than that one, the second is not.
    network.advances(2)
    for other in others:
        killed(network, other, random)
    return f"clock jump of {validator}, not of another"


def ends_with_a_sentence(validator):
    until(f"{validator} ends", lambda: not validator.is_running())
    if validator.process.returncode != 1 or not validator.errors.rstrip().split("\n")[-1].startswith("error: "):
        raise Finding(f"{validator} ended with {validator.process.returncode} and does not say why: {validator.errors[-1500:]!r}")


def serves_the_truth(network, validator, random, what):
    """Its answers about blocks are those of another validator, or refusals. It may end over one."""
    other = next(one for one in network.validators if one is not validator and one.is_running())
    heights = range(1, min(other.height(), validator.height() or 0))
    for height in sorted(random.sample(heights, min(len(heights), 300))):
        mine, theirs = answer(validator, height), other.block(height)
        if mine is not None and theirs is not None and mine != theirs:
            raise Finding(f"after a {what}, {validator} says of block {height} {mine}, and another {theirs}")


def answer(validator, height):
    """The block, or None where the node refuses: a damaged record is answered with 500 and its name."""
    try:
        return validator.block(height)
    except Finding as finding:
        if "damaged" in str(finding):
            return None
        raise


FAULTS = [killed, paused, no_room, no_descriptors, wiped, flipped, truncated, clock_jumped]
