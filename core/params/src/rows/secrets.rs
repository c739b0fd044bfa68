//! Secrets and the proxies that release them.

use crate::table::rows;

rows! {
    /// The Secrets Manager: proxies, their committee, secrets and releases (003 §9).
    0x11 secrets: Secrets {
        /// The minimum stake of a proxy.
        0x01 proxy_stake: Amount = 10_000_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "decision 145";
        /// Blocks after registering from which a proxy can be drawn, so that seats cannot be bought for one draw.
        0x02 proxy_wait: Blocks = 86_400 in 0..=31_536_000, T0, "decision 145";
        /// Blocks between leaving and withdrawing the stake: 7 days.
        0x03 unbonding: Blocks = 604_800 in 1..=31_536_000, T0, "decision 145";
        /// Blocks without a heartbeat after which a proxy counts as absent.
        0x04 alive: Blocks = 3_600 in 10..=86_400, T0 Stepwise, "decision 142";
        /// Members of a committee, where as many proxies can be drawn.
        0x05 members: Count = 16 in 4..=16, T0, "decision 142";
        /// Blocks for which a committee holds the key before another one is drawn.
        0x06 term: Blocks = 86_400 in 20..=31_536_000, T0, "decision 142";
        /// Blocks of each phase of a dealing.
        0x07 phase: Blocks = 100 in 3..=86_400, T0, "decision 142";
        /// Blocks between a dealing that failed and the next one.
        0x08 retry: Blocks = 3_600 in 1..=86_400, T0, "decision 142";
        /// Blocks after a fault of a member until a new committee is drawn.
        0x09 replacement: Blocks = 100 in 1..=86_400, T0, "decision 142";
        /// Blocks for which a proxy that missed a dealing or lost its seat is not drawn.
        0x0A exclusion: Blocks = 604_800 in 1..=31_536_000, T0, "ours: decision 503";
        /// Maximum number of registered proxies: every draw reads them all.
        0x0B proxies: Count = 256 in 4..=4_096, T0, "ours: decision 503";
        /// What a release costs, for each secret and each recipient.
        0x0C release_fee: Amount = 10_000_000 in 0..=1_000_000_000_000, T0, "decision 146";
        /// Blocks in which a release to the owner can be answered.
        0x0D release_window: Blocks = 600 in 10..=86_400, T0, "ours: decision 504";
        /// Blocks for which the record of a release is kept after its deadline.
        0x0E receipts: Blocks = 86_400 in 1..=31_536_000, T0, "decision 146";
        /// The bond of a demand.
        0x0F demand_bond: Amount = 10_000_000_000 in 1..=1_000_000_000_000_000, T0, "decision 145";
        /// Blocks in which a demand must be served.
        0x10 demand_window: Blocks = 30 in 1..=86_400, T0, "decision 145";
        /// Share of its stake that a member loses if it does not serve a demand.
        0x11 silence_slash: BasisPoints = 100 in 0..=10_000, T0, "decision 145";
        /// Demands not served, within `silence_terms` terms, that cost the seat.
        0x12 silences: Count = 3 in 1..=100, T0, "decision 145";
        /// Terms after which a demand that was not served is forgotten.
        0x13 silence_terms: Count = 10 in 1..=1_000, T0, "decision 145";
        /// Share of its stake that a member loses for a signed answer that is false.
        0x14 answer_slash: BasisPoints = 500 in 0..=10_000, T0, "decision 145";
        /// Maximum number of secrets of an account.
        0x15 per_account: Count = 256 in 1..=65_536, T0, "ours: decision 505";
        /// Maximum number of versions of a secret.
        0x16 versions: Count = 32 in 1..=32, T0, "ours: decision 505";
        /// Blocks for which a key still opens what was sealed under it once a newer one is in use: 30 days.
        0x17 sunset: Blocks = 2_592_000 in 1..=315_360_000, T0, "decision 147";
        /// Blocks for which a committee still answers after its successor has taken over.
        0x18 handover: Blocks = 60 in 1..=86_400, T0, "ours: decision 503";
        /// Demands that a proxy has to answer at once, at most: more could not be answered in time.
        0x19 demands: Count = 16 in 1..=64, T0, "ours: decision 532";
    }
}
