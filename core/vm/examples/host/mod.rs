//! What a host answers of itself, where there is no chain.

use cowboy_vm::{HostCall, HostError, HostFn, HostValue};

/// Who runs, when, and who called: always the same. What needs a chain is forbidden.
pub(crate) fn answer(call: &HostCall) -> Result<HostValue, HostError> {
    let text = |text: &str| HostValue::Str(text.to_owned());
    let address = || HostValue::Bytes(vec![1; 20]);
    Ok(match call.function {
        HostFn::SelfAddress | HostFn::ActorOwner => address(),
        HostFn::CurrentBlock => HostValue::int(7),
        HostFn::RuntimeConfig => {
            HostValue::Map(vec![(text("continuation_mode"), text("fsm")), (text("compile_time_fsm"), HostValue::Bool(true))])
        }
        HostFn::Context => HostValue::Map(vec![
            (text("sender"), address()),
            (text("actor_addr"), address()),
            (text("value"), HostValue::int(0)),
            (text("block_height"), HostValue::int(7)),
            (text("timestamp_ms"), HostValue::int(7_000)),
            (text("tx_hash"), HostValue::Bytes(vec![2; 32])),
            (text("chain_id"), HostValue::int(1)),
            (text("chain_instance_id"), HostValue::Bytes(vec![3; 32])),
            (text("pvm_version"), text("3.11.8")),
        ]),
        _ => return Err(HostError { code: 5, name: "forbidden", message: format!("{:?} is not answered here", call.function) }),
    })
}
