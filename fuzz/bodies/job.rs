//! Any bytes are a job or are refused; any bytes are JSON that is read, or are refused; judging any results comes to an end.

use cowboy_params::Params;
use cowboy_system::dispatcher::lower::{Offer, decoded, lower};
use cowboy_system::verifier::json::Json;
use cowboy_system::verifier::judge::{Rules, Submission, judge};
use cowboy_system::verifier::schema::Schema;
use cowboy_types::{Address, Hash, Height};

pub(crate) fn body(bytes: &[u8]) {
    let json = Json::parse(bytes);
    if let (Ok(text), Ok(json)) = (std::str::from_utf8(bytes), &json)
        && let Some(schema) = Schema::parse(text)
    {
        let _ = schema.admits(json);
    }
    let params = Params::GENESIS;
    let (rows, offer) = (&params.jobs, Offer::reading(&params, Address([1; 20])));
    let Ok(submission) = decoded(bytes) else { return };
    let Ok(spec) = lower(&offer, &submission) else { return };
    assert_eq!(decoded(&spec.request).as_ref(), Ok(&submission), "the request is kept as it was read");
    let outputs = [bytes, b"{\"a\":1}", b"{\"a\":2}"];
    let results = outputs.map(|output| Submission { output, committed_at: Height(1), is_attested: true });
    let rules = Rules { threshold: 2, submitted_seconds: 1, similarity: 8_500, embedding_model: Hash::ZERO, entropy: rows.entropy_min };
    assert_eq!(judge(&spec, &results, &rules).verdicts.len(), results.len());
}
