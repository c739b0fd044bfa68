//! What came of a container, as a result or as a fault (decision 165).

use crate::execute::Fault;
use cowboy_container::{BoxError, End, Outcome, Output as OutputFile};
use cowboy_image::ImageError;
use cowboy_system::offchain::container::Output;

/// How much of a program's errors a fault quotes.
const QUOTED_BYTES: usize = 512;

/// The result of a program that ended.
pub(super) fn result(outcome: &Outcome, output: Output) -> Result<Vec<u8>, Fault> {
    match outcome.end {
        End::Exited(0) => {}
        End::Exited(code) => return Err(Fault::Actor(format!("the program ended with {code}: {}", quoted(&outcome.stderr)))),
        End::Killed(signal) => return Err(Fault::Actor(format!("the program was ended by signal {signal}: {}", quoted(&outcome.stderr)))),
        End::OutOfMemory => return Err(Fault::Impossible("the program needs more memory than the job gives it".into())),
        End::OutOfTime => return Err(Fault::Impossible("the program was not done in the job's time".into())),
        End::OutOfSpace => return Err(Fault::Impossible("the program writes more files than the job gives room for".into())),
        End::OutOfOutput => return Err(Fault::Impossible("the program prints more than the runner keeps".into())),
        End::Cancelled => return Err(Fault::External("the container was ended by the runner".into())),
    }
    match (output, &outcome.output) {
        (Output::Stdout, _) => Ok(outcome.stdout.clone()),
        (Output::File, OutputFile::File(bytes)) => Ok(bytes.clone()),
        (Output::File, OutputFile::Missing) => Err(Fault::Actor("the program left no file /workspace/output".into())),
        (Output::File, OutputFile::TooLong { bytes }) => {
            Err(Fault::Impossible(format!("/workspace/output has {bytes} bytes, and the job takes fewer")))
        }
    }
}

/// The end of what a program printed as errors.
fn quoted(stderr: &[u8]) -> String {
    let last = stderr.get(stderr.len().saturating_sub(QUOTED_BYTES)..).unwrap_or_default();
    String::from_utf8_lossy(last).trim().to_owned()
}

/// Why a program was not started.
pub(super) fn not_started(error: &BoxError) -> Fault {
    match error {
        BoxError::Plan(_) | BoxError::Start { .. } => Fault::Actor(error.to_string()),
        _ => Fault::External(error.to_string()),
    }
}

/// Why there is no image. What no runner could unpack is the submitter's concern.
pub(super) fn no_image(error: &ImageError) -> Fault {
    match error {
        ImageError::Digest(_)
        | ImageError::WrongDiffId { .. }
        | ImageError::LargeDocument { .. }
        | ImageError::Document { .. }
        | ImageError::MediaType { .. }
        | ImageError::TooCompressed { .. }
        | ImageError::TooManyEntries { .. }
        | ImageError::Layer { .. }
        | ImageError::Entry { .. } => Fault::Actor(error.to_string()),
        _ => Fault::External(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_container::Usage;

    fn outcome(end: End) -> Outcome {
        Outcome {
            end,
            stdout: b"out".to_vec(),
            stderr: [&[b'x'; 600][..], b" why\n"].concat(),
            output: OutputFile::Missing,
            changes: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// Decision 165.
    #[test]
    fn ends_are_results_or_faults() {
        let number = |end, output| result(&outcome(end), output).map_err(|fault| fault.number());
        assert_eq!(number(End::Exited(0), Output::Stdout), Ok(b"out".to_vec()));
        let rows = [
            (End::Exited(0), Output::File, 1),
            (End::Exited(3), Output::Stdout, 1),
            (End::Killed(11), Output::Stdout, 1),
            (End::OutOfMemory, Output::Stdout, 3),
            (End::OutOfTime, Output::Stdout, 3),
            (End::OutOfSpace, Output::Stdout, 3),
            (End::OutOfOutput, Output::Stdout, 3),
            (End::Cancelled, Output::Stdout, 2),
        ];
        for (end, output, fault) in rows {
            assert_eq!(number(end, output), Err(fault), "{end:?}");
        }
        let reason = result(&outcome(End::Exited(3)), Output::Stdout).expect_err("a fault").to_string();
        assert!(reason.contains("ended with 3: x") && reason.ends_with("x why"), "{reason}");
        assert!(reason.len() < 600, "the end of it");
    }

    /// A result is whole, or none. Decision 670: a program that prints too much has none, also where it left a file.
    #[test]
    fn parts_are_no_results() {
        let long = Outcome { output: OutputFile::TooLong { bytes: 9 }, ..outcome(End::Exited(0)) };
        assert_eq!(result(&long, Output::File).map_err(|fault| fault.number()), Err(3));
        let file = |end| Outcome { output: OutputFile::File(b"file".to_vec()), ..outcome(end) };
        assert_eq!(result(&file(End::Exited(0)), Output::File), Ok(b"file".to_vec()));
        assert_eq!(result(&file(End::OutOfOutput), Output::File).map_err(|fault| fault.number()), Err(3));
    }
}
