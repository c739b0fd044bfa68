//! Names and gateways.

use crate::table::rows;

rows! {
    /// Names (004).
    0x0C names: Names {
        /// Characters of the shortest label.
        0x01 length_min: Count = 3 in 1..=64, T0, "004 §7.3, §10";
        /// Characters of the longest label.
        0x02 length_max: Count = 64 in 3..=64, T0, "004 §7.3, §10";
        /// Blocks after the expiry in which the owner may renew: 30 days.
        0x03 grace: Blocks = 2_592_000 in 100..=31_536_000, T0, "004 §7.6, §10";
        /// Blocks of the auction after that: 7 days.
        0x04 auction: Blocks = 604_800 in 100..=31_536_000, T0, "004 §7.6, §10";
        /// The auction's first price, as a multiple of the yearly fee.
        0x05 auction_start: Count = 10 in 1..=1_000, T0, "004 §7.6";
        /// The part of a registration fee for the protocol.
        0x06 protocol_share: BasisPoints = 1_000 in 0..=10_000, T0, "004 §7.5, §10";
        /// The part of a registration fee for the gateways. The rest is burned.
        0x07 gateway_share: BasisPoints = 2_000 in 0..=10_000, T0, "004 §9.4, §10";
        /// The fee for a year of a name of three characters.
        0x08 fee_3: Amount = 1_000_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a name of four characters.
        0x09 fee_4: Amount = 200_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a name of five characters.
        0x0A fee_5: Amount = 50_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a longer name.
        0x0B fee_6: Amount = 10_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// Blocks of the shortest first term: 365 days.
        0x0C duration_min: Blocks = 31_536_000 in 1..=315_360_000, T0, "decision 177";
        /// Blocks for which a name can be paid in advance: ten years.
        0x0D duration_max: Blocks = 315_360_000 in 100..=3_153_600_000, T0, "ours";
        /// Maximum number of labels of one name.
        0x0E labels_max: Count = 8 in 1..=32, T0, "ours";
        /// Maximum bytes of a complete name, including dots.
        0x0F bytes_max: Bytes = 237 in 64..=253, T0, "ours: what DNS carries, less the zone";
        /// Maximum number of names that a reverse lookup returns.
        0x10 lookup_max: Count = 100 in 1..=1_000, T0, "ours";
        /// Blocks of the shortest renewal: 30 days.
        0x11 renewal_min: Blocks = 2_592_000 in 1..=315_360_000, T0, "decision 177";
        /// Domains of other zones that one name may claim.
        0x12 domains_max: Count = 16 in 1..=256, T0, "ours: decision 333";
        /// What a claim to a domain puts down until it is released.
        0x13 domain_deposit: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "ours: decision 362";
    }
}

rows! {
    /// Gateways (004).
    0x0D gateways: Gateways {
        /// The minimum stake of a gateway.
        0x01 stake_min: Amount = 10_000_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "004 §10; the number is ours: decision 131";
        /// Health after a heartbeat; it falls by one in each block.
        0x02 health: Blocks = 3_600 in 10..=86_400, T0 Stepwise, "004 §9.2, §10";
        /// Blocks between becoming inactive and withdrawing the stake.
        0x03 unstake_delay: Blocks = 604_800 in 100..=31_536_000, T0, "004 §9.2";
        /// Requests per second of one actor at one gateway.
        0x04 requests_per_second: Count = 100 in 1..=1_000_000, T0, "004 §9.5, §10";
        /// Connections of one actor at one gateway.
        0x05 connections: Count = 1_000 in 1..=1_000_000, T0, "004 §9.5, §10";
        /// Blocks for which a result is kept.
        0x06 result_ttl: Blocks = 3_600 in 1..=31_536_000, T0, "004 §10";
        /// Maximum bytes of a request that a manifest can allow.
        0x07 request_bytes_max: Bytes = 10_485_760 in 1_024..=104_857_600, T0, "004 §10";
        /// Maximum bytes of a response that a manifest can allow.
        0x08 response_bytes_max: Bytes = 10_485_760 in 1_024..=104_857_600, T0, "004 §10";
        /// Maximum cycles of a query that a manifest can allow.
        0x09 query_cycles_max: Cycles = 100_000_000 in 1_000_000..=1_000_000_000, T0, "004 §10";
        /// Bytes of a request, if the manifest names no number.
        0x0A request_bytes_default: Bytes = 1_048_576 in 1_024..=10_485_760, T0, "004 §6.2";
        /// Bytes of a response, if the manifest names no number.
        0x0B response_bytes_default: Bytes = 1_048_576 in 1_024..=10_485_760, T0, "004 §6.2";
        /// Cycles of a query, if the manifest names no number.
        0x0C query_cycles_default: Cycles = 10_000_000 in 100_000..=100_000_000, T0, "004 §6.2";
        /// The part of a gateway's stake that proven misbehaviour costs; burned.
        0x0D slash: BasisPoints = 3_000 in 0..=10_000, T0, "ours: as decision 42";
        /// Blocks for which a delivered request's id is remembered, so that it counts once.
        0x0E requests_kept: Blocks = 10_000 in 100..=1_000_000, T0, "ours";
        /// Maximum cycles of a command's handler.
        0x0F command_cycles_max: Cycles = 20_000_000 in 100_000..=1_000_000_000, T0, "decision 178";
        /// Blocks for which `max_fees` in `ingress.http` bounds what an actor pays for its commands: a day.
        0x10 fee_period: Blocks = 86_400 in 100..=31_536_000, T0, "ours: decision 329";
        /// The most that an actor pays for its commands in `gateways.fee_period`, if its manifest names no `max_fees`.
        0x11 max_fees_default: Amount = 10_000_000_000 in 0..=1_000_000_000_000_000, T0, "ours: decision 581";
    }
}
