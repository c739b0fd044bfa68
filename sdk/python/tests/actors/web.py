from cowboy_sdk import actor, http


@actor
class Web:
    @http.get("/")
    def index(self, request):
        """The page."""
        return f"<h1>{http.escape(request.arg('name', 'you'))}</h1>"

    @http.get("/items/{id}")
    def item(self, request, id: int):
        return {"id": id, "text": self.storage.get(f"item/{id}")}

    @http.get("/files/{name:path}")
    def file(self, request, name):
        return http.Response(200, name, etag=True)

    @http.get("/raise")
    def fail(self, request):
        raise ValueError("no")

    @http.get("/old")
    def old(self, request):
        return http.redirect("/")

    @http.get("/cookie")
    def cookie(self, request):
        return http.Response(200, request.cookies.get("seen", "")).set_cookie("seen", "yes", max_age=60)

    @http.post("/items", ttl=64)
    @http.describes(body={"text": str})
    def add(self, request):
        count = self.storage.get("count", 0) + 1
        self.storage["count"] = count
        self.storage[f"item/{count}"] = request.json()["text"]
        return http.json_response({"id": count}, 201)

    @http.delete("/items/{id}")
    def remove(self, request, id: int):
        if self.storage.get(f"item/{id}") is None:
            raise http.HTTPError(404, "no such item")
        self.storage.delete(f"item/{id}")

    @http.post("/later")
    def later(self, request):
        self.storage["waits"] = request.request_id
        return http.Response(202)

    @http.post("/done")
    def done(self, request):
        http.complete(self.storage["waits"], {"answer": 42})

    http.assets("/static")

    @http.post("/static")
    def store(self, request):
        http.store_asset("a/b.css", "body{}", "text/css")
        return request.form()
