from typing import Any

from cowboy_sdk import Actor, actor, deferred, public, codec, runtime


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        # Who, where, when.
        assert runtime.actor_address() == self.address and bytes(runtime.actor_address()) == runtime.get_actor_address()
        assert bytes(runtime.sender()) == runtime.get_sender() and bytes(runtime.owner()) == runtime.get_owner()
        assert runtime.current_block() == runtime.get_block_height() and runtime.get_timestamp_ms() >= 0
        assert runtime.get_value() == 0 and runtime.get_balance() >= 0 and len(runtime.get_tx_hash()) == 32
        assert isinstance(runtime.get_chain_id(), int) and len(runtime.get_chain_instance_id()) == 32
        assert runtime.context()["block_height"] == runtime.current_block() if "block_height" in runtime.context() else True
        assert runtime.is_production() != runtime.is_development() and runtime.mode() and runtime.get_pvm_version()
        assert runtime.compile_time_fsm() in (True, False) and runtime.hire_id() is None
        # Storage as bytes.
        runtime.set_state(b"raw:a", b"1")
        assert runtime.get_state(b"raw:a") == b"1" and runtime.scan_state_prefix(b"raw:") == [(b"raw:a", b"1")]
        runtime.delete_state(b"raw:a")
        assert runtime.get_state(b"raw:a") is None and runtime.is_initialized() in (True, False)
        # Blobs, under the hash of their content.
        blob = runtime.blob_commit(b"a picture")
        assert blob[:2] == b"\x12\x20" and runtime.blob_read(blob) == b"a picture"
        runtime.delete_state(blob)
        assert runtime.blob_read(blob) is None
        # Calls, messages, events, CBY.
        assert codec.decode(runtime.call_actor(self.address, "double", codec.encode([4]), 1_000_000)) == 8
        runtime.send_message(self.address, codec.encode({"note": 1}))
        runtime.emit_event("noted", {"note": 1})
        runtime.transfer_balance(self.address, 0)
        runtime.charge_gas(10)
        # Hashes, signatures, randomness.
        assert len(runtime.keccak256(b"hello")) == 32 and len(runtime.randomness(b"draw")) == 32
        assert runtime.recover(bytes(32), bytes(65)) is None

    @public
    def double(self, number: int) -> int:
        return 2 * number

    @public
    def handle_message(self, payload: Any) -> None:
        return None

    # Ed25519.
    @public
    def signed(self, key: bytes, message: bytes, signature: bytes) -> bool:
        return runtime.verify_signature(2, key, message, signature)

    # Tokens of the protocol.
    @public
    @deferred
    def tokens(self) -> None:
        token = runtime.token_create("Hat", "HAT", 0, 100, None, None, "")
        runtime.token_mint(token, self.address, 5)
        runtime.token_burn(token, 1)
        assert runtime.token_total_supply(token) == runtime.token_balance_of(token, self.address) == 104
        runtime.token_approve(token, OTHER, 10)
        assert runtime.token_allowance(token, self.address, OTHER) == 10
        runtime.token_transfer(token, OTHER, 4)
        assert runtime.token_balance_of(token, OTHER) == 4
        runtime.token_transfer_from(token, self.address, OTHER, 0)
        runtime.entitlement_params("storage.kv")

    @public
    @deferred
    def job(self) -> int:
        request = {"kind": "runner_job", "job_type": "http", "cid": bytes(32), "reply_handler": "double"}
        return len(runtime.submit_job(codec.encode(request)))


OTHER = bytes(19) + b"\x99"
