use super::*;
use crate::registry;
use cowboy_types::job::{JobKind, Report, Usage, runner::RateCard};
use cowboy_types::units::Count;
use cowboy_types::wire::Fixed;

fn names(request: &Request) -> Vec<&str> {
    let Value::Map(pairs) = &request.argument else { panic!("an argument is a map") };
    pairs.iter().map(|(name, _)| name.as_text().expect("a name")).collect()
}

/// What a request leaves out is what the method takes for it.
#[test]
fn defaults_are_left_out() {
    let report = Report { result: Some(b"ok"), usage: Usage::nothing(), fault: 0, progress: 0, attestation: b"" };
    let submitted = market::submit_result(Hash::ZERO, &report, Fixed([7; 64]));
    assert_eq!(names(&submitted), ["job_id", "output", "signature"]);
    let usage = Usage { compute_ms: Count(5), ..Usage::nothing() };
    let failed = Report { result: None, usage, fault: 2, progress: 10, attestation: b"tee" };
    let opened = market::Opened { runner: Address::ZERO, report: failed, salt: Fixed([0; 52]), signature: Fixed([7; 64]) };
    let right = market::Opened { report, ..opened.clone() };
    let together = market::submit_verified_result(Hash::ZERO, &[right.clone(), opened, right]).expect("three members");
    let Some(Value::Array(reveals)) = together.argument.get("reveals") else { panic!("a list") };
    assert_eq!(reveals.iter().map(|reveal| reveal.get("output").and_then(Value::as_u64)).collect::<Vec<_>>(), [Some(0), None, Some(0)]);
    let names = |value: &Value| if let Value::Map(pairs) = value { pairs.len() } else { 0 };
    assert_eq!((names(&reveals[0]), names(&reveals[1])), (4, 7), "{reveals:?}");
    assert_eq!(reveals[1].get("usage"), Some(&Value::map([("compute_ms", Value::uint(5))])));
    let fault = attest_fault(Address::ZERO, None, staking::types::Fault::DoubleVote, (1, 2));
    assert_eq!((fault.actor, fault.method, fault.argument.get("witness")), (cowboy_types::actors::GOVERNANCE, "attest_fault", None));
}

/// A declaration that the chain would refuse is refused by its field.
#[test]
fn declarations_are_checked() {
    let declaration = market::Declaration {
        result_key: [1; 32],
        kinds: vec![JobKind::Http],
        rates: RateCard::free(),
        max_concurrent: 2,
        environments: vec![],
        endpoint: String::new(),
        regions: vec![],
        domains: vec![],
        models: vec![],
        containers: None,
    };
    let request = declaration.register().expect("it is right");
    assert_eq!(names(&request), ["kinds", "result_key", "max_concurrent"]);
    let actor = registry::at(Address::system(request.actor)).expect("0x01");
    assert!(actor.method(request.method).is_some());
    let wrong = market::Declaration { environments: vec!["enclave".into()], ..declaration.clone() };
    assert!(wrong.update().is_err_and(|text| text.starts_with("argument `tee`")));
    let containers =
        market::Containers { cpu_millicores: 1, memory_mib: 1, scratch_mib: 1, platforms: vec!["plan9".into()], volumes: false };
    let wrong = market::Declaration { containers: Some(containers), ..declaration };
    assert!(wrong.register().is_err_and(|text| text.starts_with("argument `containers.platforms`")));
}
