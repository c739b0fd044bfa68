"""What stands behind the router: counts the commands of a path, and publishes the count."""

from cowboy_sdk import Actor, Address, actor, deferred, public, send

VERSION = 1


@actor
class Version(Actor):
    @public(decode="json")
    def init(self, payload: dict[str, str]) -> None:
        self.storage["router"] = Address(payload["router"])

    @public
    @deferred
    def handle(self, path: str, body: bytes) -> None:
        """A command from the router."""
        if self.sender != self.storage["router"]:
            return
        count = self.storage.get(f"count/{path}", 0) + 1
        self.storage[f"count/{path}"] = count
        page = f"<p>Version {VERSION}: {count} commands, the last of {len(body)} bytes</p>"
        send(self.storage["router"], {"path": path, "body": page}, handler="publish")
