"""What the gateway's bench asks for: a page of 1 KiB that shows one value of the storage."""

from cowboy_sdk import actor, http

FILLING = "".join(f"<li>line {number} of a page that somebody wrote</li>" for number in range(21))


@actor
class Page:
    @http.get("/")
    def page(self, request):
        title = http.escape(self.storage.get("title", "A page"))
        return http.html(f"<!doctype html><html lang='en'><title>{title}</title><h1>{title}</h1><ul>{FILLING}</ul></html>")

    @http.post("/title")
    def rename(self, request):
        self.storage["title"] = request.text()[:20]
        return http.json_response({"title": self.storage["title"]})
