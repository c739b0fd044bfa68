"""Jobs in trusted environments."""

from . import runner


def tee_call(job, *, deterministic=False, runners=None, required_tee_type=None, max_price=None, tip=None, timeout_blocks=None, **options):
    """A job that only runners with an accepted attestation do: `await tee_call({"type": "llm", "prompt": "..."})`.

    One runner does it unless `deterministic`: then three must give the same bytes, and `toolchain_digest` and `seed` must
    say what makes them the same. Such a model's job also names its model (`model_id`) and has `temperature` 0; an
    embedding has no temperature. Otherwise the chain refuses it with `job_invalid`. `required_tee_type` is sgx, sev, tdx
    or nitro, as the manifest grants it.
    """
    if not isinstance(job, dict):
        raise TypeError("tee_call: job must be a dict with a type and what the runner needs")
    verification = {
        "tee_required": True,
        "mode": "deterministic" if deterministic else "none",
        "runners": (3 if deterministic else 1) if runners is None else runners,
    }
    if required_tee_type is not None:
        options["tee_type"] = required_tee_type
    options.update({"verification": verification, "max_price": max_price, "tip": tip, "timeout_blocks": timeout_blocks})
    rest = {name: value for name, value in job.items() if name not in ("type", "prompt", "url")}
    first = [job[name] for name in ("prompt", "url") if name in job]
    return runner._RunnerAwaitable(job["type"], *first, **rest, **{k: v for k, v in options.items() if v is not None})
