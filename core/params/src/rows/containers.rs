//! What the containers of jobs may use.

use crate::table::rows;

rows! {
    /// Containers, as jobs ask for them and the Container Registry names them (decisions 162 and 165).
    0x13 containers: Containers {
        /// Thousandths of a processor of the class `small`.
        0x01 small_cpu: Count = 1_000 in 1..=16_000, T0, "decision 162";
        /// Mebibytes of memory of the class `small`.
        0x02 small_memory: Count = 512 in 4..=65_536, T0, "decision 162";
        /// Mebibytes of files of the class `small`.
        0x03 small_scratch: Count = 1_024 in 1..=204_800, T0, "decision 162";
        /// Seconds of the class `small`.
        0x04 small_seconds: Count = 300 in 1..=7_200, T0, "decision 162";
        /// Thousandths of a processor of the class `medium`.
        0x05 medium_cpu: Count = 2_000 in 1..=16_000, T0, "decision 162";
        /// Mebibytes of memory of the class `medium`.
        0x06 medium_memory: Count = 2_048 in 4..=65_536, T0, "decision 162";
        /// Mebibytes of files of the class `medium`.
        0x07 medium_scratch: Count = 5_120 in 1..=204_800, T0, "decision 162";
        /// Seconds of the class `medium`.
        0x08 medium_seconds: Count = 600 in 1..=7_200, T0, "decision 162";
        /// Thousandths of a processor of the class `large`.
        0x09 large_cpu: Count = 4_000 in 1..=16_000, T0, "decision 162";
        /// Mebibytes of memory of the class `large`.
        0x0A large_memory: Count = 8_192 in 4..=65_536, T0, "decision 162";
        /// Mebibytes of files of the class `large`.
        0x0B large_scratch: Count = 20_480 in 1..=204_800, T0, "decision 162";
        /// Seconds of the class `large`.
        0x0C large_seconds: Count = 1_800 in 1..=7_200, T0, "decision 162";
        /// The most thousandths of a processor that a job may ask for.
        0x0D cpu_max: Count = 16_000 in 1..=1_000_000, T0, "decision 162";
        /// The most mebibytes of memory that a job may ask for.
        0x0E memory_max: Count = 65_536 in 4..=16_777_216, T0, "decision 162";
        /// The most mebibytes of files that a job may ask for.
        0x0F scratch_max: Count = 204_800 in 1..=16_777_216, T0, "decision 162";
        /// The most seconds that a job may ask for.
        0x10 seconds_max: Count = 7_200 in 1..=86_400, T0, "decision 162";
        /// Blocks beyond its time in which the runner of a job that writes volumes keeps what was written.
        0x11 keep: Blocks = 60 in 1..=3_600, T0, "decision 551";
        /// Requests of a container that are paid for at most.
        0x12 requests: Count = 1_000 in 0..=1_000_000, T0, "ours: decision 569";
        /// Share of the processors that a container holds, times the time for which it holds them, that counts as used where it used less: nobody else
        /// has them meanwhile.
        0x13 held_share: BasisPoints = 2_500 in 0..=10_000, T0, "ours: decision 569";
    }
}
