"""Verify: how a job's results are checked before one is believed.

    rule = (Verify.builder().mode("consensus").runners(3).threshold(2)
        .check(Verify.numeric_range("price", 0, 100_000)).build())
    price = await runner.http(url, verify=rule)

What each mode proves is in docs/trust.md. The chain decides the checks marked there; a job with a check that nobody on the
chain can decide is refused when it is submitted, because a rule that is not enforced would be worse than none.
"""

from ._bounds import MODES, RUNNERS_MAX

# Of the published SDK. The chain decides json, integer, float and boolean.
_FORMATS = (
    "json", "xml", "csv", "markdown", "code", "url", "email", "uuid", "hex", "base64", "eth_address", "integer", "float", "boolean",
)


class VerifyBuilder:
    """A job's verification, put together step by step."""

    def __init__(self):
        self._data = {"mode": "none", "runners": 1, "threshold": 1, "checks": []}

    def mode(self, value):
        """How runners are made to agree: one of the chain's six modes, or the published SDK's name for one."""
        if value not in MODES:
            raise ValueError(f"Invalid verify mode '{value}'. Valid modes: {', '.join(sorted(MODES))}")
        self._data["mode"] = value
        return self

    def runners(self, count):
        """How many runners do the job, 1 to 9."""
        if not 1 <= count <= RUNNERS_MAX:
            raise ValueError(f"runners count must be between 1 and {RUNNERS_MAX}, got {count}")
        self._data["runners"] = count
        return self

    def threshold(self, count):
        """How many of them must agree."""
        self._data["threshold"] = count
        return self

    def check(self, checker):
        """Adds a check, made by one of the methods of Verify."""
        if not isinstance(checker, dict) or "kind" not in checker:
            raise ValueError(f"Invalid checker: {checker!r}. Use Verify.xxx() methods to create checkers.")
        self._data["checks"].append(checker)
        return self

    def timeout_blocks(self, blocks):
        self._data["timeout_blocks"] = blocks
        return self

    def snapshot(self, rule, field=""):
        """Which of several good results is handed on: first_valid, median, majority or latest, by a field."""
        self._data["snapshot"] = rule
        self._data["snapshot_field"] = field
        return self

    def build(self):
        """The verification as a job carries it. ValueError where more must agree than there are."""
        built = dict(self._data)
        built["checks"] = list(built["checks"])
        if built["threshold"] > built["runners"]:
            raise ValueError(f"threshold ({built['threshold']}) cannot exceed runners count ({built['runners']})")
        return built


def _checker(kind, **fields):
    return {"kind": kind, **{name: value for name, value in fields.items() if value is not None}}


class Verify:
    """The checks. Each is a dict with `kind` and its parameters."""

    @staticmethod
    def builder():
        return VerifyBuilder()

    # What all results must have in common

    @staticmethod
    def exact_match(value=None):
        """All results are the same bytes, and equal to `value` where it is given."""
        return _checker("exact_match", value=value)

    @staticmethod
    def structured_match(fields):
        """These fields are the same in all results."""
        return _checker("structured_match", fields=list(fields))

    @staticmethod
    def majority_vote(field=None, threshold=0.5):
        """More than this part of the runners give the same value of a field, or the same result."""
        return _checker("majority_vote", threshold=threshold, field=field)

    @staticmethod
    def supermajority_vote(field, threshold=0.67):
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold must be in (0, 1], got {threshold}")
        return _checker("supermajority_vote", field=field, threshold=threshold)

    @staticmethod
    def numeric_tolerance(field, tolerance):
        """The field's numbers differ by at most `tolerance`."""
        if tolerance < 0:
            raise ValueError(f"tolerance must be non-negative, got {tolerance}")
        return _checker("numeric_tolerance", field=field, tolerance=tolerance)

    @staticmethod
    def set_equality(field):
        """The field's lists have the same members, in any order."""
        return _checker("set_equality", field=field)

    @staticmethod
    def semantic_similarity(reference=None, threshold=0.8):
        """The results mean the same, by the cosine of their embeddings."""
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], got {threshold}")
        return _checker("semantic_similarity", threshold=threshold, reference=reference)

    @staticmethod
    def deterministic_output():
        return _checker("deterministic_output")

    # What each result must be

    @staticmethod
    def json_schema_valid(schema):
        """The result is JSON that the schema admits. docs/jobs.md lists the words that are decided."""
        return _checker("json_schema_valid", schema=schema)

    @staticmethod
    def numeric_range(field, min_val=None, max_val=None):
        """The field's number lies between the two, ends included."""
        if min_val is not None and max_val is not None and min_val > max_val:
            raise ValueError(f"min_val ({min_val}) must be <= max_val ({max_val})")
        return _checker("numeric_range", field=field, min=min_val, max=max_val)

    @staticmethod
    def contains_all(substrings):
        return _checker("contains_all", substrings=list(substrings))

    @staticmethod
    def contains_none(substrings):
        return _checker("contains_none", substrings=list(substrings))

    @staticmethod
    def contains(substring):
        return _checker("contains", substring=substring)

    @staticmethod
    def regex_match(pattern):
        return _checker("regex_match", pattern=pattern)

    @staticmethod
    def length_bounds(min_len=0, max_len=None):
        """The result has so many characters."""
        return _checker("length_bounds", min=min_len, max=max_len)

    @staticmethod
    def length_limit(max_bytes, min_bytes=None):
        return _checker("length_limit", max_bytes=max_bytes, min_bytes=min_bytes)

    @staticmethod
    def not_empty():
        return _checker("not_empty")

    @staticmethod
    def field_exists(*fields):
        return _checker("field_exists", fields=list(fields))

    @staticmethod
    def no_prompt_leak():
        """The result does not repeat markers of the prompt."""
        return _checker("no_prompt_leak")

    @staticmethod
    def entropy_check(min_entropy=3.0):
        """The result's characters vary by at least so many bits."""
        if min_entropy < 0:
            raise ValueError(f"min_entropy must be non-negative, got {min_entropy}")
        return _checker("entropy_check", min_entropy=min_entropy)

    @staticmethod
    def format_check(format_type, **options):
        if format_type not in _FORMATS:
            raise ValueError(f"Unknown format_type '{format_type}'. Valid formats: {', '.join(sorted(_FORMATS))}")
        return {"kind": "format_check", "format": format_type, **options}

    # What the work must have been

    @staticmethod
    def http_status(expected_status=None, range_start=None, range_end=None):
        return _checker("http_status", expected_status=expected_status, range_start=range_start, range_end=range_end)

    @staticmethod
    def response_time(max_ms):
        return _checker("response_time", max_ms=max_ms)

    @staticmethod
    def signature_valid(public_key):
        key = bytes(public_key).hex() if isinstance(public_key, (bytes, bytearray)) else str(public_key)
        return _checker("signature_valid", public_key=key)

    @staticmethod
    def tee_attestation(expected_measurement=None):
        measured = None if expected_measurement is None else bytes(expected_measurement).hex()
        return _checker("tee_attestation", expected_measurement=measured)

    # Rules of one's own

    @staticmethod
    def custom(name, **options):
        return {"kind": "custom", "name": name, **options}

    @staticmethod
    def custom_actor(actor_address, method, args=None):
        """A method of another actor decides."""
        from .types import Address

        if isinstance(actor_address, (bytes, bytearray)):
            actor_address = Address(bytes(actor_address)[:20]).to_hex()
        return _checker("custom_actor", actor=str(actor_address), method=method, args=args or None)
