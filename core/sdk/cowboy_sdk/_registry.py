"""What the deployed module offers: set while its body runs, read by every call.

It lies below everything that asks it: `actor` and `http` fill it, `dispatch` and `models` read it.
"""


class _Registry:
    def __init__(self):
        self.actor_class = None
        # Entries by a name that no method has: {name: what runs it}.
        self.named = {}


registry = _Registry()
