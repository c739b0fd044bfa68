//! The virtual machine, as deliveries see it: one engine a handler, which comes back whenever it needs the host.

pub(crate) use mirror::*;

/// The boundary's types.
mod mirror {
    #![allow(missing_docs, dead_code, reason = "a stand-in")]
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) enum HostValue {
        None,
        Bool(bool),
        Int(u128),
        Bytes(Vec<u8>),
        Str(String),
        List(Vec<HostValue>),
        Map(Vec<(HostValue, HostValue)>),
    }
    impl HostValue {
        pub(crate) fn int(value: impl Into<u128>) -> Self {
            Self::Int(value.into())
        }
        pub(crate) fn as_u64(&self) -> Option<u64> {
            match self {
                Self::Int(value) => u64::try_from(*value).ok(),
                _ => None,
            }
        }
        pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
            match self {
                Self::Bytes(bytes) => Some(bytes),
                _ => None,
            }
        }
        pub(crate) fn as_str(&self) -> Option<&str> {
            match self {
                Self::Str(text) => Some(text),
                _ => None,
            }
        }
    }
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct HostCall {
        pub(crate) function: HostFn,
        pub(crate) args: Vec<HostValue>,
    }
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct HostError {
        pub(crate) code: u32,
        pub(crate) name: &'static str,
        pub(crate) message: String,
    }
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Trap {
        OutOfCycles,
        OutOfCells,
        OutOfMemory,
        OutOfWeight,
        Internal,
    }
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct PyError {
        pub(crate) type_name: String,
        pub(crate) message: String,
        pub(crate) traceback: Vec<String>,
        pub(crate) slug: Option<String>,
        pub(crate) code: Option<u32>,
    }
    #[derive(Clone, Debug)]
    pub(crate) enum Exit {
        Return(HostValue),
        Raise(PyError),
        Trap(Trap),
        HostCall(HostCall),
    }
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Limits {
        pub(crate) cycles: u64,
        pub(crate) cells: u64,
        pub(crate) memory_bytes: usize,
        pub(crate) recursion: usize,
        pub(crate) weight_ns: u64,
    }
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Usage {
        pub(crate) cycles: u64,
        pub(crate) cells: u64,
        pub(crate) peak_memory: usize,
        pub(crate) weight_ns: u64,
    }
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum HostFn {
        Context,
        SelfAddress,
        CurrentBlock,
        RuntimeConfig,
        GetState,
        SetState,
        DeleteState,
        SetReservedState,
        DeleteReservedState,
        ScanStatePrefix,
        ActorOwner,
        ChargeGas,
        EmitEvent,
        SendMessage,
        CallActor,
        TransferBalance,
        ScheduleTimer,
        ScheduleTimerEx,
        ExtendTimer,
        CancelTimer,
        Randomness,
        RandomnessAt,
        VerifySignature,
        Recover,
        EntitlementParams,
        SpawnActor,
        CreateDeferredTx,
        Balance,
        SubmitJob,
    }
}

/// A compiled actor, shared by every run of it.
#[derive(Clone, Debug)]
pub struct Image(Inner);

#[derive(Clone, Debug)]
enum Inner {
    #[cfg(not(test))]
    Absent(std::convert::Infallible),
    #[cfg(test)]
    Script(std::sync::Arc<script::Program>),
}

/// Why a source makes no image.
pub(crate) struct BuildError {
    pub(crate) abort: cowboy_types::Abort,
    pub(crate) exception: crate::input::Exception,
    pub(crate) usage: Usage,
}

/// Compiles canonical source and runs its module body.
pub(crate) fn build(source: &str, limits: Limits) -> Result<(Image, Usage), BuildError> {
    #[cfg(test)]
    if let Some(program) = source.strip_prefix("#script\n") {
        return Ok((Image(Inner::Script(std::sync::Arc::new(script::Program::parse(program)))), Usage { cycles: 100, ..Usage::default() }));
    }
    let _ = (source, limits);
    Err(BuildError { abort: cowboy_types::error::UNAVAILABLE, exception: Default::default(), usage: Usage::default() })
}

/// A host function's name, as Python knows it.
pub(crate) fn name_of(function: HostFn) -> String {
    format!("{function:?}")
}

/// A handler under way.
pub(crate) enum Engine {
    #[cfg(not(test))]
    Absent(std::convert::Infallible),
    #[cfg(test)]
    Script(Box<script::Run>),
}

impl Engine {
    /// A handler that has not begun.
    pub(crate) fn start(image: &Image, method: &str, payload: &[u8], limits: Limits) -> Self {
        match &image.0 {
            #[cfg(not(test))]
            Inner::Absent(never) => match *never {},
            #[cfg(test)]
            Inner::Script(program) => Self::Script(Box::new(script::Run::start(program.clone(), method, payload, limits))),
        }
    }

    /// Goes on until it needs something.
    pub(crate) fn run(&mut self) -> Exit {
        match self {
            #[cfg(not(test))]
            Self::Absent(never) => match *never {},
            #[cfg(test)]
            Self::Script(run) => run.run(),
        }
    }

    /// Goes on with the host's answer.
    pub(crate) fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit {
        match self {
            #[cfg(not(test))]
            Self::Absent(never) => match *never {},
            #[cfg(test)]
            Self::Script(run) => run.resume(answer),
        }
    }

    /// Deducts what the host's work costs.
    pub(crate) fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Trap> {
        match self {
            #[cfg(not(test))]
            Self::Absent(never) => match *never {},
            #[cfg(test)]
            Self::Script(run) => run.charge(cycles, cells, weight),
        }
    }

    /// What was used so far.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            #[cfg(not(test))]
            Self::Absent(never) => match *never {},
            #[cfg(test)]
            Self::Script(run) => run.usage(),
        }
    }
}

#[cfg(test)]
pub(crate) mod script;
