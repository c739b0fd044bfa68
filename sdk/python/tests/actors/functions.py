"""An actor without a class: its functions are its handlers."""

from cowboy_sdk import codec, runtime


def init(payload):
    runtime.set_state(b"count", codec.encode(0))
    return b"ok"


def increment(payload):
    count = codec.decode(runtime.get_state(b"count")) + 1
    runtime.set_state(b"count", codec.encode(count))
    return codec.encode(count)


def handle_timer(payload):
    runtime.set_state(b"fired", payload)


def schedule(payload):
    return runtime.schedule_timer(runtime.get_block_height() + 2, b"ping")


def wrong(payload):
    return 5


def _hidden(payload):
    return b"hidden"
