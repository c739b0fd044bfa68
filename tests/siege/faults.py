"""What happens to machines: ends, pauses, full disks, no descriptors, flipped bits, clocks that jump. Each is done to one validator of
four, is over when the function returns, and gives what it was; the validator then runs again."""

import pathlib
import resource
import shutil
import signal

from network import Finding, until

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
    """No file of it may grow any more, as on a full disk. It ends and says why, and goes on where there is room again."""
    resource.prlimit(validator.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    ends_with_a_sentence(validator)
    validator.start()
    return "full disk"


def no_descriptors(network, validator, random):
    """It gets no further file or connection. It goes on, or ends and says why."""
    resource.prlimit(validator.process.pid, resource.RLIMIT_NOFILE, (16, 16))
    network.advances(3)
    if validator.is_running():
        validator.kill()
    else:
        ends_with_a_sentence(validator)
    validator.start()
    return "no descriptors"


def flipped(network, validator, random):
    """One bit of one of its files is another one. It serves the truth, or ends and names what is damaged; then the file is as before."""
    validator.kill()
    files = [path for path in sorted(validator.state.rglob("*")) if path.is_file() and path.stat().st_size]
    path = random.choice([path for path in files if "ledger" in path.name] if random.random() < 0.3 else files)
    backup = validator.folder / "backup"
    shutil.copy2(path, backup)
    data = bytearray(path.read_bytes())
    place = random.randrange(len(data))
    data[place] ^= 1 << random.randrange(8)
    path.write_bytes(data)
    network.advances(1)
    validator.start()
    what = f"bit flip in {path.relative_to(validator.state)}"
    until(f"{validator} starts or ends after a {what}", lambda: validator.height() is not None or not validator.is_running())
    if validator.is_running():
        serves_the_truth(network, validator, what)
        return what + ": goes on"
    ends_with_a_sentence(validator)
    shutil.copy2(backup, path)
    validator.start()
    return what + ": refused"


def clock_jumped(network, validator, random):
    """Its clock goes hours ahead or back, and is right again after some blocks."""
    if validator.clock is None:
        return "clock jump left out: no faketime here"
    validator.clock.write_text(random.choice(["+2h", "-3h", "+40d"]))
    try:
        network.advances(3)
        validator.must_run()
    finally:
        validator.clock.write_text("+0")
    return "clock jump"


def ends_with_a_sentence(validator):
    until(f"{validator} ends", lambda: not validator.is_running())
    if "error: " not in validator.errors or "panicked" in validator.errors:
        raise Finding(f"{validator} ended with {validator.process.returncode} and does not say why: {validator.errors[-1500:]!r}")


def serves_the_truth(network, validator, what):
    """Its answers about every block are those of another validator, or refusals."""
    other = next(one for one in network.validators if one is not validator and one.is_running())
    for height in range(1, other.height()):
        for path in (f"/block/{height}",):
            mine, theirs = answer(validator, path), answer(other, path)
            if mine is not None and theirs is not None and mine != theirs:
                raise Finding(f"after a {what}, {validator} answers {path} with {mine}, and another with {theirs}")


def answer(validator, path):
    """The answer, or None where the node refuses: a damaged record is answered with 500 and its name."""
    try:
        return validator.get(path)
    except Finding as finding:
        if "damaged" in str(finding):
            return None
        raise


FAULTS = [killed, paused, no_room, no_descriptors, flipped, clock_jumped]
