"""Actor whose query never ends."""

from cowboy_sdk import actor, public


@actor
class Endless:
    @public
    def spin(self):
        while True:
            pass
