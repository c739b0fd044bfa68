//! The classes of what containers may use: rows of the parameters, by their names (003 §9, decision 162).

use cowboy_params::Containers;
use cowboy_types::job::Resources;
use cowboy_types::units::Count;

/// The class of a job that names neither a class nor resources.
pub const SMALLEST: &str = "small";

/// The names of all classes, ascending by what they give.
pub const NAMES: [&str; 3] = [SMALLEST, "medium", "large"];

/// What a class gives; none where it is unknown.
pub fn of(rows: &Containers, name: &str) -> Option<Resources> {
    let [cpu, memory, scratch, seconds] = match name {
        "small" => [rows.small_cpu, rows.small_memory, rows.small_scratch, rows.small_seconds],
        "medium" => [rows.medium_cpu, rows.medium_memory, rows.medium_scratch, rows.medium_seconds],
        "large" => [rows.large_cpu, rows.large_memory, rows.large_scratch, rows.large_seconds],
        _ => return None,
    };
    Some(Resources { cpu_millicores: Count(cpu), memory_mib: Count(memory), scratch_mib: Count(scratch), seconds: Count(seconds) })
}
