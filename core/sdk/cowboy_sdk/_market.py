"""The parts of the SDK that only actors with off-chain work use, gathered so that others need not load them."""

from .continuation import Capture, capture, delete_cont, load_cont, save_cont
from .models import CowboyModel
from .results import RunnerResult, StructuredResult
from .retry import Retry
from .taskgroup import TaskGroup
from .verify import Verify, VerifyBuilder

# What `cowboy_sdk.<name>` gives.
PARTS = {
    "Capture": Capture,
    "CowboyModel": CowboyModel,
    "Retry": Retry,
    "RunnerResult": RunnerResult,
    "StructuredResult": StructuredResult,
    "TaskGroup": TaskGroup,
    "Verify": Verify,
    "VerifyBuilder": VerifyBuilder,
    "capture": capture,
    "delete_cont": delete_cont,
    "load_cont": load_cont,
    "save_cont": save_cont,
}
