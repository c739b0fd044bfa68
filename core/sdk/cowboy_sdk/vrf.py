"""Random numbers that nobody chooses.

Every round of consensus ends in a seed: a signature that takes more than two thirds of the validators to make and that
has one possible value. `randomness` derives bytes from the seed of the round before the executing block's.

What it may decide. Whoever proposes a block knows that seed before picking the block's transactions. So a value that
pays must be read after the players can no longer act:

1. close the game, and call `commit()` in the same message: it names a later round, whose seed nobody knows yet;
2. in a later block, best in a timer of the actor's own, `reveal_at(round, label)` reads that very round. The answer is
   the same whoever asks and whenever, so that nobody gains by waiting. Seeds stay readable for 256 rounds.

`randomness` alone, even in a timer, leaves a proposer one choice: to skip its turn, so that the block is made in
another round.

Two actors that use the same label in the same block get the same bytes. Mix in `runtime.get_actor_address()` or
`runtime.get_tx_hash()` where that matters.
"""

from ._host import HostError, pvm_host

# How many rounds ahead `commit` looks: the next one's leader may know its predecessor's seed already.
ROUNDS_AHEAD = 2

_NOT_FOUND = 3


def randomness(label):
    """32 bytes, HKDF(seed, label): equal for equal labels within a block. `label` is bytes or str. 1,000 cycles."""
    return pvm_host.randomness(_label(label))


def random_int(label, below):
    """An unbiased integer from 0 to `below` - 1, from this block's seed."""
    return to_int(randomness(label), below)


def to_int(seed, below):
    """An unbiased integer from 0 to `below` - 1, from 32 random bytes."""
    if below < 1:
        raise ValueError("below must be at least 1")
    if below > 1 << 256:
        raise ValueError("below must be at most 2**256")
    # Numbers past the last whole multiple of `below` would favour small answers: hash on until one lies before it.
    limit = (1 << 256) - (1 << 256) % below
    number = int.from_bytes(seed, "big")
    while number >= limit:
        seed = pvm_host.keccak256(seed)
        number = int.from_bytes(seed, "big")
    return number % below


def current_round():
    """(epoch, view) of the seed that `randomness` uses in this block."""
    epoch, view = pvm_host.context()["round"]
    return epoch, view


def commit(ahead=ROUNDS_AHEAD):
    """Names a round whose seed does not exist yet, as [epoch, view]: keep it, and read it later with `reveal_at`.

    Call it in the message after which nobody can change the game any more.
    """
    if ahead < ROUNDS_AHEAD:
        raise ValueError(f"the round must lie at least {ROUNDS_AHEAD} ahead")
    epoch, view = current_round()
    return [epoch, view + ahead]


def reveal_at(round, label):
    """32 bytes, HKDF(seed of that round, label); None when it cannot be read: then `commit` again.

    It cannot be read before it has happened, after 256 more rounds, or when the epoch ended before it.
    """
    epoch, view = round
    try:
        return pvm_host.randomness_at(epoch, view, _label(label))
    except HostError as problem:
        if problem.code != _NOT_FOUND:
            raise
    return None


def _label(label):
    return label.encode("utf-8") if isinstance(label, str) else bytes(label)
