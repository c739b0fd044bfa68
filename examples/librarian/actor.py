"""Keeps an archive: reads a page every day with a key that only its runners see, files it in a volume, and serves what a program finds in all of it."""

from typing import Any

from cowboy_sdk import OWNER, Actor, JobFailed, actor, callable_by, cancel_timer, deferred, emit, http, public, runner, set_interval, volumes
from cowboy_sdk.volumes import Mount

QUOTA = 64 << 20
# What one day may add to the archive.
PER_DAY = 1 << 20


@actor
class Librarian(Actor):
    @callable_by(OWNER)
    @deferred
    def open(self, url: str, image: str, secret: str, every: int) -> None:
        """Begins: `secret` is the hash of the name of the owner's secret with which `url` is read, once in `every` blocks; `image` is the program."""
        volumes.create("archive", quota=QUOTA, data=2, parity=1)
        self.storage["settings"] = {"url": url, "image": image, "secret": bytes.fromhex(secret.removeprefix("0x"))}
        self.storage["interval"] = set_interval(every, "work", gas_limit=550_000, cells_limit=200_000)

    # Undecorated: only the actor's own timer gets here.
    @runner.continuation
    async def work(self, payload: bytes) -> None:
        """One day: fetches the page, has the program file it and look at the whole archive, and keeps what it printed."""
        settings = self.storage["settings"]
        day = self.storage.get("days", 0) + 1
        self.storage["days"] = day
        try:
            page = await runner.http(
                settings["url"],
                headers={"authorization": "Bearer ${LIBRARY_KEY}"},
                secrets=[{"name_hash": settings["secret"], "as": "LIBRARY_KEY"}],
                resume_cycles=3_000_000,
                resume_cells=400_000,
            )
            found = await runner.container(
                settings["image"],
                [f"{day:06}"],
                stdin=page.text,
                volumes=[Mount("archive", "pages", "rw", max_bytes=PER_DAY)],
                resources={"cpu_millicores": 500, "memory_mib": 64, "scratch_mib": 16, "max_duration_sec": 60},
                max_price=50_000_000,
                resume_cycles=1_000_000,
                resume_cells=200_000,
            )
        except JobFailed as problem:
            self.storage["missed"] = self.storage.get("missed", 0) + 1
            emit("missed", {"day": day, "reason": problem.reason})
            return
        self.storage["catalogue"] = found.json()
        emit("filed", {"day": day})

    @public
    def report(self) -> dict[str, Any]:
        """How many days it worked, how many came to nothing, and what it found last."""
        return {"days": self.storage.get("days", 0), "missed": self.storage.get("missed", 0), "catalogue": self.storage.get("catalogue")}

    @http.get("/")
    def page(self, request: http.Request) -> http.Response:
        """The catalogue."""
        catalogue = self.storage.get("catalogue") or {"pages": 0, "words": 0, "common": []}
        rows = "".join(f"<tr><td>{http.escape(word)}<td>{count}" for word, count in catalogue["common"])
        return http.html(
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Archive</title><h1>Archive</h1>"
            f"<p id='size'>{catalogue['pages']} pages, {catalogue['words']} words</p>"
            f"<table><tr><th>word<th>times{rows}</table></html>",
            etag=True,
        )

    @callable_by(OWNER)
    def close(self) -> None:
        """Ends the work. The archive stays as long as its escrow lasts."""
        cancel_timer(self.storage["interval"])
