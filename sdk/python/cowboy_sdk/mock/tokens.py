"""Tokens of the chain that `mock_host` simulates: the functions of the registry that actors call (003 §17.3)."""

from .. import _cbor
from .._keccak import keccak256
from .protocol import TOKEN_DECIMALS, TOKEN_NAME_BYTES, TOKEN_SYMBOL_BYTES, TOKEN_URI_BYTES
from .world import call_actor, context, refusal, world

# The system actor 0x06, which keeps the tokens.
TOKEN_REGISTRY = bytes(19) + b"\x06"
TOKEN_HOOK = "on_token_transfer"
_MAX_UNITS = (1 << 128) - 1


class Token:
    """A token of the registry: its record, the balances and the allowances."""

    def __init__(self, owner, max_supply, hook):
        self.owner = owner
        self.supply = 0
        self.max_supply = max_supply
        self.hook = hook
        self.balances = {}
        self.allowances = {}


def token_create(name, symbol, decimals=9, initial_supply=0, max_supply=None, transfer_hook=None, metadata_uri=""):
    max_supply = _MAX_UNITS if max_supply is None else max_supply
    texts = ((name, TOKEN_NAME_BYTES), (symbol, TOKEN_SYMBOL_BYTES), (metadata_uri, TOKEN_URI_BYTES))
    is_too_long = any(len(text.encode("utf-8")) > most for text, most in texts)
    if not name or not symbol or is_too_long or decimals > TOKEN_DECIMALS or _units(initial_supply) > _units(max_supply):
        raise refusal("invalid_argument", "an argument of token_create is invalid")
    own = context()["actor_addr"]
    made = sum(token.owner == own for token in world.tokens.values())
    token_id = keccak256(b"cowboy-token:" + own + made.to_bytes(8, "big"))
    token = world.tokens[token_id] = Token(own, max_supply, None if transfer_hook is None else bytes(transfer_hook))
    _credit(token, own, initial_supply)
    token.supply = initial_supply
    _token_event("TokenCreated", token_id, owner=own, supply=initial_supply)
    return token_id


def token_transfer(token_id, to, amount):
    own = context()["actor_addr"]
    _hand_over(bytes(token_id), own, own, bytes(to), _units(amount), None)


def token_transfer_from(token_id, owner, to, amount):
    own, token, owner = context()["actor_addr"], _token(token_id), bytes(owner)
    allowed = token.allowances.get((owner, own), 0)
    left = allowed - _units(amount)
    # Without an allowance, not even nothing is moved in another's name.
    if left < 0 or not (allowed or owner == own):
        raise refusal(
            "token_allowance",
            "The allowance is too small. Tokens of another account can be moved up to the amount that the owner approved, and each "
            "transfer reduces it. Ask the owner to approve more.",
        )
    _hand_over(bytes(token_id), own, owner, bytes(to), amount, left)


def token_approve(token_id, spender, amount):
    own = context()["actor_addr"]
    _token(token_id).allowances[own, bytes(spender)] = _units(amount)
    _token_event("TokenApproved", token_id, owner=own, spender=bytes(spender), amount=amount)


def token_mint(token_id, to, amount):
    token = _token(token_id)
    if token.owner != context()["actor_addr"]:
        raise refusal("not_owner", "only the token's owner, or a holder of the permission token_mint, may mint")
    if token.supply + _units(amount) > token.max_supply:
        raise refusal(
            "token_supply", "The supply would exceed its maximum. A token's maximum supply is fixed when it is created. Mint less."
        )
    token.supply += amount
    _credit(token, bytes(to), amount)
    _token_event("TokenMinted", token_id, to=bytes(to), amount=amount, supply=token.supply)


def token_burn(token_id, amount):
    own, token = context()["actor_addr"], _token(token_id)
    _debit(token, own, _units(amount))
    token.supply -= amount
    _token_event("TokenBurned", token_id, **{"from": own}, amount=amount, supply=token.supply)


def token_balance_of(token_id, account):
    return _token(token_id).balances.get(bytes(account), 0)


def token_allowance(token_id, owner, spender):
    return _token(token_id).allowances.get((bytes(owner), bytes(spender)), 0)


def token_total_supply(token_id):
    return _token(token_id).supply


def _token(token_id):
    token = world.tokens.get(bytes(token_id))
    if token is None:
        raise refusal(
            "token_not_found",
            "There is no such token. Nobody created it. Check the id; the transaction that created the token returned it.",
        )
    return token


def _units(amount):
    if not 0 <= amount <= _MAX_UNITS:
        raise refusal("invalid_argument", f"amount {amount} is not between 0 and 2**128 - 1")
    return amount


def _credit(token, account, amount):
    if amount:
        token.balances[account] = token.balances.get(account, 0) + amount


def _debit(token, account, amount):
    left = token.balances.get(account, 0) - amount
    if left < 0:
        raise refusal(
            "token_balance",
            "The account does not have enough tokens. A transfer or burn cannot exceed the balance. Read token_balance_of, and use a "
            "smaller amount.",
        )
    token.balances[account] = left


def _hand_over(token_id, operator, source, target, amount, left):
    """Moves tokens, emits the event and calls the hook. If the hook fails, nothing has moved. `left` is the remaining allowance."""
    saved = world.checkpoint()
    token = _token(token_id)
    _debit(token, source, amount)
    _credit(token, target, amount)
    if left is not None:
        token.allowances[source, operator] = left
    facts = {"from": source, "to": target, "amount": amount}
    _token_event("TokenTransferred", token_id, **facts)
    if token.hook is None:
        return
    payload = _encoded({"token_id": token_id, "operator": operator, **facts})
    world.frames.append({"actor_addr": TOKEN_REGISTRY, "sender": operator, "value": 0})
    try:
        call_actor(token.hook, TOKEN_HOOK, payload, 0)
    except BaseException:
        world.rollback(saved)
        raise
    finally:
        world.frames.pop()


def _token_event(name, token_id, **facts):
    world.events.append((TOKEN_REGISTRY, name, _encoded({**facts, "token_id": bytes(token_id)})))


def _encoded(value):
    return _cbor.encode(value)


_METHODS = {"token_create", "token_transfer", "token_transfer_from", "token_approve", "token_mint", "token_burn"}


def handle(method, payload):
    """A message to the registry itself, such as an account's `token_approve`: the arguments are a dict by name."""
    if method not in _METHODS:
        raise refusal("unknown_handler", f"the simulated Token Registry has no method {method!r}")
    frames = world.frames
    frames.append({**frames[-1], "actor_addr": frames[-1]["sender"]})
    try:
        return _cbor.encode(globals()[method](**_cbor.decode(payload)))
    except TypeError as problem:
        raise refusal("invalid_argument", f"{method}: {problem}") from None
    finally:
        frames.pop()
