"""Retry: how often, and after how many blocks, a job is asked for again."""

from ._keep import MAKERS


class Retry:
    """A schedule of retries after 1, 2, 4 and 8 blocks.

        retry = Retry(max_attempts=3)
        while retry.has_next():
            try:
                page = await runner.http(url)
                break
            except JobFailed:
                await runner.sleep(retry.next_delay())
    """

    BACKOFF_SEQUENCE = [1, 2, 4, 8]

    def __init__(self, max_attempts=3, on_error=True, on_empty=False, on_validation_fail=False):
        if not 0 <= max_attempts <= len(self.BACKOFF_SEQUENCE):
            raise ValueError(
                f"max_attempts must be between 0 and 4, got {max_attempts}. Maximum 4 retries to limit chain growth."
            )
        self._max_attempts = max_attempts
        self._on_error = on_error
        self._on_empty = on_empty
        self._on_validation_fail = on_validation_fail
        self._attempt = 0

    @property
    def max_attempts(self):
        return self._max_attempts

    @property
    def current_attempt(self):
        return self._attempt

    def has_next(self):
        """Whether a retry is left."""
        return self._attempt < self._max_attempts

    def next_delay(self):
        """Uses one retry up and tells how many blocks to wait before it. StopIteration when none is left."""
        if not self.has_next():
            raise StopIteration("No more retry attempts available")
        delay = self.BACKOFF_SEQUENCE[self._attempt]
        self._attempt += 1
        return delay

    def should_retry_on_error(self):
        return self._on_error and self.has_next()

    def should_retry_on_empty(self):
        return self._on_empty and self.has_next()

    def should_retry_on_validation_fail(self):
        return self._on_validation_fail and self.has_next()

    def reset(self):
        """Starts over."""
        self._attempt = 0
        return self

    def to_dict(self):
        """The schedule as plain data. No job takes it: a chain draws again by itself."""
        return {
            "max_attempts": self._max_attempts,
            "backoff_blocks": self.BACKOFF_SEQUENCE[: self._max_attempts],
            "on_error": self._on_error,
            "on_empty": self._on_empty,
            "on_validation_fail": self._on_validation_fail,
        }

    @classmethod
    def from_dict(cls, fields):
        return cls(
            max_attempts=fields.get("max_attempts", 3),
            on_error=fields.get("on_error", True),
            on_empty=fields.get("on_empty", False),
            on_validation_fail=fields.get("on_validation_fail", False),
        )

    def __keep__(self):
        return "retry", [self.to_dict(), self._attempt]

    def __iter__(self):
        return self

    def __next__(self):
        return self.next_delay()

    def __repr__(self):
        return f"Retry(max_attempts={self._max_attempts}, attempt={self._attempt}, on_error={self._on_error})"


def _made(kept):
    retry = Retry.from_dict(kept[0])
    retry._attempt = kept[1]
    return retry


MAKERS["retry"] = _made
