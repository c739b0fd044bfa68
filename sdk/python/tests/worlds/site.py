"""A page that counts, and greets whoever names a place."""

from cowboy_sdk import Actor, actor, http


@actor
class Site(Actor):
    @http.get("/")
    def page(self, request: http.Request) -> http.Response:
        return http.html(f"<p>{self.storage.get('count', 0)} at {http.escape(request.arg('place', 'home'))}</p>")

    @http.post("/count")
    def add(self, request: http.Request) -> http.Response:
        count = self.storage.get("count", 0) + request.json()["by"]
        self.storage["count"] = count
        return http.json_response({"count": count}, 201, headers={"X-Counted": "yes"})
