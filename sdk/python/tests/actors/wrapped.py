"""An actor in the style of the published SDK's README: module functions stand for the methods."""

from cowboy_sdk import actor, codec, deferred, public, runtime, send
from cowboy_sdk.runtime import cancel_timer


@actor
class Agent:
    @public
    def init(self, payload):
        self.storage["calls"] = 0
        return b"ok"

    @public
    def chat(self, msg):
        self.storage["calls"] = self.storage.get("calls", 0) + 1
        return {"heard": msg, "calls": self.storage["calls"]}

    def private(self, msg):
        return b"private"

    @public
    def only_method(self):
        return "method"


def _agent():
    return Agent()


def init(p):
    return _agent().init(p)


def chat(p):
    return _agent().chat(p)


def private(p):
    return _agent().private(p)


def helper(p):
    """Nobody asked for this to be reachable."""
    runtime.set_state(b"calls", codec.encode(999))
    return b"owned"


@public
@deferred
def declared(p):
    return {"declared": p}
