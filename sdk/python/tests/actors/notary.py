"""Tells whether somebody signed something."""

from cowboy_sdk import actor, eip712, public


@actor
class Notary:
    @public
    def check(self, address, domain, types, message, signature):
        return eip712.verify(address, domain, types, message, signature)
