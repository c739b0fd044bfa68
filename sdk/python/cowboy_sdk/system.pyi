# Generated from the tables of `core/system` by `cargo run -p cowboy-system --example stubs > sdk/python/cowboy_sdk/system.pyi`.

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

from .types import Address, TokenId

class SystemActor:
    def __init__(self, number: int) -> None: ...
    @property
    def address(self) -> Address: ...

_RunnerRegistryRegisterRates = TypedDict("_RunnerRegistryRegisterRates", {
    "llm_input_token": NotRequired[int],
    "llm_output_token": NotRequired[int],
    "http_request_base": NotRequired[int],
    "compute_second": NotRequired[int],
    "memory_mb": NotRequired[int],
    "min_job_value": NotRequired[int],
    "max_job_value": NotRequired[int],
})

_RunnerRegistryRegisterContainers = TypedDict("_RunnerRegistryRegisterContainers", {
    "cpu_millicores": int,
    "memory_mib": int,
    "scratch_mib": int,
    "platforms": Sequence[Literal["linux/amd64", "linux/arm64"]],
    "volumes": bool,
})

_RunnerRegistryUnstake = TypedDict("_RunnerRegistryUnstake", {
    "release": int,
})

_RunnerRegistryWithdraw = TypedDict("_RunnerRegistryWithdraw", {
    "amount": int,
})

_RunnerRegistryUndelegate = TypedDict("_RunnerRegistryUndelegate", {
    "amount": int,
    "release": int,
})

_RunnerRegistryGetDelegation = TypedDict("_RunnerRegistryGetDelegation", {
    "amount": int,
    "leaving": list[_RunnerRegistryUndelegate],
    "registered_at": int,
})

_RunnerRegistryGetRunner = TypedDict("_RunnerRegistryGetRunner", {
    "stake": int,
    "delegated": int,
    "reputation": int,
    "active_jobs": int,
    "max_concurrent": int,
    "last_heartbeat": int,
    "is_selectable": bool,
    "health": str,
    "is_flagged": bool,
})

_RunnerRegistryPublishModel = TypedDict("_RunnerRegistryPublishModel", {
    "model_id": bytes,
})

_RunnerRegistryGetModel = TypedDict("_RunnerRegistryGetModel", {
    "publisher": bytes,
    "name": str,
    "status": int,
    "deposit": int,
})

_JobDispatcherGetJob = TypedDict("_JobDispatcherGetJob", {
    "status": str,
    "submitter": bytes,
    "submitted_at": int,
    "members": list[bytes],
    "attempt": int,
    "reason": str,
    "output": bytes | None,
})

_JobDispatcherGetCommittee = TypedDict("_JobDispatcherGetCommittee", {
    "epoch": int,
    "runners": int,
    "concentration": int,
    "committee": int,
    "threshold": int,
})

_ResultVerifierRevealUsage = TypedDict("_ResultVerifierRevealUsage", {
    "input_tokens": NotRequired[int],
    "output_tokens": NotRequired[int],
    "requests": NotRequired[int],
    "compute_ms": NotRequired[int],
    "memory_mb": NotRequired[int],
})

_ResultVerifierSubmitVerifiedResultReveals = TypedDict("_ResultVerifierSubmitVerifiedResultReveals", {
    "runner": Address | bytes,
    "output": NotRequired[int | None],
    "fault": NotRequired[int],
    "progress": NotRequired[int],
    "salt": NotRequired[bytes | None],
    "signature": bytes,
    "usage": NotRequired[_ResultVerifierRevealUsage],
    "attestation": NotRequired[bytes],
})

_SecretsManagerRegisterProxy = TypedDict("_SecretsManagerRegisterProxy", {
    "address": bytes,
    "certificate": bytes,
    "demands": int,
    "endpoint": str,
    "excluded_until": int,
    "is_able": bool,
    "key": bytes,
    "last_heartbeat": int,
    "left_at": int | None,
    "port": int,
    "registered_at": int,
    "silences": int,
    "stake": int,
})

_SecretsManagerPutSecret = TypedDict("_SecretsManagerPutSecret", {
    "account": bytes,
    "name_hash": bytes,
    "version": int,
})

_SecretsManagerAccuse = TypedDict("_SecretsManagerAccuse", {
    "amount": int,
    "proxy": bytes,
})

_SecretsManagerGetKeyMembers = TypedDict("_SecretsManagerGetKeyMembers", {
    "address": bytes,
    "key": bytes,
})

_SecretsManagerGetKey = TypedDict("_SecretsManagerGetKey", {
    "epoch": int,
    "key_id": int,
    "master": bytes | None,
    "members": list[_SecretsManagerGetKeyMembers],
    "next_draw": int,
    "outcome": bytes | None,
    "since": int,
    "sunset": int | None,
    "threshold": int,
})

_SecretsManagerGetRoundPlayers = TypedDict("_SecretsManagerGetRoundPlayers", {
    "address": bytes,
    "joined": bytes | None,
    "key": bytes,
})

_SecretsManagerGetRound = TypedDict("_SecretsManagerGetRound", {
    "begun_at": int,
    "dealers": list[_SecretsManagerGetKeyMembers],
    "ends_at": int,
    "hashes": list[bytes],
    "key_id": int,
    "phase": str,
    "players": list[_SecretsManagerGetRoundPlayers],
    "round": int,
    "spoke": int,
})

_SecretsManagerGetSecret = TypedDict("_SecretsManagerGetSecret", {
    "is_paused": bool,
    "latest": int,
    "name_hash": bytes,
    "versions": list[int],
})

_SecretsManagerGetVault = TypedDict("_SecretsManagerGetVault", {
    "deposit": int,
    "first_version": int,
    "secrets": int,
})

_SecretsManagerGetVersion = TypedDict("_SecretsManagerGetVersion", {
    "deposit": int,
    "key_id": int,
    "policy": bytes,
    "released": int,
    "sealed": bytes,
    "stored_at": int,
    "version": int,
})

_SecretsManagerGetRelease = TypedDict("_SecretsManagerGetRelease", {
    "deadline": int,
    "due": int,
    "epoch": int,
    "identity": bytes,
    "opened": int,
    "recipient": bytes,
    "served": int | None,
    "subject": bytes,
    "transport": bytes,
})

_TEEVerifierAttest = TypedDict("_TEEVerifierAttest", {
    "measurement": bytes,
    "valid_until": int,
})

_TEEVerifierGetAttestation = TypedDict("_TEEVerifierGetAttestation", {
    "environment": Literal["sgx", "sev", "tdx", "nitro"],
    "measurement": bytes,
    "key": bytes,
    "at": int,
    "valid_until": int,
})

_TEEVerifierGetPolicy = TypedDict("_TEEVerifierGetPolicy", {
    "accepted": bool,
    "models": list[bytes],
    "name": str,
})

_DualBasefeeAndTokenRegistryGetBasefee = TypedDict("_DualBasefeeAndTokenRegistryGetBasefee", {
    "cycle": int,
    "cell": int,
})

_DualBasefeeAndTokenRegistryGetTimerAuction = TypedDict("_DualBasefeeAndTokenRegistryGetTimerAuction", {
    "base_fee": int,
    "median_tip": int,
    "weight": int,
})

_DualBasefeeAndTokenRegistryTokenGet = TypedDict("_DualBasefeeAndTokenRegistryTokenGet", {
    "name": str,
    "symbol": str,
    "decimals": int,
    "owner": bytes,
    "supply": int | bytes,
    "max_supply": int | bytes,
    "hook": bytes | None,
    "metadata_uri": str,
})

_EntitlementRegistryDeprecations = TypedDict("_EntitlementRegistryDeprecations", {
    "id": str,
    "from": int,
    "removed_at": int,
})

_TreasuryGetSupply = TypedDict("_TreasuryGetSupply", {
    "genesis": int,
    "minted": int,
    "burned": int,
})

_TreasuryGetVesting = TypedDict("_TreasuryGetVesting", {
    "beneficiary": bytes | None,
    "held": int,
    "released": int,
    "total": int,
    "vested": int,
})

_GovernanceGetPauses = TypedDict("_GovernanceGetPauses", {
    "actor": bytes,
    "proposal": int | None,
    "until": int | None,
})

_GovernanceGetProposal = TypedDict("_GovernanceGetProposal", {
    "ballots": int,
    "height": int | None,
    "is_fast": bool,
    "proposer": bytes,
    "stage": str,
    "tier": int,
})

_GovernanceGetUpgrades = TypedDict("_GovernanceGetUpgrades", {
    "height": int,
    "version": int,
})

_GovernanceGetHistory = TypedDict("_GovernanceGetHistory", {
    "height": int,
    "proposal": int,
    "value": int,
})

_GovernanceGetValidator = TypedDict("_GovernanceGetValidator", {
    "endpoint": bytes,
    "is_share_public": bool,
    "jailings": int,
    "network_key": bytes,
    "signing_key": bytes,
    "stake": int,
    "status": str,
    "until": int | None,
    "vrf_key": bytes,
})

_GovernanceProposeActions = TypedDict("_GovernanceProposeActions", {
    "action": Literal["set_parameter", "call", "disburse", "set_council", "circuit_break", "resume", "upgrade", "cancel_upgrade"],
    "name": NotRequired[str | None],
    "value": NotRequired[int | None],
    "actor": NotRequired[Any | None],
    "method": NotRequired[str | None],
    "argument": NotRequired[Any | None],
    "bucket": NotRequired[str | None],
    "to": NotRequired[Address | bytes | None],
    "amount": NotRequired[int | None],
    "members": NotRequired[Sequence[Address | bytes] | None],
    "version": NotRequired[int | None],
    "height": NotRequired[int | None],
})

_GovernancePreviewEvents = TypedDict("_GovernancePreviewEvents", {
    "data": Any,
    "emitter": bytes,
    "name": str,
})

_GovernancePreview = TypedDict("_GovernancePreview", {
    "deposit": int,
    "error": str | None,
    "events": list[_GovernancePreviewEvents],
    "is_cancellable": bool,
    "refusal": str | None,
    "tier": int,
})

_StorageManagerGetRent = TypedDict("_StorageManagerGetRent", {
    "bond": int,
    "debt": int,
    "per_epoch": int,
    "prepaid": int,
    "quota": int,
    "reserve": int,
    "size": int,
    "state": str,
    "unpaid": int,
})

_StorageManagerRestore = TypedDict("_StorageManagerRestore", {
    "missing": int,
})

_StorageManagerCreateVolumePartitions = TypedDict("_StorageManagerCreateVolumePartitions", {
    "bytes": int,
    "partition": bytes,
    "root": bytes,
})

_StorageManagerCreateVolumeSlots = TypedDict("_StorageManagerCreateVolumeSlots", {
    "is_serving": bool,
    "price": int,
    "relay": bytes | None,
    "since": int,
})

_StorageManagerCreateVolume = TypedDict("_StorageManagerCreateVolume", {
    "bytes": int,
    "data": int,
    "deleted_at": int | None,
    "escrow": int,
    "keys": str,
    "manifest_root": bytes,
    "max_price": int,
    "owed": int,
    "owner": bytes,
    "parity": int,
    "partitions": list[_StorageManagerCreateVolumePartitions],
    "per_epoch": int,
    "quota": int,
    "slots": list[_StorageManagerCreateVolumeSlots],
    "status": str,
    "volume_id": bytes,
})

_StorageManagerQuote = TypedDict("_StorageManagerQuote", {
    "escrow": int,
    "fee": int,
    "per_epoch": int,
})

_StorageManagerCommitAcks = TypedDict("_StorageManagerCommitAcks", {
    "signature": bytes,
    "slot": int,
})

_StorageManagerGetPartitionPrevious = TypedDict("_StorageManagerGetPartitionPrevious", {
    "at": int,
    "behind": int,
    "depth": int,
    "key_version": int,
    "leaves": int,
    "node": bytes,
    "root": bytes,
    "sum": int,
})

_StorageManagerGetPartition = TypedDict("_StorageManagerGetPartition", {
    "key_version": int,
    "previous": _StorageManagerGetPartitionPrevious | None,
    "root": _StorageManagerGetPartitionPrevious,
    "sequence": int,
})

_StorageManagerGetCap = TypedDict("_StorageManagerGetCap", {
    "capability": bytes,
    "from": int,
    "holder": bytes,
    "job": bytes,
    "max_bytes": int,
    "mode": str,
    "partition": bytes,
    "until": int,
    "used_bytes": int,
    "volume_id": bytes,
})

_RelayRegistryRegisterRelay = TypedDict("_RelayRegistryRegisterRelay", {
    "address": bytes,
    "ask": int,
    "capacity": int,
    "certificate": bytes,
    "endpoint": str,
    "gave_way_at": int | None,
    "is_eligible": bool,
    "is_healthy": bool,
    "key": bytes,
    "last_heartbeat": int,
    "left_at": int | None,
    "misses": int,
    "next_draw": int,
    "port": int,
    "region": str,
    "registered_at": int,
    "reserved": int,
    "rests_until": int | None,
    "slots": int,
    "stake": int,
})

_RelayRegistryGetRoundPoints = TypedDict("_RelayRegistryGetRoundPoints", {
    "at": int,
    "partition": bytes,
    "root": bytes,
    "slot": int,
    "volume_id": bytes,
})

_RelayRegistryGetRound = TypedDict("_RelayRegistryGetRound", {
    "height": int,
    "points": list[_RelayRegistryGetRoundPoints],
    "until": int,
})

_RelayRegistryGetDemand = TypedDict("_RelayRegistryGetDemand", {
    "bond": int,
    "by": bytes,
    "length": int,
    "relay": bytes,
    "shard": bytes,
    "shard_bytes": int,
    "slot": int,
    "start": int,
    "until": int,
    "volume_id": bytes,
})

_RouteRegistryRegister = TypedDict("_RouteRegistryRegister", {
    "actor_address": bytes,
    "expires_at": int,
    "is_dns": bool,
    "name": str,
    "owner": bytes,
    "registered_at": int,
    "subdomain_policy": int,
})

_RouteRegistryListNames = TypedDict("_RouteRegistryListNames", {
    "names": list[str],
    "next": str | None,
})

_RouteRegistryQuote = TypedDict("_RouteRegistryQuote", {
    "fee": int,
    "stage": Literal["live", "grace", "auction", "free"],
})

_GatewayRegistryRegisterGateway = TypedDict("_GatewayRegistryRegisterGateway", {
    "address": bytes,
    "endpoint": str,
    "health": int,
    "http_port": int,
    "is_active": bool,
    "last_heartbeat": int,
    "leaving": int | None,
    "registered_at": int,
    "stake_amount": int,
})

_GatewayRegistryUnstake = TypedDict("_GatewayRegistryUnstake", {
    "released": int,
    "until": int,
})

_GatewayRegistryReport = TypedDict("_GatewayRegistryReport", {
    "slashed": int,
})

_ContainerRegistryGetImage = TypedDict("_ContainerRegistryGetImage", {
    "allowed": bool,
    "name": str,
    "since": int,
})

_ContainerRegistryListImages = TypedDict("_ContainerRegistryListImages", {
    "allowed": bool,
    "digest": bytes,
    "name": str,
    "since": int,
})

_ContainerRegistryGetClass = TypedDict("_ContainerRegistryGetClass", {
    "cpu_millicores": int,
    "memory_mib": int,
    "scratch_mib": int,
    "max_duration_sec": int,
})

class _RunnerRegistry(SystemActor):
    """0x01, `0x0000000000000000000000000000000000000001`. Runner registration, staking, capabilities, health, reputation; published models."""
    def register(
        self, *,
        result_key: bytes,
        kinds: Sequence[Literal["Llm", "Http", "Mcp", "Custom", "Container"]] | None = None,
        rates: _RunnerRegistryRegisterRates | None = None,
        max_concurrent: int,
        tee: Sequence[Literal["sgx", "sev", "tdx", "nitro", "dev"]] | None = None,
        endpoint: str | None = None,
        regions: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        models: Sequence[TokenId | bytes] | None = None,
        provides: bytes | None = None,
        containers: _RunnerRegistryRegisterContainers | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Makes the sender a runner. The value is its stake."""
    def update(
        self, *,
        result_key: bytes,
        kinds: Sequence[Literal["Llm", "Http", "Mcp", "Custom", "Container"]] | None = None,
        rates: _RunnerRegistryRegisterRates | None = None,
        max_concurrent: int,
        tee: Sequence[Literal["sgx", "sev", "tdx", "nitro", "dev"]] | None = None,
        endpoint: str | None = None,
        regions: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        models: Sequence[TokenId | bytes] | None = None,
        provides: bytes | None = None,
        containers: _RunnerRegistryRegisterContainers | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Replaces what the sender said of itself. A larger `max_job_value` needs the stake for it."""
    def stake(
        self, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Adds the value to the sender's stake."""
    def unstake(
        self, *,
        amount: int,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryUnstake:
        """Asks stake back. It can be slashed until it is released."""
    def withdraw(
        self, *,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryWithdraw:
        """Pays out stake whose time is over."""
    def leave(
        self, *,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryUnstake:
        """Ends being selected, and asks all stake back."""
    def delegate(
        self, *,
        runner: Address | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Puts the value behind a runner. It counts for its draws, and is slashed with its own stake."""
    def undelegate(
        self, *,
        runner: Address | bytes,
        amount: int | None = None,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryUndelegate:
        """Asks delegated stake back. It can be slashed until it is released."""
    def withdraw_delegation(
        self, *,
        runner: Address | bytes,
        registered_at: int | None = None,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryWithdraw:
        """Pays out delegated stake whose time is over; all of it where the runner is gone."""
    def get_delegation(
        self, *,
        runner: Address | bytes,
        delegator: Address | bytes,
        registered_at: int | None = None,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryGetDelegation:
        """Returns what somebody has behind a runner."""
    def heartbeat(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Shows that the sender is there. Ends a probation whose time is over."""
    def get_runner(
        self, *,
        runner: Address | bytes,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryGetRunner:
        """Returns what selections see of a runner."""
    def attest(
        self, *,
        attestation: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Says what the sender provides, in the place of what it said last."""
    def get_attestation(
        self, *,
        runner: Address | bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Returns a runner's attestation as it was signed."""
    def publish_model(
        self, *,
        weights: TokenId | bytes,
        arch: TokenId | bytes,
        tokenizer: TokenId | bytes,
        license: TokenId | bytes,
        name: str | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryPublishModel:
        """Publishes a model. The value is its deposit."""
    def retire_model(
        self, *,
        model_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Withdraws the sender's model, and pays the deposit back."""
    def get_model(
        self, *,
        model_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _RunnerRegistryGetModel:
        """Returns a model that somebody publishes, or of which governance decided something."""

class _JobDispatcher(SystemActor):
    """0x02, `0x0000000000000000000000000000000000000002`. Job submission, selection, lifecycle."""
    def submit_job(
        self, argument: dict[str, Any], /, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> bytes:
        """Submits a job, and returns its id: holds price, tip and the callback's most from the sender, and has a committee drawn. The fields for the runner and what the job needs of one stand beside those that are listed (docs/jobs.md)."""
    def handle_message(
        self, argument: dict[str, Any], /, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> bytes:
        """Submits the job of the published SDK's message, or a job as `submit_job` takes it, and returns its id: what `send_message` to this address brings (decision 129)."""
    def get_job(
        self, *,
        job_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _JobDispatcherGetJob:
        """Returns a job, until it is forgotten."""
    def get_committee(
        self, *,
        cycles_limit: int = ...,
    ) -> _JobDispatcherGetCommittee | None:
        """Returns the epoch's committees, or null before the first one."""

class _ResultVerifier(SystemActor):
    """0x03, `0x0000000000000000000000000000000000000003`. Commit and reveal, verification, challenges, callbacks."""
    def commit(
        self, *,
        job_id: TokenId | bytes,
        commitment: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Binds a member to its report: keccak256(report ‖ salt)."""
    def reveal(
        self, *,
        job_id: TokenId | bytes,
        output: bytes | None = None,
        fault: int | None = None,
        progress: int | None = None,
        salt: bytes | None = None,
        signature: bytes,
        usage: _ResultVerifierRevealUsage | None = None,
        attestation: bytes | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Opens the sender's commitment. The report is the CBOR of {attestation, fault, progress, result, usage}; the signature covers it."""
    def submit_result(
        self, *,
        job_id: TokenId | bytes,
        output: bytes | None = None,
        fault: int | None = None,
        progress: int | None = None,
        signature: bytes,
        usage: _ResultVerifierRevealUsage | None = None,
        attestation: bytes | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Submits the result of a committee of one, which commits to nothing before."""
    def submit_verified_result(
        self, *,
        job_id: TokenId | bytes,
        outputs: Sequence[bytes] | None = None,
        reveals: Sequence[_ResultVerifierSubmitVerifiedResultReveals],
        cycles_limit: int = ...,
    ) -> None:
        """Opens several commitments at once. The aggregator only."""
    def attest_crash(
        self, *,
        job_id: TokenId | bytes,
        signal: str | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender committed and crashed: it is not slashed for not revealing."""
    def challenge(
        self, *,
        job_id: TokenId | bytes,
        runner: Address | bytes,
        claim: str | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> int:
        """Claims that a runner's accepted result is dishonest, or that it put results together dishonestly. The value is the bond. Returns the claim's place among the job's claims."""
    def reproduce(
        self, *,
        job_id: TokenId | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> bytes:
        """Claims that a deterministic result is wrong. The value is the bond; the sender pays the work. Returns the id of the job that does the work again."""
    def decide_challenge(
        self, *,
        job_id: TokenId | bytes,
        claim: int | None = None,
        upheld: bool | None = None,
        challenger: Address | bytes | None = None,
        cycles_limit: int = ...,
    ) -> bool:
        """Decides a claim. Governance decides at once; members of the security council vote, and seven of nine decide. Returns whether it is decided."""

class _SecretsManager(SystemActor):
    """0x04, `0x0000000000000000000000000000000000000004`. Proxies, the committee that they form, secrets, and their threshold release."""
    def register_proxy(
        self, *,
        endpoint: str,
        port: int,
        certificate: TokenId | bytes,
        key: bytes,
        proof: bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _SecretsManagerRegisterProxy:
        """Registers the sender as a proxy, with the stake as value."""
    def update_proxy(
        self, *,
        endpoint: str,
        port: int,
        certificate: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Says where the sender is reached."""
    def heartbeat(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender is up."""
    def add_stake(
        self, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Stakes the value, too."""
    def leave(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Leaves: the sender is not drawn any more. It keeps the seats that it has until the next dealing."""
    def withdraw(
        self, *,
        cycles_limit: int = ...,
    ) -> int:
        """Pays the sender's stake, `secrets.unbonding` blocks after it left and has no seat any more."""
    def join(
        self, *,
        key_id: int,
        round: int,
        key: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Gives the key to which the sender's shares of this dealing are encrypted."""
    def deal(
        self, *,
        key_id: int,
        round: int,
        message: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Deals: a commitment, and an encrypted share for each player."""
    def ack(
        self, *,
        key_id: int,
        round: int,
        message: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Acknowledges shares."""
    def log(
        self, *,
        key_id: int,
        round: int,
        message: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Publishes the log of a dealer."""
    def confirm(
        self, *,
        key_id: int,
        round: int,
        digest: TokenId | bytes,
        outcome: bytes | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Confirms what the dealing came to. With enough equal confirmations at the end of the phase, or once every player has confirmed, the players become the committee; only those that confirmed have to answer."""
    def put_secret(
        self, *,
        policy: bytes,
        sealed: bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerPutSecret:
        """Stores a version of a secret of the sender, and takes the deposit for it out of the sender's balance."""
    def pause_secret(
        self, *,
        name_hash: TokenId | bytes,
        paused: bool,
        cycles_limit: int = ...,
    ) -> None:
        """Stops or resumes releases of a secret of the sender. Those that are open end, and stay so."""
    def delete_version(
        self, *,
        name_hash: TokenId | bytes,
        version: int,
        cycles_limit: int = ...,
    ) -> int:
        """Deletes a version of a secret of the sender, and returns the deposit. Whoever kept the bytes and was released the version can still open it."""
    def delete_secret(
        self, *,
        name_hash: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> int:
        """Deletes a secret of the sender with all versions, and returns the deposits."""
    def release_to_owner(
        self, *,
        name_hash: TokenId | bytes,
        version: int | None = None,
        transport: bytes,
        proof: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Has a version of a secret of the sender released to the sender, for `secrets.release_fee`."""
    def release_to_runner(
        self, *,
        job: TokenId | bytes,
        index: int,
        transport: bytes,
        proof: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Has a secret of a job released to the sender, who was drawn for it, for `secrets.release_fee` of the account that keeps it."""
    def release_partition(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        capability: bytes | None = None,
        key_version: int | None = None,
        transport: bytes,
        proof: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Has the key of a partition released to the sender, for `secrets.release_fee` of the sender: the owner of the volume, or who holds a capability for the partition. For a runner that holds one for a job, the owner pays, once for a version. The committee makes the key; it stands nowhere."""
    def close_release(
        self, *,
        release_id: TokenId | bytes,
        epoch: int,
        served: int,
        cycles_limit: int = ...,
    ) -> None:
        """Says who answered a release to the sender, and pays them."""
    def demand(
        self, *,
        release_id: TokenId | bytes,
        served: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Asks as many members as are missing to the threshold to answer on the chain, for the bond as value."""
    def serve(
        self, *,
        release_id: TokenId | bytes,
        answer: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Answers a demand. Only a member that has to."""
    def accuse(
        self, *,
        release_id: TokenId | bytes,
        epoch: int,
        index: int,
        answer: bytes,
        signature: bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerAccuse:
        """Shows an answer that a member signed and that is false. Anybody may."""
    def get_proxy(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerRegisterProxy | None:
        """Returns a proxy; null where none is registered."""
    def get_key(
        self, *,
        key_id: int | None = None,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetKey | None:
        """Returns a key and its committee; null where there is none."""
    def get_round(
        self, *,
        key_id: int | None = None,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetRound | None:
        """Returns the dealing of a key that is under way; null where none is."""
    def get_secret(
        self, *,
        account: Address | bytes,
        name_hash: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetSecret | None:
        """Returns a secret; null where there is none."""
    def get_vault(
        self, *,
        account: Address | bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetVault:
        """Returns what an account keeps."""
    def list_secrets(
        self, *,
        account: Address | bytes,
        first: TokenId | bytes | None = None,
        cycles_limit: int = ...,
    ) -> list[bytes]:
        """Returns the hashes of the names of an account's secrets, ascending, at most 256."""
    def get_version(
        self, *,
        account: Address | bytes,
        name_hash: TokenId | bytes,
        version: int | None = None,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetVersion | None:
        """Returns a version of a secret; null where there is none."""
    def get_release(
        self, *,
        release_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _SecretsManagerGetRelease | None:
        """Returns a release; null where there is none, or its record was deleted."""

class _TEEVerifier(SystemActor):
    """0x05, `0x0000000000000000000000000000000000000005`. Remote attestation: trusted roots, accepted programs, what runners proved."""
    def attest(
        self, *,
        environment: Literal["sgx", "sev", "tdx", "nitro"],
        document: bytes | None = None,
        collateral: bytes | None = None,
        key: bytes,
        cycles_limit: int = ...,
    ) -> _TEEVerifierAttest:
        """Proves that the sender, a runner, has a key that only a measured program knows. The document's data begin with keccak256("cowboy-tee-key:" ‖ runner ‖ key)."""
    def get_attestation(
        self, *,
        runner: Address | bytes,
        cycles_limit: int = ...,
    ) -> _TEEVerifierGetAttestation | None:
        """Returns what a runner proved last, or null."""
    def get_policy(
        self, *,
        environment: Literal["sgx", "sev", "tdx", "nitro"],
        measurement: bytes | None = None,
        cycles_limit: int = ...,
    ) -> _TEEVerifierGetPolicy | None:
        """Returns what governance decided about a program, or null."""
    def get_roots(
        self, *,
        environment: Literal["sgx", "sev", "tdx", "nitro"],
        cycles_limit: int = ...,
    ) -> list[bytes]:
        """Returns the certificates that documents of an environment must lead to."""

class _DualBasefeeAndTokenRegistry(SystemActor):
    """0x06, `0x0000000000000000000000000000000000000006`. The base fees of both markets, single timers as governance sees them, and fungible tokens."""
    def get_basefee(
        self, *,
        cycles_limit: int = ...,
    ) -> _DualBasefeeAndTokenRegistryGetBasefee:
        """Returns the base fees of the next block."""
    def get_timer_auction(
        self, *,
        scheduler: Address | bytes | None = None,
        cycles_limit: int = ...,
    ) -> _DualBasefeeAndTokenRegistryGetTimerAuction:
        """Returns the state of the timer auction, for a scheduler's tips. From protocol version 2."""
    def cancel_timer(
        self, *,
        timer_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Removes a timer; one that is gone changes nothing. Governance, or who pays for the timer (SYS 48)."""
    def extend_timer(
        self, *,
        timer_id: TokenId | bytes,
        expires_at: int,
        cycles_limit: int = ...,
    ) -> None:
        """Moves a timer's last height. Governance, or who pays for the timer (SYS 50)."""
    def token_create(
        self, *,
        name: str,
        symbol: str,
        decimals: int | None = None,
        initial_supply: int | bytes | None = None,
        max_supply: int | bytes | None = None,
        hook: Address | bytes | None = None,
        metadata_uri: str | None = None,
        cycles_limit: int = ...,
    ) -> bytes:
        """Creates a token and returns its id. The sender owns it and receives the initial supply."""
    def token_transfer(
        self, *,
        token_id: TokenId | bytes,
        to: Address | bytes,
        amount: int | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Transfers the sender's tokens. A token with a hook returns what the hook does."""
    def token_transfer_from(
        self, *,
        token_id: TokenId | bytes,
        owner: Address | bytes,
        to: Address | bytes,
        amount: int | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Transfers tokens of an owner who approved the sender as spender."""
    def token_approve(
        self, *,
        token_id: TokenId | bytes,
        spender: Address | bytes,
        amount: int | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Lets a spender transfer the sender's tokens. Replaces what the spender was allowed before. The sender puts `rent.record_deposit` down, and has it back when nothing is left to transfer."""
    def token_mint(
        self, *,
        token_id: TokenId | bytes,
        to: Address | bytes,
        amount: int | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Mints tokens. The owner, or the holder of the permission token_mint."""
    def token_burn(
        self, *,
        token_id: TokenId | bytes,
        amount: int | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Burns the sender's tokens."""
    def token_balance_of(
        self, *,
        token_id: TokenId | bytes,
        account: Address | bytes,
        cycles_limit: int = ...,
    ) -> int | bytes:
        """Returns an account's balance."""
    def token_allowance(
        self, *,
        token_id: TokenId | bytes,
        owner: Address | bytes,
        spender: Address | bytes,
        cycles_limit: int = ...,
    ) -> int | bytes:
        """Returns what a spender may transfer of an owner's tokens."""
    def token_total_supply(
        self, *,
        token_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> int | bytes:
        """Returns the total supply."""
    def token_get(
        self, *,
        token_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _DualBasefeeAndTokenRegistryTokenGet:
        """Returns a token."""
    def token_set_hook(
        self, *,
        token_id: TokenId | bytes,
        hook: Address | bytes | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Names another hook, or none. The owner only."""
    def token_transfer_ownership(
        self, *,
        token_id: TokenId | bytes,
        owner: Address | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Transfers the ownership of a token. The owner only."""

class _EntitlementRegistry(SystemActor):
    """0x07, `0x0000000000000000000000000000000000000007`. Entitlements of manifests as governance leaves them; pool access control and roles."""
    def deprecations(
        self, *,
        cycles_limit: int = ...,
    ) -> list[_EntitlementRegistryDeprecations]:
        """Returns every entitlement that is or will be removed."""
    def get_domain_set(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> list[str]:
        """Returns a curated set of domains."""
    def redeploy(
        self, *,
        actor: Address | bytes,
        manifest: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Gives an actor whose entitlement was removed a new manifest. Its owner only (000 §9.11)."""
    def grant(
        self, *,
        grantee: Address | bytes,
        scope: bytes,
        action: bytes,
        constraints: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Grants one action in one scope, and returns the permission's id (SYS 30)."""
    def revoke(
        self, *,
        entitlement_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Takes a permission back (SYS 31)."""
    def delegate(
        self, *,
        entitlement_id: TokenId | bytes,
        delegatee: Address | bytes,
        constraints: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Passes a permission on, narrower, and returns the new one's id (SYS 32)."""
    def create_role(
        self, *,
        name: bytes,
        scopes: bytes,
        actions: bytes,
        constraints: bytes,
        cycles_limit: int = ...,
    ) -> bytes:
        """Makes a named set of permissions, and returns the role's id (SYS 33). The sender puts down a deposit for it."""
    def assign_role(
        self, *,
        role_id: TokenId | bytes,
        assignee: Address | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Gives an address a role (SYS 34)."""
    def revoke_role(
        self, *,
        role_id: TokenId | bytes,
        assignee: Address | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Takes a role from an address (SYS 35)."""
    def remove_role(
        self, *,
        role_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Removes a role that no address has, and gives its deposit back. Who made it."""
    def accept(
        self, *,
        entitlement_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Takes a permission among the sender's own; until then it counts among its grantor's (decision 332)."""
    def renounce(
        self, *,
        entitlement_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Gives a permission of the sender's up, or refuses it."""
    def accept_from(
        self, *,
        grantor: Address | bytes,
        accepted: bool,
        cycles_limit: int = ...,
    ) -> None:
        """Accepts all that a grantor gives the sender from now on, or no longer does."""
    def accept_role(
        self, *,
        role_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Takes a role that was assigned to the sender, which has effect from then on."""
    def renounce_role(
        self, *,
        role_id: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Gives a role of the sender's up, or refuses it."""
    def check(
        self, *,
        grantee: Address | bytes,
        scope: str,
        action: str,
        cycles_limit: int = ...,
    ) -> bool:
        """Returns whether an address may do something. Removes a permission that it finds to be over, so it is no view."""
    def is_member(
        self, *,
        runner: Address | bytes,
        pool: bytes,
        cycles_limit: int = ...,
    ) -> bool:
        """Returns whether a runner is in a pool (002 §7.3). Removes a permission that it finds to be over, so it is no view."""
    def consume(
        self, *,
        grantee: Address | bytes,
        scope: str,
        action: str,
        amount: int | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Counts a use, or fails. Whoever rules the scope only."""

class _Treasury(SystemActor):
    """0x08, `0x0000000000000000000000000000000000000008`. The protocol's own CBY, vesting schedules, and the book of all CBY."""
    def get_supply(
        self, *,
        cycles_limit: int = ...,
    ) -> _TreasuryGetSupply:
        """Returns all CBY there are, in base units."""
    def get_vesting(
        self, *,
        bucket: str,
        cycles_limit: int = ...,
    ) -> _TreasuryGetVesting:
        """Returns a genesis bucket at this block's time."""
    def release(
        self, *,
        bucket: str,
        cycles_limit: int = ...,
    ) -> int:
        """Pays what has vested to the bucket's beneficiary, and returns the amount. Anybody may ask."""
    def set_beneficiary(
        self, *,
        bucket: str,
        beneficiary: Address | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Names who receives what vests. Governance or the present beneficiary."""

class _Governance(SystemActor):
    """0x09, `0x0000000000000000000000000000000000000009`. Parameters and who may move them; validators."""
    def get_param(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> int:
        """Returns a parameter of the running block."""
    def vote(
        self, *,
        proposal: int,
        choice: Literal["yes", "no", "abstain"],
        cycles_limit: int = ...,
    ) -> None:
        """Votes on a proposal, or changes the vote. Members of the newest set."""
    def count(
        self, *,
        proposal: int,
        cycles_limit: int = ...,
    ) -> bool:
        """Counts both chambers when the voting is over; what is accepted waits for its timelock. Returns whether it is. Anybody may ask."""
    def execute(
        self, *,
        proposal: int,
        cycles_limit: int = ...,
    ) -> bool:
        """Makes an accepted proposal take effect after its timelock. Returns whether it did. Anybody may ask."""
    def cancel(
        self, *,
        proposal: int,
        cycles_limit: int = ...,
    ) -> bool:
        """Asks to stop a queued proposal. Members of the council. Returns whether seven do, which stops it."""
    def fast_track(
        self, *,
        proposal: int,
        cycles_limit: int = ...,
    ) -> bool:
        """Asks to shorten the voting and the timelock of a proposal of tier 3. Members of the council. Returns whether seven do, which shortens them."""
    def circuit_break(
        self, *,
        actor: Any | None = None,
        cycles_limit: int = ...,
    ) -> bool:
        """Asks to pause a system actor. Members of the council. Returns whether seven do: it is paused from the next block on, and the vote that ratifies the pause is open."""
    def get_pauses(
        self, *,
        cycles_limit: int = ...,
    ) -> list[_GovernanceGetPauses]:
        """Returns the paused system actors."""
    def get_proposal(
        self, *,
        proposal: int,
        cycles_limit: int = ...,
    ) -> _GovernanceGetProposal:
        """Returns a proposal."""
    def get_upgrades(
        self, *,
        cycles_limit: int = ...,
    ) -> list[_GovernanceGetUpgrades]:
        """Returns the schedule of protocol versions, those that apply already included."""
    def get_history(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> list[_GovernanceGetHistory]:
        """Returns what a parameter became, and when."""
    def register_validator(
        self, *,
        signing_key: bytes,
        network_key: bytes,
        network_proof: bytes,
        vrf_key: bytes,
        vrf_proof: bytes,
        endpoint: bytes | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Makes the sender a validator. It signs three epochs later where shares are dealt, else in the next epoch. The value is its stake. The proofs are signatures of both keys over the registration."""
    def add_stake(
        self, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Adds the value to the sender's stake."""
    def edit_validator(
        self, *,
        endpoint: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Changes where other validators find the sender. They read it when the next players are fixed."""
    def leave(
        self, *,
        cycles_limit: int = ...,
    ) -> int:
        """Takes the sender out of the next set that is fixed. Returns the height from which it may withdraw: `consensus.unbonding` blocks after the end of the epoch in which it signs, and not before a jail is over. It is later where the sender signs in later epochs."""
    def withdraw(
        self, *,
        cycles_limit: int = ...,
    ) -> int:
        """Pays a validator that left its stake back, and returns the amount."""
    def unjail(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Lets the sender out of jail when its time is over; the next set that is fixed contains it."""
    def report_equivocation(
        self, *,
        validator: Address | bytes,
        first: bytes,
        second: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Shows two headers of this chain, of one round and at most 604,800 blocks old, that one validator signed. Anybody may."""
    def attest_fault(
        self, *,
        validator: Address | bytes,
        witness: Address | bytes | None = None,
        fault: Literal["double_vote", "invalid_proposal", "downtime"],
        epoch: int,
        view: int,
        cycles_limit: int = ...,
    ) -> bool:
        """A member says that another, in a round of this epoch and at most 604,800 rounds ago, double voted, proposed an invalid block or missed too much. Returns whether more than two thirds say so, which proves it."""
    def get_validator(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _GovernanceGetValidator:
        """Returns a validator."""
    def propose(
        self, *,
        actions: Sequence[_GovernanceProposeActions],
        value: int = 0,
        cycles_limit: int = ...,
    ) -> int:
        """Proposes actions that take effect together or not at all, and returns the proposal's number. The value is the deposit of the strictest tier among them. An argument without `actions` may have the fields of a single action."""
    def preview(
        self, *,
        actions: Sequence[_GovernanceProposeActions],
        cycles_limit: int = ...,
    ) -> _GovernancePreview:
        """Returns what a proposal would do if it took effect now, and what it puts down. Nothing of it stays. An argument without `actions` may have the fields of a single action."""

class _StorageManager(SystemActor):
    """0x0a, `0x000000000000000000000000000000000000000a`. Rent, quotas, eviction and restoration of persistent storage; volumes."""
    def get_rent(
        self, *,
        actor: Address | bytes,
        cycles_limit: int = ...,
    ) -> _StorageManagerGetRent:
        """Returns what an actor owes and has put down."""
    def prepay(
        self, *,
        actor: Address | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Pays rent ahead with the value, for any actor. Collections draw on it first."""
    def pay_debt(
        self, *,
        actor: Address | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Pays an actor's debt and the catch-up fee with the value, exactly. Anybody may."""
    def set_quota(
        self, *,
        actor: Address | bytes,
        quota: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Extends or reduces a quota. The value is the bond that is missing; a bond that is no longer needed is refunded to whoever posted it. The actor or its owner."""
    def restore(
        self, *,
        actor: Address | bytes,
        chunk: int,
        entries: Sequence[Sequence[bytes]],
        cycles_limit: int = ...,
    ) -> _StorageManagerRestore:
        """Restores a pruned chunk. Anybody may."""
    def create_volume(
        self, *,
        name: str,
        keys: str,
        data: int | None = None,
        parity: int | None = None,
        quota: int,
        max_price: int | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _StorageManagerCreateVolume:
        """Creates a volume of the sender, with its first escrow and `volumes.creation_fee` as value. Relays for its slots are drawn at once."""
    def quote(
        self, *,
        data: int | None = None,
        parity: int | None = None,
        quota: int,
        max_price: int | None = None,
        cycles_limit: int = ...,
    ) -> _StorageManagerQuote:
        """Returns what a volume costs at most."""
    def fund_volume(
        self, *,
        volume: TokenId | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> int:
        """Adds the value to the escrow of a volume. Anybody may. Returns what the escrow then holds."""
    def set_volume_quota(
        self, *,
        volume: TokenId | bytes,
        quota: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Changes the quota of a volume of the sender. The value goes to the escrow, which must last for `volumes.reserve_epochs` epochs of it."""
    def transfer_volume(
        self, *,
        volume: TokenId | bytes,
        to: Address | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Hands a volume of the sender over, and ends all rights that were given. Whoever had its keys still knows them; keys that the committee makes for new and rewritten partitions from then on are others. Volumes that were handed to an account take half of its `volumes.per_account` at most."""
    def delete_volume(
        self, *,
        volume: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> int:
        """Deletes a volume of the sender. Returns the height at which it is removed, and the rest of the escrow returned."""
    def undelete_volume(
        self, *,
        volume: TokenId | bytes,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Takes the deletion of a volume of the sender back. The value goes to the escrow."""
    def commit(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        old: TokenId | bytes,
        depth: int,
        leaves: int,
        node: TokenId | bytes,
        sum: int,
        acks: Sequence[_StorageManagerCommitAcks],
        until: int,
        key_version: int,
        capability: bytes | None = None,
        cycles_limit: int = ...,
    ) -> None:
        """Puts a new root in the place of a partition's standing one, with the acknowledgements of enough relays. The owner, or whoever holds a capability to write. The first root of a partition makes it."""
    def revert(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Puts a partition's root before the standing one back, with the version of its key."""
    def issue_cap(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        holder: Address | bytes,
        mode: str,
        max_bytes: int | None = None,
        until: int,
        cycles_limit: int = ...,
    ) -> bytes:
        """Gives another account a right to a partition of a volume of the sender. Returns the capability's id."""
    def mount(
        self, *,
        job: TokenId | bytes,
        index: int,
        cycles_limit: int = ...,
    ) -> bytes:
        """Gives the sender, a runner that was drawn for a job, its right to a volume that the job mounts, until its commitment is due. Returns the capability's id; once more, the same with the job's newest deadline."""
    def revoke_cap(
        self, *,
        capability: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Takes a right back."""
    def get_volume(
        self, *,
        volume: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _StorageManagerCreateVolume | None:
        """Returns a volume; null where there is none."""
    def list_volumes(
        self, *,
        account: Address | bytes,
        first: TokenId | bytes | None = None,
        cycles_limit: int = ...,
    ) -> list[bytes]:
        """Returns the ids of an account's volumes, ascending, at most 256."""
    def get_partition(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _StorageManagerGetPartition | None:
        """Returns a partition; null where there is none."""
    def get_cap(
        self, *,
        capability: bytes,
        cycles_limit: int = ...,
    ) -> _StorageManagerGetCap | None:
        """Returns a capability; null where there is none."""
    def blob_ref(
        self, *,
        volume: TokenId | bytes,
        hash: TokenId | bytes,
        size: int,
        cycles_limit: int = ...,
    ) -> bytes:
        """Returns the 64 bytes that stand for a file in a volume (decision 607). The chain has no files: hash and size are the sender's word, which readers compare with the file."""
    def list_caps(
        self, *,
        volume: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> list[_StorageManagerGetCap]:
        """Returns the capabilities for a volume, at most 256."""

class _RelayRegistry(SystemActor):
    """0x0b, `0x000000000000000000000000000000000000000b`. Relays, the slots that they keep, and what they have to prove."""
    def register_relay(
        self, *,
        endpoint: str,
        port: int,
        certificate: TokenId | bytes,
        key: bytes,
        proof: bytes,
        region: str,
        capacity: int,
        ask: int | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _RelayRegistryRegisterRelay:
        """Registers the sender as a relay, with the stake as value: `volumes.relay_stake`, and at least `volumes.stake_per_gib` for each GiB."""
    def update_relay(
        self, *,
        endpoint: str,
        port: int,
        certificate: TokenId | bytes,
        capacity: int,
        ask: int,
        cycles_limit: int = ...,
    ) -> None:
        """Changes what the sender says of itself. Slots that it has keep their price."""
    def heartbeat(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender is up."""
    def add_stake(
        self, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Stakes the value, too."""
    def leave(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Leaves: others are drawn for the sender's slots, and rebuild them."""
    def withdraw(
        self, *,
        cycles_limit: int = ...,
    ) -> int:
        """Pays the sender's stake, `volumes.unbonding` blocks after it left."""
    def take_slot(
        self, *,
        volume: TokenId | bytes,
        slot: int,
        roots: Sequence[TokenId | bytes],
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender has rebuilt the shards of a slot that it was given."""
    def late_ack(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        root: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender now has all of a root that it did not acknowledge."""
    def prove(
        self, *,
        height: int,
        proofs: Sequence[bytes],
        cycles_limit: int = ...,
    ) -> None:
        """Proves the points of the sender's round."""
    def demand(
        self, *,
        volume: TokenId | bytes,
        partition: TokenId | bytes,
        slot: int,
        leaf: bytes,
        route: bytes,
        start: int,
        length: int,
        capability: bytes | None = None,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> bytes:
        """Demands that a relay publishes a part of a shard, for a bond as value. Whoever may read the partition."""
    def answer(
        self, *,
        demand: TokenId | bytes,
        slice: bytes,
        cycles_limit: int = ...,
    ) -> None:
        """Publishes the part that is demanded of the sender."""
    def accuse(
        self, *,
        relay: Address | bytes,
        volume: TokenId | bytes,
        generation: int,
        partition: TokenId | bytes,
        sequence: int,
        old: TokenId | bytes,
        new: TokenId | bytes,
        until: int,
        slot: int,
        sums: Sequence[int],
        signatures: Sequence[bytes],
        cycles_limit: int = ...,
    ) -> int:
        """Shows two acknowledgements of a relay that contradict each other. Anybody may. Returns what it lost."""
    def get_relay(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _RelayRegistryRegisterRelay | None:
        """Returns a relay; null where none is registered."""
    def list_relays(
        self, *,
        first: Address | bytes | None = None,
        cycles_limit: int = ...,
    ) -> list[_RelayRegistryRegisterRelay]:
        """Returns relays, ascending by address, at most 64."""
    def get_round(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _RelayRegistryGetRound | None:
        """Returns the round of proofs of a relay that is under way; null where none is."""
    def get_demand(
        self, *,
        demand: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _RelayRegistryGetDemand | None:
        """Returns a demand; null where there is none, or it is over."""
    def get_pool(
        self, *,
        cycles_limit: int = ...,
    ) -> int:
        """Returns what bounties are paid from."""

class _RouteRegistry(SystemActor):
    """0x0e, `0x000000000000000000000000000000000000000e`. Names, and the actors that answer to them."""
    def register(
        self, *,
        name: str,
        actor_address: Address | bytes,
        duration_blocks: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister:
        """Takes a free name for an actor, with the fee as value. The actor or its owner; below another name, whoever that name's policy lets. What is paid too much goes back."""
    def renew(
        self, *,
        name: str,
        duration_blocks: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister:
        """Extends a name from its present expiry, with the fee as value. Anybody may pay; below another name, whoever that name's policy lets."""
    def transfer(
        self, *,
        name: str,
        new_owner: Address | bytes,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister:
        """Hands a name on. Its owner only."""
    def set_actor(
        self, *,
        name: str,
        actor_address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister:
        """Points a name to another actor. Its owner only."""
    def set_subdomain_policy(
        self, *,
        name: str,
        policy: int,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister:
        """Decides who names what is below a name. Its owner only."""
    def release(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> None:
        """Removes a name below another one, whose deposit goes back to whoever paid it. Its owner, or anybody once it counts no more."""
    def resolve(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> bytes | None:
        """Returns the actor that answers to a name, by its own record or else the nearest one above it; null where none does."""
    def lookup(
        self, *,
        actor_address: Address | bytes,
        cycles_limit: int = ...,
    ) -> list[str]:
        """Returns the names of an actor, at most `names.lookup_max`. Only names that the actor or its owner owns, and has registered or pointed at the actor itself: anybody may point a name at an actor of somebody else, and give it away."""
    def list_names(
        self, *,
        actor_address: Address | bytes,
        first: str | None = None,
        cycles_limit: int = ...,
    ) -> _RouteRegistryListNames:
        """Returns a page of the names of an actor that `lookup` lists, ascending, and where the next page begins (decision 639). A page is of `names.lookup_max` names, and leaves out those that count no more: only one without `next` is the last."""
    def quote(
        self, *,
        name: str,
        duration_blocks: int,
        cycles_limit: int = ...,
    ) -> _RouteRegistryQuote:
        """Returns what registering or renewing would cost in this block."""
    def claim_domain(
        self, *,
        name: str,
        domain: str,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> str:
        """Claims that a name is to be served under a domain, too, with `names.domain_deposit` as value, and returns the text of the TXT record at `_cowboy.<domain>` with which the domain's owner agrees. The name's owner only; at most `names.domains_max` domains for a name. What is paid too much goes back."""
    def release_domain(
        self, *,
        name: str,
        domain: str,
        cycles_limit: int = ...,
    ) -> None:
        """Ends a claim, whose deposit goes back to whoever made it. The name's owner, or anybody once the name was handed on or expired."""
    def claims_domain(
        self, *,
        name: str,
        domain: str,
        cycles_limit: int = ...,
    ) -> bool:
        """Returns whether a name's owner wants it served under a domain."""
    def get_name(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> _RouteRegistryRegister | None:
        """Returns a name's record, also one that expired; null where there is none."""

class _GatewayRegistry(SystemActor):
    """0x0f, `0x000000000000000000000000000000000000000f`. Gateways, their stakes and health, and the dispatch of requests from outside."""
    def register_gateway(
        self, *,
        endpoint: str,
        http_port: int,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> _GatewayRegistryRegisterGateway:
        """Registers the sender, with the stake as value."""
    def heartbeat(
        self, *,
        cycles_limit: int = ...,
    ) -> None:
        """Says that the sender is up; its health is full again."""
    def set_endpoint(
        self, *,
        endpoint: str,
        http_port: int,
        cycles_limit: int = ...,
    ) -> None:
        """Says where the sender is reached."""
    def add_stake(
        self, *,
        value: int = 0,
        cycles_limit: int = ...,
    ) -> None:
        """Stakes the value, too."""
    def draw(
        self, *,
        amount: int,
        cycles_limit: int = ...,
    ) -> None:
        """Takes out of the sender's stake what it has above the least, to pay fees with."""
    def unstake(
        self, *,
        cycles_limit: int = ...,
    ) -> _GatewayRegistryUnstake:
        """Leaves. The stake is paid when it is asked for again `gateways.unstake_delay` blocks after the sender became inactive."""
    def dispatch(
        self, *,
        target: Address | bytes,
        envelope: Any | None = None,
        salt: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> Any:
        """Delivers a request to an actor's `http.request`, from this registry, and returns what the handler returned. Active gateways only."""
    def is_active_gateway(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> bool:
        """Returns whether a gateway is registered and active."""
    def get_gateway(
        self, *,
        address: Address | bytes,
        cycles_limit: int = ...,
    ) -> _GatewayRegistryRegisterGateway | None:
        """Returns a gateway; null where none is registered."""
    def report(
        self, *,
        first: bytes,
        second: bytes,
        cycles_limit: int = ...,
    ) -> _GatewayRegistryReport:
        """Shows two dispatches for this chain that one gateway signed under one nonce, so that one of them could never run. Anybody may."""
    def report_answers(
        self, *,
        first: bytes,
        second: bytes,
        cycles_limit: int = ...,
    ) -> _GatewayRegistryReport:
        """Shows two answers to GET that one gateway signed and that cannot both be true. Anybody may; one fault for each height."""

class _ContainerRegistry(SystemActor):
    """0x11, `0x0000000000000000000000000000000000000011`. Container images that jobs may run, and classes of what they may use."""
    def get_image(
        self, *,
        digest: TokenId | bytes,
        cycles_limit: int = ...,
    ) -> _ContainerRegistryGetImage | None:
        """Returns what governance decided about an image; null where it did not."""
    def list_images(
        self, *,
        first: TokenId | bytes | None = None,
        cycles_limit: int = ...,
    ) -> list[_ContainerRegistryListImages]:
        """Returns images that governance decided about, ascending by digest, at most 64."""
    def get_class(
        self, *,
        name: str,
        cycles_limit: int = ...,
    ) -> _ContainerRegistryGetClass | None:
        """Returns what the containers of a class may use; null where there is no such class."""

runner_registry: _RunnerRegistry
job_dispatcher: _JobDispatcher
result_verifier: _ResultVerifier
secrets_manager: _SecretsManager
tee_verifier: _TEEVerifier
dual_basefee_and_token_registry: _DualBasefeeAndTokenRegistry
entitlement_registry: _EntitlementRegistry
treasury: _Treasury
governance: _Governance
storage_manager: _StorageManager
relay_registry: _RelayRegistry
route_registry: _RouteRegistry
gateway_registry: _GatewayRegistry
container_registry: _ContainerRegistry
