//! The filter of system calls, from the lists.

use super::list::{ALLOW, Bits, DENY, PAIR_FAMILIES, SOCKET_FAMILIES, SOCKET_PROTOCOLS, denied_uses};
use super::{Done, Step};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Names of the calls that work.
pub(super) fn allowed() -> impl Iterator<Item = (&'static str, i64)> {
    ALLOW.iter().flat_map(|group| group.iter().copied())
}

/// Calls that fail, with their family.
pub(super) fn denied() -> impl Iterator<Item = (&'static str, i64)> {
    DENY.iter().flat_map(|family| family.calls.iter().copied())
}

/// Filters the calls of this thread and of what it starts, for ever. It needs `no_new_privs`.
pub(super) fn apply() -> Done {
    for program in programs().map_err(io::Error::other).step("make the filter of system calls")? {
        apply_filter(&program).map_err(io::Error::other).step("filter system calls")?;
    }
    Ok(())
}

/// Two filters, of which the stricter answer counts: one knows the calls, the other what must fail with `EPERM`.
fn programs() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let known = allowed().chain(denied()).map(|(_, number)| (number, Vec::new())).collect();
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = denied().map(|(_, number)| (number, Vec::new())).collect();
    for ((_, number), bits, _) in denied_uses() {
        refused.entry(number).or_default().push(rule(&bits)?);
    }
    let sockets = refused.entry(libc::SYS_socket).or_default();
    sockets.extend([other_than(0, &SOCKET_FAMILIES)?, other_than(2, &SOCKET_PROTOCOLS)?]);
    refused.entry(libc::SYS_socketpair).or_default().push(other_than(0, &PAIR_FAMILIES)?);
    refused.entry(libc::SYS_prlimit64).or_default().push(core_limit()?);
    #[cfg(target_arch = "x86_64")]
    refused.entry(libc::SYS_setrlimit).or_default().push(rule(&Bits { argument: 0, mask: u64::MAX, value: u64::from(libc::RLIMIT_CORE) })?);
    let arch = arch();
    let errno = |code: i32| SeccompAction::Errno(code.unsigned_abs());
    Ok([
        SeccompFilter::new(known, errno(libc::ENOSYS), SeccompAction::Allow, arch)?.try_into()?,
        SeccompFilter::new(refused, SeccompAction::Allow, errno(libc::EPERM), arch)?.try_into()?,
    ])
}

fn rule(bits: &Bits) -> Result<SeccompRule, seccompiler::BackendError> {
    // The kernel reads the lower half of these arguments.
    SeccompRule::new(vec![SeccompCondition::new(bits.argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits.mask), bits.value)?])
}

/// Any call whose argument has none of these values.
fn other_than(argument: u8, values: &[i32]) -> Result<SeccompRule, seccompiler::BackendError> {
    let differs = |value: &i32| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(value.unsigned_abs()));
    SeccompRule::new(values.iter().map(differs).collect::<Result<_, _>>()?)
}

/// A change of the limit of core dumps: without them no program of the host starts when one in a box crashes.
fn core_limit() -> Result<SeccompRule, seccompiler::BackendError> {
    let core = u64::from(libc::RLIMIT_CORE);
    SeccompRule::new(vec![
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, core)?,
        SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
    ])
}

const fn arch() -> TargetArch {
    #[cfg(target_arch = "x86_64")]
    return TargetArch::x86_64;
    #[cfg(target_arch = "aarch64")]
    return TargetArch::aarch64;
}
