from cowboy_sdk import Actor, actor, deferred, public, pvm_random


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        pvm_random.seed(7)
        first = [pvm_random.random(), pvm_random.randint(1, 6), pvm_random.getrandbits(8), pvm_random.randbytes(4)]
        state = pvm_random.getstate()
        numbers = list(range(5))
        pvm_random.shuffle(numbers)
        pvm_random.setstate(state)
        again = list(range(5))
        pvm_random.shuffle(again)
        assert numbers == again
        assert pvm_random.choice("abc") in "abc" and len(pvm_random.sample(range(9), 3)) == 3
        assert 0 <= pvm_random.randrange(0, 10, 5) <= 5 and 1.0 <= pvm_random.uniform(1.0, 2.0) <= 2.0
        pvm_random.seed(7)
        assert first[0] == pvm_random.random()
