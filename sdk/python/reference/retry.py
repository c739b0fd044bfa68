from cowboy_sdk import Actor, actor, deferred, public, Retry


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        attempts = Retry(max_attempts=3, on_empty=True)
        assert attempts.should_retry_on_empty() and attempts.has_next()
        assert [attempts.next_delay() for _ in range(3)] == [1, 2, 4]
        assert not attempts.has_next()
        assert Retry.from_dict(attempts.to_dict()).max_attempts == 3
