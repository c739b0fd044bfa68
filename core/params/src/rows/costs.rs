//! Prices of the host, and modelled execution time.

use crate::table::rows;

rows! {
    /// What the host charges an actor (003 §3.5, §17.3, §17.4).
    0x05 costs: Costs {
        /// Reading a key, beside a hundredth of a cell for each byte.
        0x01 storage_read: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Writing a key, beside a cell for each byte.
        0x02 storage_write: Cycles = 200 in 1..=100_000, T0, "003 §17.3";
        /// Reading facts of the block.
        0x03 block_info: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Emitting an event.
        0x04 event: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Each byte of an event.
        0x05 event_byte: Cycles = 5 in 0..=1_000, T0, "003 §17.3";
        /// Sending a message, without its payload.
        0x06 send: Cycles = 80 in 1..=100_000, T0, "003 §3.5, §17.3";
        /// Scheduling, extending or cancelling a timer; never refunded.
        0x07 timer: Cycles = 200 in 1..=100_000, T0, "003 §3.5, §5.1a";
        /// Hashing a blob that is stored or read, each KiB begun.
        0x08 blob_kib: Cycles = 40 in 1..=100_000, T0, "003 §3.5";
        /// Verifying a BLS12-381 signature.
        0x09 verify_bls: Cycles = 8_000 in 1..=10_000_000, T0, "003 §3.5";
        /// Verifying an Ed25519 signature.
        0x0A verify_ed25519: Cycles = 5_000 in 1..=10_000_000, T0, "003 §3.5";
        /// Verifying or recovering a secp256k1 signature.
        0x0B verify_secp256k1: Cycles = 10_000 in 1..=10_000_000, T0, "003 §3.5";
        /// SHA-256, before the blocks.
        0x0C sha256: Cycles = 500 in 0..=100_000, T0, "003 §3.5";
        /// SHA-256, each 64 bytes begun.
        0x0D sha256_block: Cycles = 8 in 1..=10_000, T0, "003 §3.5";
        /// Keccak-256, each 32 bytes begun.
        0x0E keccak_word: Cycles = 6 in 1..=10_000, T0, "003 §3.5";
        /// Deriving randomness.
        0x0F randomness: Cycles = 1_000 in 1..=100_000, T0, "003 §3.5";
        /// Calling another actor, beside what it uses.
        0x10 call: Cycles = 1_000 in 1..=100_000, T0, "ours";
        /// Transferring CBY out of an actor.
        0x11 transfer: Cycles = 1_000 in 1..=100_000, T0, "ours: as token_transfer";
        /// A prefix scan, before the keys.
        0x12 scan: Cycles = 500 in 1..=100_000, T0, "CIP-6";
        /// A prefix scan, for each requested key.
        0x13 scan_key: Cycles = 50 in 1..=100_000, T0, "CIP-6";
        /// Bytes that one cell of reading covers.
        0x14 read_bytes_per_cell: Bytes = 100 in 1..=10_000, T0, "003 §17.4";
        /// Bytes that one cell of events covers.
        0x15 event_bytes_per_cell: Bytes = 2 in 1..=10_000, T0, "003 §17.4";
        /// A request to the off-chain market.
        0x16 submit_job: Cycles = 10_000 in 1..=1_000_000, T0, "003 §17.2";
        /// Moving a token.
        0x17 token_transfer: Cycles = 1_000 in 1..=100_000, T0, "003 §17.3";
        /// Moving a token for another account.
        0x18 token_transfer_from: Cycles = 1_500 in 1..=100_000, T0, "003 §17.3";
        /// Allowing another account to move tokens.
        0x19 token_approve: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Reading a token balance.
        0x1A token_balance_of: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Minting tokens.
        0x1B token_mint: Cycles = 1_000 in 1..=100_000, T0, "003 §17.3";
        /// Burning tokens.
        0x1C token_burn: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Creating a token.
        0x1D token_create: Cycles = 10_000 in 1..=1_000_000, T0, "003 §17.3";
        /// Cells of a token transfer, mint or burn.
        0x1E token_transfer_cells: Cells = 64 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token transfer for another account.
        0x1F token_transfer_from_cells: Cells = 96 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token approval.
        0x20 token_approve_cells: Cells = 32 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token's creation, without the bytes of its texts.
        0x21 token_create_cells: Cells = 256 in 0..=10_000, T0, "003 §17.3";
        /// Maximum cycles of one token hook.
        0x22 token_hook: Cycles = 50_000 in 1_000..=1_000_000, T0, "003 §17.3";
        /// Each byte of a system method's argument beyond `argument_free`.
        0x23 argument_byte: Cycles = 2 in 0..=1_000, T0, "ours: decision 390";
        /// Bytes of a system method's argument, and of its result, that the method's own price covers. Each further byte of a result costs a cell.
        0x24 argument_free: Bytes = 4_096 in 0..=131_072, T0, "ours: decision 390";
    }
}

rows! {
    /// Modelled execution time that no cycle price covers (decision 132). It is never charged; it limits how long a block takes.
    0x0F weights: Weights {
        /// The bookkeeping of a delivery: admission, fees, receipt.
        0x01 delivery: Nanoseconds = 5_000 in 100..=1_000_000, Fixed, "ours: decision 132";
        /// Starting a handler: records, image, arguments.
        0x02 call: Nanoseconds = 20_000 in 100..=1_000_000, Fixed, "ours: decision 132";
        /// Compiling a byte of source and running its module body, without the body's own cycles.
        0x03 source_byte: Nanoseconds = 200 in 1..=10_000, Fixed, "ours: decision 132";
        /// Decoding a byte of a system method's argument, at worst.
        0x04 argument_byte: Nanoseconds = 40 in 1..=10_000, Fixed, "ours: decision 390";
        /// Reading a byte of a timer's payload.
        0x05 payload_byte: Nanoseconds = 1 in 1..=10_000, Fixed, "ours: decision 390";
        /// Reading a record of the protocol in a list that a method walks.
        0x06 record: Nanoseconds = 2_000 in 100..=1_000_000, Fixed, "ours: decision 390";
        /// Recovering a signer of evidence, with decoding and hashing what is signed.
        0x07 evidence: Nanoseconds = 200_000 in 1_000..=10_000_000, Fixed, "ours: decision 132";
        /// Any step of a job.
        0x08 job_step: Nanoseconds = 100_000 in 1_000..=10_000_000, Fixed, "ours: decision 435";
        /// A draw, for each candidate.
        0x09 draw: Nanoseconds = 500 in 10..=100_000, Fixed, "ours: decision 435";
        /// Matching what one candidate provides with what a job requires.
        0x0A matching: Nanoseconds = 20_000 in 100..=1_000_000, Fixed, "ours: decision 435";
        /// Reading a byte of a result, or of a schema that results are compared with.
        0x0B judged_byte: Nanoseconds = 50 in 1..=10_000, Fixed, "ours: decision 393";
        /// A comparison of judging, for each byte of a result.
        0x0C comparison: Nanoseconds = 5 in 1..=1_000, Fixed, "ours: decision 393";
        /// Comparisons for each byte of a result, where results are compared with each other.
        0x0D comparisons: Count = 4 in 1..=100, Fixed, "ours: decision 393";
        /// Verifying an Ed25519 signature of a runner or of its environment.
        0x0E verify_ed25519: Nanoseconds = 60_000 in 1_000..=10_000_000, Fixed, "ours: decision 435";
        /// Verifying that a validator has the keys that it registers.
        0x0F possession: Nanoseconds = 2_000_000 in 10_000..=100_000_000, Fixed, "ours: decision 435";
        /// Verifying a document of a trusted environment: up to six certificates on curves of 384 bits.
        0x10 tee_document: Nanoseconds = 20_000_000 in 100_000..=100_000_000, Fixed, "ours: decision 435";
        /// Hashing a byte of a blob, or of a message whose signature an actor verifies.
        0x11 signed_byte: Nanoseconds = 4 in 1..=1_000, Fixed, "ours: decision 132";
        /// Copying a byte of what the host answers an actor.
        0x12 answer_byte: Nanoseconds = 1 in 1..=1_000, Fixed, "ours: decision 438";
        /// Making an object of a value that a list or a map of such an answer holds.
        0x13 answer_value: Nanoseconds = 100 in 1..=10_000, Fixed, "ours: decision 438";
        /// Decoding a point of BLS12-381, with the check that it is in its group.
        0x14 point: Nanoseconds = 250_000 in 10_000..=10_000_000, Fixed, "ours: decision 503";
        /// Checking the two equations of a partial answer.
        0x15 partial: Nanoseconds = 4_000_000 in 100_000..=100_000_000, Fixed, "ours: decision 503";
        /// Collecting an actor's rent, or removing a piece of what an evicted actor left, beside its records and bytes.
        0x16 rent_step: Nanoseconds = 50_000 in 1_000..=10_000_000, Fixed, "ours: decision 692";
    }
}
