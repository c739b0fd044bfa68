from cowboy_sdk import Actor, actor, http, public
from cowboy_sdk.http import HTTPError, Request, Response, as_response, html, json_response, matches_etag, redirect, unquote


@actor
class Example(Actor):
    @public
    def init(self) -> None:
        http.store_asset("logo.svg", "<svg/>", "image/svg+xml")

    @http.get("/")
    def home(self, request: Request) -> Response:
        page = html("<h1>" + http.escape("Hats & boots") + "</h1>", etag="1")
        return Response(304) if matches_etag(request, page) else page

    @http.get("/items/{name}")
    @http.describes(query={"size": "the hat's size"})
    def item(self, request: Request) -> Response:
        if unquote(request.params["name"]) != "hat":
            raise HTTPError(404, "no such item")
        return json_response({"name": "hat"})

    @http.post("/orders")
    def order(self, request: Request) -> Response:
        self.storage["order"] = request.json()
        return redirect("/")

    @http.put("/orders/{name}")
    def change(self, request: Request) -> Response:
        return as_response({"changed": request.params["name"]})

    @http.patch("/orders/{name}")
    def patch(self, request: Request) -> None:
        http.complete(request.request_id, json_response({"patched": True}))

    @http.delete("/orders/{name}")
    def remove(self, request: Request) -> Response:
        return Response(204)

    @http.command("/any")
    def any(self, request: Request) -> str:
        return request.method

http.assets("/static")


@http.handler
def fallback(request: Request) -> Response:
    return Response(404, "nothing here")

# Test
def test(chain, example):
    assert chain.visit(example, "GET", "/")["status"] == 200
    assert chain.visit(example, "GET", "/", headers={"if-none-match": '"1"'})["status"] in (200, 304)
    assert chain.visit(example, "GET", "/items/hat")["body"] == b'{"name":"hat"}'
    assert chain.visit(example, "GET", "/items/boot")["status"] == 404
    assert chain.visit(example, "POST", "/orders", body='{"item": "hat"}')["status"] == 303
    assert chain.visit(example, "DELETE", "/orders/1")["status"] == 204
    assert chain.visit(example, "GET", "/static/logo.svg")["body"] == b"<svg/>"
