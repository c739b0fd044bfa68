//! The methods and events of 0x03.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{events, form};
use cowboy_types::job::{MAX_MEMBERS, SALT_BYTES};
use cowboy_types::units::{Amount, Count};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

form! {
    /// What the work took.
    #[derive(Default)]
    pub(crate) struct Used {
        /// Tokens into a model.
        input_tokens: Count = Count::ZERO,
        /// Tokens out of it.
        output_tokens: Count = Count::ZERO,
        /// Web requests and calls of tools.
        requests: Count = Count::ZERO,
        /// Milliseconds of work.
        compute_ms: Count = Count::ZERO,
        /// Mebibytes of memory.
        memory_mb: Count = Count::ZERO,
    }
}

form! {
    /// A member's commitment as an aggregator opens it.
    pub(crate) struct Opening {
        /// The member.
        runner: Address,
        /// The place of its result among `outputs`; null where the work failed.
        output: Option<u64>,
        /// Why the work failed: 1 the job is wrong, 2 something outside, 3 its bounds; 0 where it did not.
        fault: u64 = 0,
        /// Work done before the fault, in hundredths of a percent.
        progress: u64 = 0,
        /// 32 secret bytes and the member's address.
        salt: Option<Fixed<SALT_BYTES>>,
        /// The member's signature of the report.
        signature: Fixed<64>,
        /// What the work took.
        usage: Used = Used::default(),
        /// What a trusted environment says of the result.
        attestation: Vec<u8> = Vec::new(),
    }
}

methods! {
    /// What 0x03 is asked.
    pub(super) METHODS by NUMBER;

    /// Binds a member to its report: keccak256(report ‖ salt).
    "commit" Commit [] {
        /// The job's id.
        job_id: Hash,
        /// The hash of the report and the salt.
        commitment: Hash,
    } -> ();

    /// Opens the sender's commitment. The report is the CBOR of {attestation, fault, progress, result, usage}; the signature covers it.
    "reveal" Reveal [priced] {
        /// The job's id.
        job_id: Hash,
        /// The result; null where the work failed.
        output: Option<Vec<u8>>,
        /// Why the work failed: 1 the job is wrong, 2 something outside, 3 its bounds; 0 where it did not.
        fault: u64 = 0,
        /// Work done before the fault, in hundredths of a percent.
        progress: u64 = 0,
        /// 32 secret bytes and the sender's address.
        salt: Option<Fixed<SALT_BYTES>>,
        /// The sender's signature of the report.
        signature: Fixed<64>,
        /// What the work took.
        usage: Used = Used::default(),
        /// What a trusted environment says of the result.
        attestation: Vec<u8> = Vec::new(),
    } -> ();

    /// Submits the result of a committee of one, which commits to nothing before.
    "submit_result" SubmitResult [priced] {
        /// The job's id.
        job_id: Hash,
        /// The result; null where the work failed.
        output: Option<Vec<u8>>,
        /// Why the work failed: 1 the job is wrong, 2 something outside, 3 its bounds; 0 where it did not.
        fault: u64 = 0,
        /// Work done before the fault, in hundredths of a percent.
        progress: u64 = 0,
        /// The sender's signature of the report.
        signature: Fixed<64>,
        /// What the work took.
        usage: Used = Used::default(),
        /// What a trusted environment says of the result.
        attestation: Vec<u8> = Vec::new(),
    } -> ();

    /// Opens several commitments at once. The aggregator only.
    "submit_verified_result" SubmitVerifiedResult [priced] {
        /// The job's id.
        job_id: Hash,
        /// The results, each once.
        outputs: List<Vec<u8>, MAX_MEMBERS> = List::default(),
        /// The commitments that are opened; at least one.
        reveals: List<Opening, MAX_MEMBERS>,
    } -> ();

    /// Says that the sender committed and crashed: it is not slashed for not revealing.
    "attest_crash" AttestCrash [passing] {
        /// The job's id.
        job_id: Hash,
        /// What ended it.
        signal: Text<64> = Text::default(),
    } -> ();

    /// Claims that a runner's accepted result is dishonest, or that it put results together dishonestly. The value is the bond. Returns
    /// the claim's place among the job's claims.
    "challenge" MakeClaim [payable, kept] {
        /// The job's id.
        job_id: Hash,
        /// Who is accused.
        runner: Address,
        /// What is claimed, in words.
        claim: Text<256> = Text::default(),
    } -> u64;

    /// Claims that a deterministic result is wrong. The value is the bond; the sender pays the work. Returns the id of the job that does
    /// the work again.
    "reproduce" Reproduce [payable] {
        /// The job's id.
        job_id: Hash,
    } -> Hash;

    /// Decides a claim. Governance decides at once; members of the security council vote, and seven of nine decide. Returns whether it is
    /// decided.
    "decide_challenge" DecideClaim [routine] {
        /// The job's id.
        job_id: Hash,
        /// The claim's place among the job's claims.
        claim: u64 = 0,
        /// Whether the claim is right.
        upheld: bool = false,
        /// Who made the claim; null for whoever did.
        challenger: Option<Address>,
    } -> bool;

    /// Names the model whose embeddings are compared.
    "set_embedding_model" SetEmbeddingModel [routine, governed] {
        /// The model's id.
        model_id: Hash,
    } -> ();
}

events! {
    /// What 0x03 emits where somebody asks it.
    pub(super) EVENTS by NUMBER;

    /// A member committed to its report.
    "ResultCommitted" Committed {
        /// The job's id.
        job_id: Hash,
        /// The member.
        runner: Address,
        /// The hash of the report and the salt.
        commitment: Hash,
    }

    /// A member's report was opened.
    "ResultRevealed" Revealed {
        /// The job's id.
        job_id: Hash,
        /// The member.
        runner: Address,
        /// The hash of its result.
        output: Hash,
    }

    /// A member's trusted environment proves that it ran another model: it was slashed.
    "WrongModelSlash" WrongModelSlash {
        /// The job's id.
        job_id: Hash,
        /// The member.
        runner: Address,
        /// The hash of its result.
        output: Hash,
    }

    /// A member that keeps a committed result back after another crash was fined.
    "CrashFined" CrashFined {
        /// The job's id.
        job_id: Hash,
        /// The member.
        runner: Address,
        /// What it lost.
        amount: Amount,
    }

    /// A member crashed.
    "CrashAttested" CrashAttested {
        /// The job's id.
        job_id: Hash,
        /// The member.
        runner: Address,
        /// What ended it.
        signal: Text<64>,
    }

    /// A claim was made against a result.
    "ResultChallenged" ResultChallenged {
        /// The job's id.
        job_id: Hash,
        /// The claim's place among the job's claims.
        claim: u64,
        /// Who made it.
        challenger: Address,
        /// Who is accused; zeros where the work is done again.
        runner: Address,
        /// What was put down.
        bond: Amount,
    }

    /// A claim was decided.
    "ChallengeResolved" ChallengeResolved {
        /// The job's id.
        job_id: Hash,
        /// The claim's place among the job's claims.
        claim: u64,
        /// Whether it was right.
        upheld: bool,
    }

    /// Governance named the model whose embeddings are compared.
    "EmbeddingModelSet" EmbeddingModelSet {
        /// The model's id.
        model_id: Hash,
    }
}
