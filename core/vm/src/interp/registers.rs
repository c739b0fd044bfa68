//! What the out-of-line forms of instructions do with registers. Each macro is used inside a method of [`super::Vm`] that has the
//! frame's first register as `base`.

/// What a register of the frame holds.
macro_rules! register {
    ($vm:ident, $base:ident, $index:expr) => {
        crate::window::afresh(&$vm.registers[$base + usize::from($index)])
    };
}

/// Writes a register; what it held is released.
macro_rules! set {
    ($vm:ident, $base:ident, $index:expr, $value:expr) => {{
        let value = $value;
        if let Value::Obj(old) = std::mem::replace(&mut $vm.registers[$base + usize::from($index)], value) {
            $vm.heap.release_object(old);
        }
    }};
}

/// Releases what a register holds, when the instruction consumes it.
macro_rules! consume {
    ($vm:ident, $base:ident, $index:expr, $temporary:expr) => {
        if $temporary {
            if let Value::Obj(old) = std::mem::replace(&mut $vm.registers[$base + usize::from($index)], Value::Undefined) {
                $vm.heap.release_object(old);
            }
        }
    };
}

/// The value of a register with a reference of its own: the register's when the instruction consumes it.
macro_rules! take {
    ($vm:ident, $base:ident, $index:expr, $temporary:expr) => {{
        let index = $base + usize::from($index);
        let value = crate::window::afresh(&$vm.registers[index]);
        if $temporary {
            $vm.registers[index] = Value::Undefined;
        } else if let Value::Obj(object) = value {
            $vm.heap.retain_object(object);
        }
        value
    }};
}

pub(super) use {consume, register, set, take};
