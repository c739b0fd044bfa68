//! Why a submission cannot be read: a field that nobody reads, or that is not what it has to be.

use cowboy_types::{Abort, error};

/// A place of a submission that has fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is called.
    pub name: &'static str,
    /// Whether names that begin with `x-` are for the runner alone there.
    pub has_own: bool,
}

impl Place {
    /// A place where names that begin with `x-` are for the runner alone.
    pub const fn open(name: &'static str) -> Self {
        Self { name, has_own: true }
    }

    /// A place with the fields that the chain reads, and no others.
    pub const fn closed(name: &'static str) -> Self {
        Self { name, has_own: false }
    }
}

/// Why a submission is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no canonical CBOR map, or names no kind of job.
    NoJob,
    /// A field that nobody reads in the place, which may have fields for the runner alone.
    Unknown(String, Place),
    /// A field that stands in a second place too.
    Twice(String),
    /// More arguments by place than the kind takes: how many there are, and how many there may be.
    TooMany(usize, usize),
    /// A part that is no map.
    NoMap(String),
}

// An actor that catches the refusal sees the text, so it is ASCII: what else `Debug` escapes differs between releases of the compiler.
impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoJob => f.write_str("it is no canonical CBOR map with a known job_type"),
            Self::Unknown(name, place) => {
                let (name, place, has_own) = (name.escape_default(), place.name, place.has_own);
                write!(f, "the field \"{name}\" is unknown in {place}; leave it out")?;
                if has_own { write!(f, ", or name it x-{name} for the runner alone") } else { Ok(()) }
            }
            Self::Twice(name) => write!(f, "the field \"{}\" stands in two places; leave one out", name.escape_default()),
            Self::TooMany(found, max) => write!(f, "there are {found} arguments by place, and may be {max}"),
            Self::NoMap(name) => write!(f, "\"{}\" is no map", name.escape_default()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Abort {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unknown(..) | Refusal::Twice(_) => error::JOB_FIELD,
            Refusal::NoJob | Refusal::TooMany(..) | Refusal::NoMap(_) => error::JOB_INVALID,
        }
    }
}

/// A field that is wrong, and what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The field.
    pub field: &'static str,
    /// What it has to be.
    pub rule: &'static str,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.rule)
    }
}
