//! What a committee's results come to: pure functions, so that an aggregator, a test and the chain agree (002 §9).

use super::json::Json;
use super::schema::Schema;
use super::similarity::{Embedded, largest_group};
use cowboy_params::Weights;
use cowboy_types::job::{Check, JobSpec, Mode, Snapshot, Verdict};
use cowboy_types::units::Height;
use cowboy_types::{Hash, cbor};
use std::collections::BTreeMap;

/// Results shorter than this have too few bytes for their entropy to say anything.
const ENTROPY_FROM: usize = 64;

/// A result as a member revealed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission<'a> {
    /// Its bytes.
    pub output: &'a [u8],
    /// When it was committed to.
    pub committed_at: Height,
    /// Whether its attestation was accepted.
    pub is_attested: bool,
}

/// What judging needs to know beside job and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Results that must agree.
    pub threshold: usize,
    /// The time of the submission's block, in seconds.
    pub submitted_seconds: u64,
    /// Similarity of a group, where the job names none, in hundredths of a percent.
    pub similarity: u64,
    /// The model whose embeddings are compared; zero where governance named none.
    pub embedding_model: Hash,
    /// Thousandths of a bit a byte that a longer result must vary.
    pub entropy: u64,
}

/// The objective check of a result's format and schema (003 Objective Failure Criteria; decision 303).
const SCHEMA: u64 = 1;

/// The objective check that a result is long enough, and varies enough to say something.
const CONTENT: u64 = 2;

/// The objective check that a result does not repeat the prompt.
const LEAK: u64 = 4;

/// All objective checks of results.
const OBJECTIVE: u64 = SCHEMA | CONTENT | LEAK;

/// What results come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// One for each result, in order.
    pub verdicts: Vec<Verdict>,
    /// The objective checks that each failed, a bit each.
    pub failed: Vec<u64>,
    /// The objective checks that some result passed: whoever failed one of them is at fault.
    pub passed: u64,
    /// The result that is handed on, and whose it is; nothing where too few agree.
    pub accepted: Option<(usize, Vec<u8>)>,
}

/// A result, with what was read of it.
struct Good<'a> {
    place: usize,
    submission: Submission<'a>,
    json: Option<Json>,
    embedded: Option<Embedded>,
}

impl Good<'_> {
    /// What is compared of a result: a field's value, or all bytes.
    fn value(&self, path: &str) -> Option<Compared<'_>> {
        if path.is_empty() {
            return Some(Compared::Bytes(self.submission.output));
        }
        self.json.as_ref()?.at(path).map(Compared::Json)
    }

    fn number(&self, path: &str) -> Option<i128> {
        self.json.as_ref()?.at(path)?.number()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Compared<'a> {
    Bytes(&'a [u8]),
    Json(&'a Json),
}

/// Whether a check compares results with each other.
pub fn compares(check: &Check) -> bool {
    matches!(check, Check::Field { .. } | Check::FieldMajority { .. } | Check::Tolerance { .. } | Check::RelativeTolerance { .. })
}

/// Judges the results of a committee.
pub fn judge(spec: &JobSpec, results: &[Submission<'_>], rules: &Rules) -> Judgement {
    Judge::new(spec, rules).judge(results)
}

/// A job's rules, ready to judge results: its schemas are read once, however many results there are.
pub struct Judge<'a> {
    spec: &'a JobSpec,
    rules: &'a Rules,
    /// The schema of the result's format, where that is one.
    format: Option<Schema>,
    /// The schema of each check, where it is one.
    schemas: Vec<Option<Schema>>,
}

impl<'a> Judge<'a> {
    /// Reads the schemas of a job.
    pub fn new(spec: &'a JobSpec, rules: &'a Rules) -> Self {
        let schema_of = |check: &Check| if let Check::JsonSchema { schema } = check { Schema::parse(schema) } else { None };
        let schemas = spec.verification.checks.iter().map(schema_of).collect();
        Self { spec, rules, format: Schema::parse(&spec.schema.data_format), schemas }
    }

    /// Judges the results of a committee.
    pub fn judge(&self, results: &[Submission<'_>]) -> Judgement {
        let spec = self.spec;
        let mut verdicts = Vec::with_capacity(results.len());
        let mut failed = Vec::with_capacity(results.len());
        let (mut good, mut passed) = (Vec::new(), 0);
        for (place, submission) in results.iter().enumerate() {
            let (read, failings) = self.read(place, *submission);
            verdicts.push(match failings {
                Failings { is_unattested: true, .. } => Verdict::Invalid,
                Failings { objective: 1.., .. } => Verdict::Held,
                Failings { is_unfit: true, .. } => Verdict::Unfit,
                _ => Verdict::Differs,
            });
            failed.push(failings.objective);
            if !failings.is_unattested {
                passed |= OBJECTIVE & !failings.objective;
            }
            good.extend(read.filter(|_| failings == Failings::default()));
        }
        let agreeing = agree(spec, good, self.rules);
        if agreeing.len() < self.rules.threshold.max(1) {
            return Judgement { verdicts, failed, passed, accepted: None };
        }
        for result in &agreeing {
            verdicts[result.place] = Verdict::Accepted;
        }
        let chosen = choose(spec, &agreeing);
        let bytes = chosen.embedded.as_ref().map_or_else(|| chosen.submission.output.to_vec(), |embedded| embedded.answer.clone());
        Judgement { accepted: Some((chosen.place, bytes)), verdicts, failed, passed }
    }
}

/// Modelled execution time of judging results that have `bytes` bytes together, in ns (decision 393). The results of a committee are read
/// twice: their verdicts are found first, and then what they say in common, or how they differ from those of another committee.
pub fn weight(weights: &Weights, spec: &JobSpec, bytes: u64) -> u64 {
    let passes = if spec.verification.mode.is_single() { 1 } else { 2 };
    let checks = spec.verification.checks.iter();
    let schemas = checks.filter_map(|check| if let Check::JsonSchema { schema } = check { Some(schema.len()) } else { None });
    let schemas = schemas.fold(spec.schema.data_format.len(), usize::saturating_add);
    let schemas = u64::try_from(schemas).unwrap_or(u64::MAX).saturating_mul(weights.judged_byte);
    schemas.saturating_add(bytes.saturating_mul(byte_weight(weights, spec))).saturating_mul(passes)
}

/// How many times as long as reading a result judging it takes, rounded to the nearest.
pub fn effort(weights: &Weights, spec: &JobSpec) -> u64 {
    byte_weight(weights, spec).saturating_add(weights.judged_byte / 2) / weights.judged_byte
}

/// Modelled execution time of reading a byte of a result once and comparing it as the job says, in ns.
fn byte_weight(weights: &Weights, spec: &JobSpec) -> u64 {
    let verification = &spec.verification;
    let compared = [
        !verification.vote_field.is_empty(),
        verification.mode == Mode::SemanticSimilarity,
        spec.schema.data_format[..] == *"cbor",
        verification.snapshot != Snapshot::Elected,
    ];
    let compared = compared.map(u64::from).iter().sum::<u64>().saturating_mul(weights.comparisons);
    let format = Schema::parse(&spec.schema.data_format).map_or(0, |schema| schema.steps());
    let checks = verification.checks.iter().map(|check| steps_of(weights, check)).fold(format, u64::saturating_add);
    checks.saturating_add(compared).saturating_mul(weights.comparison).saturating_add(weights.judged_byte)
}

/// Comparisons that a check makes for each byte of a result, at most.
fn steps_of(weights: &Weights, check: &Check) -> u64 {
    match check {
        Check::JsonSchema { schema } => Schema::parse(schema).map_or(0, |schema| schema.steps()),
        Check::NoLeak { markers: texts } | Check::ContainsNone { texts } | Check::ContainsAll { texts } => {
            u64::try_from(texts.len()).expect("a list is bounded")
        }
        check if compares(check) => weights.comparisons,
        _ => 1,
    }
}

/// Which checks a result fails by itself (A-226; decision 303).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Failings {
    /// It came without the attestation that the job asks for.
    is_unattested: bool,
    /// Objective checks that it fails, a bit each.
    objective: u64,
    /// It fails another check of the submitter.
    is_unfit: bool,
}

impl Judge<'_> {
    /// Reads a result, and what it fails. There is nothing to read where it has not the form that its mode needs.
    fn read<'r>(&self, place: usize, submission: Submission<'r>) -> (Option<Good<'r>>, Failings) {
        let (spec, rules) = (self.spec, self.rules);
        let is_unattested = spec.verification.is_tee_required && !submission.is_attested;
        let embedded = match spec.verification.mode {
            Mode::SemanticSimilarity => {
                let is_right = |embedded: &Embedded| rules.embedding_model == Hash::ZERO || embedded.model == rules.embedding_model;
                match Embedded::read(submission.output).filter(is_right) {
                    None => return (None, Failings { is_unattested, objective: SCHEMA, is_unfit: false }),
                    some => some,
                }
            }
            _ => None,
        };
        let bytes = embedded.as_ref().map_or(submission.output, |embedded| &embedded.answer);
        let json = Json::parse(bytes).ok();
        let mut failings = Failings { is_unattested, ..Failings::default() };
        if !self.is_of_format(bytes, json.as_ref()) {
            failings.objective |= SCHEMA;
        }
        let facts = Facts { bytes, json: json.as_ref(), entropy: entropy(bytes) };
        if bytes.is_empty() || bytes.len() >= ENTROPY_FROM && facts.entropy < rules.entropy {
            failings.objective |= CONTENT;
        }
        for (check, schema) in spec.verification.checks.iter().zip(&self.schemas) {
            if facts.pass(check, schema.as_ref(), rules) {
                continue;
            }
            match objective(check, bytes) {
                0 => failings.is_unfit = true,
                class => failings.objective |= class,
            }
        }
        (Some(Good { place, submission, json, embedded }), failings)
    }

    fn is_of_format(&self, bytes: &[u8], json: Option<&Json>) -> bool {
        match &self.spec.schema.data_format[..] {
            "" | "binary" => true,
            "text" => std::str::from_utf8(bytes).is_ok(),
            "json" => json.is_some(),
            "cbor" => cbor::decode(bytes).is_ok(),
            _ => json.is_some_and(|json| self.format.as_ref().is_some_and(|schema| schema.admits(json))),
        }
    }
}

/// Which objective check this is, for a result that fails it; none where it is the submitter's own.
fn objective(check: &Check, bytes: &[u8]) -> u64 {
    match check {
        Check::JsonSchema { .. } => SCHEMA,
        Check::Entropy { .. } => CONTENT,
        Check::Length { least, .. } if u64::try_from(bytes.len()).is_ok_and(|length| length < least.0) => CONTENT,
        Check::NoLeak { .. } => LEAK,
        _ => 0,
    }
}

/// Whether a format of results is one that can be decided.
pub fn is_format(format: &str) -> bool {
    matches!(format, "" | "binary" | "text" | "json" | "cbor") || Schema::parse(format).is_some()
}

/// What the checks look at of one result.
struct Facts<'r> {
    bytes: &'r [u8],
    json: Option<&'r Json>,
    entropy: u64,
}

impl Facts<'_> {
    /// Whether the result passes a check by itself. `schema` is that of the check.
    fn pass(&self, check: &Check, schema: Option<&Schema>, rules: &Rules) -> bool {
        let number = |path: &str| self.json.and_then(|json| json.at(path)).and_then(Json::number);
        let holds = |text: &str| contains(self.bytes, text.as_bytes());
        let length = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        match check {
            Check::JsonSchema { .. } => self.json.zip(schema).is_some_and(|(json, schema)| schema.admits(json)),
            Check::Range { path, least, greatest } => number(path).is_some_and(|number| (*least..=*greatest).contains(&number)),
            Check::Length { least, greatest } => (least.0..=greatest.0).contains(&length),
            Check::Entropy { least } => self.entropy >= least.0,
            Check::NoLeak { markers: texts } | Check::ContainsNone { texts } => !texts.iter().any(|text| holds(text)),
            Check::ContainsAll { texts } => texts.iter().all(|text| holds(text)),
            Check::Freshness { path, reference, max_age } => {
                let reference = if reference.0 == 0 { rules.submitted_seconds } else { reference.0 };
                let oldest = i128::from(reference.saturating_sub(max_age.0)) * super::json::UNIT;
                number(path).is_some_and(|time| time >= oldest)
            }
            Check::Field { path } | Check::FieldMajority { path } => self.json.is_some_and(|json| json.at(path).is_some()),
            Check::Tolerance { path, .. } | Check::RelativeTolerance { path, .. } => number(path).is_some(),
        }
    }
}

/// Whether a text stands in bytes; an empty one does not. Takes a time that grows with the bytes and not with the text.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && memchr::memmem::find(bytes, part).is_some()
}

/// Shannon's entropy of bytes, in thousandths of a bit a byte, rounded down.
pub fn entropy(bytes: &[u8]) -> u64 {
    let mut counts = [0u64; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    // Σ c·(log₂ n − log₂ c) / n.
    let sum: u64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| count * log2_thousandths(total).saturating_sub(log2_thousandths(*count)))
        .sum();
    sum.checked_div(total).unwrap_or(0)
}

/// The binary logarithm in thousandths, rounded down.
fn log2_thousandths(number: u64) -> u64 {
    let whole = u64::from(number.max(1).ilog2());
    // The mantissa in [1, 2), in 2⁻³⁰; ten squarings give ten bits of the fraction.
    let mut mantissa = (u128::from(number.max(1)) << 30) >> whole;
    let mut fraction = 0;
    for _ in 0..10 {
        mantissa = (mantissa * mantissa) >> 30;
        fraction <<= 1;
        if mantissa >> 31 != 0 {
            mantissa >>= 1;
            fraction |= 1;
        }
    }
    whole * 1_000 + fraction * 1_000 / 1_024
}

/// The results that agree as the mode wants it. Fewer than the threshold mean that nothing was agreed on.
fn agree<'a>(spec: &JobSpec, good: Vec<Good<'a>>, rules: &Rules) -> Vec<Good<'a>> {
    let verification = &spec.verification;
    match verification.mode {
        Mode::None | Mode::EconomicBond => good.into_iter().take(1).collect(),
        Mode::MajorityVote => most_frequent(pipeline(spec, good), &verification.vote_field),
        Mode::StructuredMatch => pipeline(spec, good),
        Mode::Deterministic => most_frequent(good, ""),
        Mode::SemanticSimilarity => {
            let share = if verification.similarity.0 == 0 { rules.similarity } else { verification.similarity.0 };
            let embeddings: Vec<&[i16]> = good
                .iter()
                .map(|result| &result.embedded.as_ref().expect("every good result of this mode has one").embedding[..])
                .collect();
            let (group, centre) = largest_group(&embeddings, share);
            // The one that the group is around comes first: it is handed on.
            let mut kept: Vec<(usize, Good<'a>)> = good.into_iter().enumerate().filter(|(place, _)| group.contains(place)).collect();
            kept.sort_by_key(|(place, _)| (Some(*place) != centre, *place));
            kept.into_iter().map(|(_, result)| result).collect()
        }
    }
}

/// Those whose value is the most frequent; of several values as frequent, the one that was committed to first.
fn most_frequent<'a>(good: Vec<Good<'a>>, path: &str) -> Vec<Good<'a>> {
    let mut groups: BTreeMap<Compared<'_>, Vec<usize>> = BTreeMap::new();
    for (index, result) in good.iter().enumerate() {
        if let Some(value) = result.value(path) {
            groups.entry(value).or_default().push(index);
        }
    }
    let first = |group: &Vec<usize>| group.iter().map(|index| (good[*index].submission.committed_at, good[*index].place)).min();
    let Some(winner) = groups.into_values().max_by_key(|group| (group.len(), std::cmp::Reverse(first(group)))) else { return Vec::new() };
    let mut index = 0;
    let mut good = good;
    good.retain(|_| {
        index += 1;
        winner.contains(&(index - 1))
    });
    good
}

/// Those that pass every check which looks at all of them, one check after the other.
fn pipeline<'a>(spec: &JobSpec, mut good: Vec<Good<'a>>) -> Vec<Good<'a>> {
    for check in spec.verification.checks.iter() {
        good = match check {
            Check::Field { path } => most_frequent(good, path),
            Check::FieldMajority { path } => {
                let all = good.len();
                let kept = most_frequent(good, path);
                if kept.len() * 2 > all { kept } else { Vec::new() }
            }
            Check::Tolerance { path, absolute } => near_median(good, path, |_| i128::try_from(*absolute).unwrap_or(i128::MAX)),
            Check::RelativeTolerance { path, share } => near_median(good, path, |median| {
                (median.unsigned_abs() / 10_000).saturating_mul(u128::from(share.0)).try_into().unwrap_or(i128::MAX)
            }),
            _ => good,
        };
    }
    good
}

/// Those whose number is near the median of all.
fn near_median<'a>(mut good: Vec<Good<'a>>, path: &str, tolerance: impl Fn(i128) -> i128) -> Vec<Good<'a>> {
    let mut numbers: Vec<i128> = good.iter().filter_map(|result| result.number(path)).collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        return Vec::new();
    }
    let median = numbers[(numbers.len() - 1) / 2];
    let most = tolerance(median);
    good.retain(|result| {
        result.number(path).is_some_and(|number| number.checked_sub(median).is_some_and(|away| away.saturating_abs() <= most))
    });
    good
}

/// Which of the agreeing results is handed on (003 Snapshot Modes).
fn choose<'g, 'a>(spec: &JobSpec, agreeing: &'g [Good<'a>]) -> &'g Good<'a> {
    let earliest = || agreeing.iter().min_by_key(|result| (result.submission.committed_at, result.place));
    let path = &spec.verification.snapshot_field;
    let chosen = match spec.verification.snapshot {
        // The centre of a group comes first.
        Snapshot::Elected if spec.verification.mode == Mode::SemanticSimilarity => agreeing.first(),
        Snapshot::Elected | Snapshot::FirstValid => earliest(),
        Snapshot::Median => {
            let mut ranked: Vec<&Good<'_>> = agreeing.iter().filter(|result| result.number(path).is_some()).collect();
            ranked.sort_by_key(|result| (result.number(path), result.place));
            ranked.get(ranked.len().saturating_sub(1) / 2).copied().or_else(earliest)
        }
        Snapshot::Majority => {
            let mut counts: BTreeMap<Option<Compared<'_>>, usize> = BTreeMap::new();
            for result in agreeing {
                *counts.entry(result.value(path)).or_default() += 1;
            }
            let count = |result: &Good<'_>| counts.get(&result.value(path)).copied();
            agreeing.iter().max_by_key(|result| (count(result), std::cmp::Reverse((result.submission.committed_at, result.place))))
        }
        Snapshot::Latest => agreeing.iter().max_by_key(|result| (result.number(path), std::cmp::Reverse(result.place))),
    };
    chosen.expect("something agrees where something is chosen")
}
