"""TaskGroup: several jobs that start together and are waited for together.

    async with TaskGroup() as group:
        pages = [group.create_task(runner.http(url)) for url in urls]
    texts = [page.result().text for page in pages]
"""

from ._keep import MAKERS
from .errors import ContinuationLimitError, JobFailed
from .models import model_name

MAX_TASKS = 8


class TaskHandle:
    """One job of a group. `result()` gives its result, or raises what it failed with."""

    def __init__(self, task_id, index):
        self._task_id = task_id
        self._index = index
        self._outcome = []

    def result(self):
        """The job's result. RuntimeError before the group is done, JobFailed when the job failed."""
        if not self._outcome:
            raise RuntimeError(
                f"Task #{self._index} result not yet available. Await the TaskGroup before accessing results."
            )
        if isinstance(self._outcome[0], BaseException):
            raise self._outcome[0]
        return self._outcome[0]

    def done(self):
        return bool(self._outcome)

    @property
    def task_id(self):
        return self._task_id

    @property
    def index(self):
        return self._index

    def _set_result(self, value):
        self._outcome = [value]

    def _set_error(self, problem):
        self._outcome = [problem]

    def _take(self, results):
        if not self._outcome:
            self._outcome = [results[self._index]]

    def __keep__(self):
        outcome = self._outcome
        if outcome and isinstance(outcome[0], JobFailed):
            outcome = [["failed", outcome[0].reason, outcome[0].job_id, outcome[0].attempts]]
        return "task", [self._task_id, self._index, [["ok", item] if not isinstance(item, list) else item for item in outcome]]

    def __repr__(self):
        return f"TaskHandle(#{self._index}, {'done' if self._outcome else 'pending'})"


class TaskGroup:
    """At most eight jobs. They are sent, in the order of `create_task`, where the `async with` block ends."""

    def __init__(self, timeout_blocks=0):
        self._tasks = []
        self._awaitables = []
        self._timeout_blocks = timeout_blocks

    def create_task(self, awaitable):
        """Adds a job, made by `runner.llm` and its like. Returns its handle. ContinuationLimitError for a ninth."""
        if len(self._tasks) >= MAX_TASKS:
            raise ContinuationLimitError(
                f"TaskGroup: maximum {MAX_TASKS} parallel tasks allowed, attempting to add task #{len(self._tasks) + 1}."
            )
        if not hasattr(awaitable, "job_type"):
            raise ContinuationLimitError(f"TaskGroup: a task is a runner job; got {type(awaitable).__name__}")
        handle = TaskHandle(f"__taskgroup_task_{len(self._tasks)}", len(self._tasks))
        self._tasks.append(handle)
        self._awaitables.append(awaitable)
        return handle

    @property
    def all_done(self):
        return all([task.done() for task in self._tasks])

    @property
    def results(self):
        """All results in the order of creation."""
        return [task.result() for task in self._tasks]

    def __len__(self):
        return len(self._tasks)

    def __repr__(self):
        return f"TaskGroup({len([1 for task in self._tasks if task.done()])}/{len(self._tasks)} tasks done)"

    # What a continuation asks of what it awaits

    def _is_done(self):
        return not self._tasks

    def _outcome(self, pending):
        return []

    def _begin(self, cid, handler):
        ids, models = [], []
        for place, awaitable in enumerate(self._awaitables):
            if self._timeout_blocks:
                awaitable.kwargs = {"timeout_blocks": self._timeout_blocks, **awaitable.kwargs}
            ids.append(awaitable.send(cid, handler, task_index=place, total_tasks=len(self._awaitables)))
            models.append(None if awaitable._model is None else model_name(awaitable._model))
        return {"kind": "group", "for": ids, "models": models}

    def _take(self, results):
        for task in self._tasks:
            task._take(results)

    def __keep__(self):
        return "group", [task.__keep__()[1] for task in self._tasks]


def _task(kept):
    handle = TaskHandle(kept[0], kept[1])
    for outcome in kept[2]:
        handle._outcome = [outcome[1] if outcome[0] == "ok" else JobFailed(outcome[1], outcome[2], outcome[3])]
    return handle


def _group(kept):
    group = TaskGroup()
    group._tasks = [_task(task) for task in kept]
    return group


MAKERS["task"] = _task
MAKERS["group"] = _group
