"""Tasks over HTTP: create, list in pages, read, change, remove. Its description is at /_cowboy/openapi.json."""

from typing import Any

from cowboy_sdk import Actor, actor, http

MOST = 50


@actor
class Tasks(Actor):
    @http.get("/tasks")
    @http.describes(query={"after": int, "limit": int})
    def list(self, request: http.Request) -> dict[str, Any]:
        """Tasks after an id, in pages: `next` is the `after` of the page that follows."""
        after, limit = _number(request, "after", 0), min(_number(request, "limit", 10), MOST)
        last, number = self.storage.get("last", 0), after
        found: list[Any] = []
        while len(found) < limit and number < last:
            number += 1
            task = self.storage.get(f"task/{number}")
            if task is not None:
                found.append(task)
        return {"tasks": found, "next": number if number < last else None}

    @http.get("/tasks/{id}")
    def read(self, request: http.Request, id: int) -> dict[str, Any]:
        """One task."""
        return self._task(id)

    @http.post("/tasks")
    @http.describes(body={"title": str})
    def create(self, request: http.Request) -> http.Response:
        """Makes a task."""
        number = self.storage.get("last", 0) + 1
        task = {"id": number, "title": _title(request.json()), "done": False}
        self.storage["last"] = number
        self.storage[f"task/{number}"] = task
        return http.json_response(task, 201, {"location": f"/tasks/{number}"})

    @http.patch("/tasks/{id}")
    @http.describes(body={"done": bool})
    def change(self, request: http.Request, id: int) -> dict[str, Any]:
        """Changes a task's title, or whether it is done."""
        task, fields = self._task(id), request.json()
        if "title" in fields:
            task["title"] = _title(fields)
        if "done" in fields:
            task["done"] = fields["done"] is True
        self.storage[f"task/{id}"] = task
        return task

    @http.delete("/tasks/{id}")
    def remove(self, request: http.Request, id: int) -> None:
        """Removes a task."""
        self._task(id)
        self.storage.delete(f"task/{id}")

    def _task(self, number: int) -> dict[str, Any]:
        task: dict[str, Any] | None = self.storage.get(f"task/{number}")
        if task is None:
            raise http.HTTPError(404, "no such task")
        return task


def _title(fields: object) -> str:
    title = fields.get("title") if isinstance(fields, dict) else None
    if not isinstance(title, str) or not 1 <= len(title) <= 200:
        raise http.HTTPError(422, "title is a text of 1 to 200 letters")
    return title


def _number(request: http.Request, name: str, default: int) -> int:
    text = request.arg(name)
    if text is None:
        return default
    if not text.isdigit() or len(text) > 15:
        raise http.HTTPError(400, f"{name} is a number")
    return int(text)
