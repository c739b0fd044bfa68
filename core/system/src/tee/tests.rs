//! Trusted environments from the document to the result: with certificates of our own, which governance names as roots.

use ciborium::Value as Cbor;
use cowboy_system::tee::{self, handlers::binding, statement};
use cowboy_testkit::chain::address;
use cowboy_testkit::market::*;
use cowboy_types::cbor::Value;
use cowboy_types::job::JobStatus;
use cowboy_types::{Address, Hash, keccak256};
use ed25519_consensus::SigningKey;
use p384::ecdsa::signature::Signer as _;
use p384::ecdsa::{Signature, SigningKey as Authority};
use p384::pkcs8::EncodePublicKey as _;
use std::str::FromStr as _;
use x509_cert::der::asn1::{BitString, GeneralizedTime, ObjectIdentifier, OctetString};
use x509_cert::der::oid::AssociatedOid as _;
use x509_cert::der::{DateTime, Decode as _, Encode as _};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, KeyUsages};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, TbsCertificate, Version};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    documents_are_bound_to_runner_root_and_program,
    results_of_a_trusted_environment,
    attestations_end,
    who_runs_a_program_that_was_taken_out_is_not_drawn,
];

/// The TEE Verifier.
const TEE: Address = Address::system(tee::NUMBER);

/// A manufacturer of tests: keys of its root and of an enclave, the same in every run.
struct Maker {
    root: Authority,
    leaf: Authority,
}

impl Maker {
    fn new(number: u8) -> Self {
        let key = |part: u8| Authority::from_slice(&[[number; 24], [part; 24]].concat()).expect("a small number is a key");
        Self { root: key(1), leaf: key(2) }
    }

    fn certificate(&self, is_root: bool) -> Vec<u8> {
        let moment = |year| Time::GeneralTime(GeneralizedTime::from_date_time(DateTime::new(year, 1, 1, 0, 0, 0).expect("a day")));
        let (root, leaf) = (Name::from_str("CN=root").expect("a name"), Name::from_str("CN=enclave").expect("a name"));
        let public = if is_root { &self.root } else { &self.leaf }.verifying_key().to_public_key_der().expect("a key");
        let algorithm = AlgorithmIdentifierOwned { oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3"), parameters: None };
        let extension =
            |extn_id, value: Vec<u8>| Extension { extn_id, critical: true, extn_value: OctetString::new(value).expect("short") };
        let authority = BasicConstraints { ca: is_root, path_len_constraint: None }.to_der().expect("it is encoded");
        let usage =
            KeyUsage(if is_root { KeyUsages::KeyCertSign } else { KeyUsages::DigitalSignature }.into()).to_der().expect("it is encoded");
        let tbs_certificate = TbsCertificate {
            version: Version::V3,
            serial_number: SerialNumber::from(7u32),
            signature: algorithm.clone(),
            issuer: root.clone(),
            validity: Validity { not_before: moment(2020), not_after: moment(2040) },
            subject: if is_root { root } else { leaf },
            subject_public_key_info: SubjectPublicKeyInfoOwned::from_der(public.as_bytes()).expect("a key"),
            issuer_unique_id: None,
            subject_unique_id: None,
            extensions: Some(vec![extension(BasicConstraints::OID, authority), extension(KeyUsage::OID, usage)]),
        };
        let signature: Signature = self.root.sign(&tbs_certificate.to_der().expect("it is encoded"));
        let signature = BitString::from_bytes(signature.to_der().as_bytes()).expect("short");
        Certificate { tbs_certificate, signature_algorithm: algorithm, signature }.to_der().expect("it is encoded")
    }

    /// A document in Amazon's format about a program that measures as this byte, with this data in it.
    fn document(&self, program: u8, data: &[u8]) -> Vec<u8> {
        let registers = (0..3).map(|number| (Cbor::from(number), Cbor::Bytes(vec![program; 48]))).collect();
        let content = Cbor::Map(vec![
            (Cbor::from("digest"), Cbor::from("SHA384")),
            (Cbor::from("pcrs"), Cbor::Map(registers)),
            (Cbor::from("certificate"), Cbor::Bytes(self.certificate(false))),
            (Cbor::from("cabundle"), Cbor::Array(vec![Cbor::Bytes(self.certificate(true))])),
            (Cbor::from("user_data"), Cbor::Bytes(data.to_vec())),
        ]);
        let written = |value: &Cbor| {
            let mut bytes = Vec::new();
            ciborium::into_writer(value, &mut bytes).expect("it is written");
            bytes
        };
        let protected = written(&Cbor::Map(vec![(Cbor::from(1), Cbor::from(-35))]));
        let payload = written(&content);
        let parts = |first: Vec<Cbor>| Cbor::Array(first);
        let signed =
            parts(vec![Cbor::from("Signature1"), Cbor::Bytes(protected.clone()), Cbor::Bytes(Vec::new()), Cbor::Bytes(payload.clone())]);
        let signature: Signature = self.leaf.sign(&written(&signed));
        written(&parts(vec![
            Cbor::Bytes(protected),
            Cbor::Map(Vec::new()),
            Cbor::Bytes(payload),
            Cbor::Bytes(signature.to_bytes().to_vec()),
        ]))
    }
}

/// The key that only the program of runner 10 knows.
fn program_key() -> SigningKey {
    SigningKey::from([77; 32])
}

fn program_public() -> [u8; 32] {
    program_key().verification_key().to_bytes()
}

/// A chain that is none for development, whose governance trusts a maker and a program of it that runs one model.
fn trusting(maker: &Maker, accepted: bool) -> Market {
    let mut market = Market::with(0, |genesis| genesis.is_dev = false);
    let mut declared = declaration(10);
    declared["tee"] = serde_json::json!(["nitro"]);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "register", &declared, cby(10_000)))), "");
    market.runners.push(10);
    let roots = serde_json::json!({ "environment": "nitro", "roots": [hex(&maker.certificate(true))] });
    let policy =
        serde_json::json!({ "environment": "nitro", "measurement": hex(&[5; 144]), "accepted": accepted, "name": "a model server" });
    for (method, argument) in [("set_roots", &roots), ("set_policy", &policy)] {
        assert_eq!(slug(&market.chain.send(2, ask(TEE, method, argument, 0))), "system_unauthorized", "{method} is governance's");
        assert!(market.chain.decide(0x05, method, &map(argument)), "{method}");
    }
    market
}

fn attest(market: &mut Market, number: u8, document: &[u8]) -> &'static str {
    let argument = serde_json::json!({ "environment": "nitro", "document": hex(document), "key": hex(&program_public()) });
    slug(&market.chain.send(number, ask(TEE, "attest", &argument, 0)))
}

/// governance names roots and programs; a document that leads elsewhere, is of another program, or names another's key is refused.
#[test]
fn documents_are_bound_to_runner_root_and_program() {
    let (maker, other) = (Maker::new(3), Maker::new(4));
    let bound = binding(address(10), &program_public()).0;
    let rows = [
        ("as it should be", maker.document(5, &bound), true, 10, ""),
        ("of another maker", other.document(5, &bound), true, 10, "tee_document"),
        ("of another program", maker.document(6, &bound), true, 10, "tee_policy"),
        ("of a program in debug mode", maker.document(0, &bound), true, 10, "tee_policy"),
        ("of a program that was taken out", maker.document(5, &bound), false, 10, "tee_policy"),
        ("with somebody else's key", maker.document(5, &binding(address(10), &[1; 32]).0), true, 10, "tee_document"),
        ("of somebody else", maker.document(5, &binding(address(11), &program_public()).0), true, 10, "tee_document"),
        ("with nothing in it", maker.document(5, b""), true, 10, "tee_document"),
        ("by who is no runner", maker.document(5, &bound), true, 11, "runner_not_found"),
        ("that is none", b"document".to_vec(), true, 10, "tee_document"),
    ];
    for (case, document, accepted, sender, expected) in rows {
        let mut market = trusting(&maker, accepted);
        assert_eq!(attest(&mut market, sender, &document), expected, "{case}");
    }
    let mut market = trusting(&maker, true);
    let zeros = serde_json::json!({ "environment": "nitro", "measurement": hex(&[0; 144]), "accepted": true });
    assert!(!market.chain.decide(0x05, "set_policy", &map(&zeros)), "debug mode is never accepted");
}

/// What the program says of a result.
fn said(job: &Hash, output: &[u8], model: Hash, key: &SigningKey) -> Vec<u8> {
    let digest = keccak256(&[output]);
    let message = statement::digest(job, address(10), &digest, &model);
    Value::dict([
        ("type", Value::text("nitro")),
        ("runner", Value::Bytes(address(10).0.to_vec())),
        ("output", Value::Bytes(digest.0.to_vec())),
        ("model", Value::Bytes(model.0.to_vec())),
        ("signature", Value::Bytes(key.sign(&message.0).to_bytes().to_vec())),
    ])
    .encode()
}

/// only who proved an environment is drawn where one is required; what its program signs is taken; another model than the job's costs
/// the stake; the type for development proves nothing here.
#[test]
fn results_of_a_trusted_environment() {
    let maker = Maker::new(3);
    let mut market = trusting(&maker, true);
    let mut job = simple_job();
    job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&[3; 32]) });
    job["bounds"]["max_output_tokens"] = 10.into();
    job["verification"]["tee_required"] = true.into();
    assert_eq!(market.refused(&job), "no_candidates", "saying so is not enough");
    assert_eq!(attest(&mut market, 10, &maker.document(5, &binding(address(10), &program_public()).0)), "");
    let right = program_key();
    let answer = market.said(10, b"answer");
    let dev = |_: &Hash| cowboy_testkit::market::attestation(&answer, Some(Hash([3; 32])));
    type Statement<'a> = &'a dyn Fn(&Hash) -> Vec<u8>;
    let rows: [(&str, Statement<'_>, bool, u64); 6] = [
        ("of the job's model", &|id| said(id, b"answer", Hash([3; 32]), &right), true, 0),
        ("the type for development", &dev, false, 0),
        ("of another output", &|id| said(id, b"other", Hash([3; 32]), &right), false, 0),
        ("of another job", &|_| said(&Hash([1; 32]), b"answer", Hash([3; 32]), &right), false, 0),
        ("signed by another key", &|id| said(id, b"answer", Hash([3; 32]), &result_key(10)), false, 0),
        ("of another model", &|id| said(id, b"answer", Hash([4; 32]), &right), false, 3_000),
    ];
    for (case, statement, is_accepted, lost) in rows {
        let id = market.submit(&job);
        let before = runners_of(&market.chain)[&address(10)].stake.0;
        assert_eq!(slug(&market.submit_alone(&id, &answer.clone().attested(statement(&id)))), "", "{case}");
        assert_eq!(market.job(&id).outcome.is_some(), is_accepted, "{case}");
        assert_eq!(runners_of(&market.chain)[&address(10)].stake.0, before - cby(lost), "{case}");
        market.heal(10);
    }
}

/// what a runner proved lasts a day, and goes at once with its program's acceptance.
#[test]
fn attestations_end() {
    let maker = Maker::new(3);
    let document = maker.document(5, &binding(address(10), &program_public()).0);
    let mut job = simple_job();
    job["verification"]["tee_required"] = true.into();
    let mut market = trusting(&maker, true);
    assert_eq!(attest(&mut market, 10, &document), "");
    let id = market.submit(&job);
    let out = serde_json::json!({ "environment": "nitro", "measurement": hex(&[5; 144]), "accepted": false });
    assert!(market.chain.decide(0x05, "set_policy", &map(&out)));
    let report = market.said(10, b"x").attested(said(&id, b"x", Hash::ZERO, &program_key()));
    assert_eq!(slug(&market.submit_alone(&id, &report)), "");
    assert_eq!(market.job(&id).status, JobStatus::Failed, "the program was taken out meanwhile");
    market.heal(10);
    market.chain.height = cowboy_types::Height(market.chain.height.0 + 86_400);
    market.heal(10);
    assert_eq!(market.refused(&job), "no_candidates", "a day later it is proven no more");
}

/// Decision 779: who runs a program that was taken out is drawn for no job that asks for an environment, however new its proof is, and is drawn again once the
/// program is accepted again.
#[test]
fn who_runs_a_program_that_was_taken_out_is_not_drawn() {
    let maker = Maker::new(3);
    let mut market = trusting(&maker, true);
    assert_eq!(attest(&mut market, 10, &maker.document(5, &binding(address(10), &program_public()).0)), "");
    let mut job = simple_job();
    job["verification"]["tee_required"] = true.into();
    let policy = |accepted: bool| map(&serde_json::json!({ "environment": "nitro", "measurement": hex(&[5; 144]), "accepted": accepted }));
    assert!(market.chain.decide(0x05, "set_policy", &policy(false)));
    assert_eq!(market.refused(&job), "no_candidates");
    assert!(market.chain.decide(0x05, "set_policy", &policy(true)));
    let id = market.submit(&job);
    assert_eq!(market.draw(&id), [10]);
}
