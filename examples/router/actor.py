"""A name that outlives its programs: the router keeps the name, and points to the actor that does the work (004 §7.8).

Commands are forwarded to the present implementation, which answers through the router: it sends the page that visitors
see, and the router keeps it. `set_implementation` switches to the next version in one step.
"""

from typing import Any

from cowboy_sdk import OWNER, Actor, Address, actor, callable_by, deferred, http, public, send


@actor
class Router(Actor):
    @callable_by(OWNER)
    def set_implementation(self, address: Address) -> Address:
        """Points to another actor, from the next command on."""
        self.storage["implementation"] = address
        return address

    @public
    def implementation(self) -> Any:
        return self.storage.get("implementation")

    @public
    def publish(self, path: str, body: str) -> None:
        """The implementation says what a path shows."""
        if self.sender != self.storage.get("implementation"):
            raise http.HTTPError(403, "only the implementation publishes")
        self.storage[f"page/{path}"] = body

    @http.get("/{path:path}")
    def show(self, request: http.Request, path: str) -> Any:
        """What the implementation published for the path."""
        body = self.storage.get(f"page/{path}")
        if body is None:
            raise http.HTTPError(404, "nothing is published here")
        return body

    @http.post("/{path:path}")
    @deferred
    def forward(self, request: http.Request, path: str) -> http.Response:
        """Hands a command to the present implementation."""
        target = self.storage.get("implementation")
        if target is None:
            raise http.HTTPError(503, "there is no implementation yet")
        send(target, {"path": path, "body": request.body or b""}, handler="handle")
        return http.Response(200, "forwarded")
