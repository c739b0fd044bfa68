//! Documents of trusted environments against published samples: they hold at their time, under their root, unchanged, and not otherwise.

use cowboy_system::tee::documents::{manufacturers_roots, verify};
use cowboy_types::Hash;
use cowboy_types::cbor::Value;
use cowboy_types::environment::Environment;
use sha2::{Digest as _, Sha256};

/// A moment at which the sample's certificates count.
struct Sample {
    name: &'static str,
    environment: Environment,
    document: Vec<u8>,
    collateral: Vec<u8>,
    seconds: u64,
    measurement: usize,
    /// A byte that is signed.
    signed: usize,
}

fn samples() -> Vec<Sample> {
    let chip = Value::dict([
        ("ask", Value::Bytes(include_bytes!("tee/snp_ask_milan.der").to_vec())),
        ("vek", Value::Bytes(include_bytes!("tee/snp_vcek_milan.der").to_vec())),
    ]);
    vec![
        Sample {
            name: "an enclave of Intel",
            environment: Environment::Sgx,
            document: include_bytes!("tee/sgx_quote").to_vec(),
            collateral: include_bytes!("tee/sgx_quote_collateral.json").to_vec(),
            seconds: 1_750_400_000,
            measurement: 32,
            signed: 200,
        },
        Sample {
            name: "a machine of Intel",
            environment: Environment::Tdx,
            document: include_bytes!("tee/tdx_quote").to_vec(),
            collateral: include_bytes!("tee/tdx_quote_collateral.json").to_vec(),
            seconds: 1_750_400_000,
            measurement: 240,
            signed: 200,
        },
        Sample {
            name: "a machine of AMD",
            environment: Environment::Sev,
            document: include_bytes!("tee/snp_report_milan").to_vec(),
            collateral: chip.encode(),
            seconds: 1_700_000_000,
            measurement: 48,
            signed: 0x90,
        },
        Sample {
            name: "an enclave of Amazon",
            environment: Environment::Nitro,
            document: include_bytes!("tee/nitro_document").to_vec(),
            collateral: Vec::new(),
            seconds: 1_726_606_030,
            measurement: 144,
            signed: 60,
        },
    ]
}

/// real documents hold; a byte changed, another time, no root or another environment, and they do not.
#[test]
fn published_samples() {
    for sample in samples() {
        let Sample { name, environment, document, collateral, seconds, measurement, signed } = sample;
        let roots = manufacturers_roots(&environment);
        let check = |document: &[u8], roots: &[Vec<u8>], seconds| verify(&environment, roots, document, &collateral, seconds);
        let proven = check(&document, &roots, seconds).unwrap_or_else(|| panic!("{name} holds"));
        assert_eq!(proven.measurement.len(), measurement, "{name}");
        let mut changed = document.clone();
        changed[signed] ^= 1;
        assert_eq!(check(&changed, &roots, seconds), None, "{name}, changed");
        assert_eq!(check(&document[..document.len() / 2], &roots, seconds), None, "{name}, cut");
        assert_eq!(check(&document, &roots, 4_000_000_000), None, "{name}, much later");
        assert_eq!(check(&document, &roots, 1_000_000_000), None, "{name}, before its certificates");
        assert_eq!(check(&document, &[], seconds), None, "{name}, nobody trusted");
        for other in Environment::ALL.iter().filter(|other| **other != environment) {
            assert_eq!(verify(other, &roots, &document, &collateral, seconds), None, "{name} as {}", other.slug());
            let theirs = manufacturers_roots(other);
            if theirs != roots {
                assert_eq!(check(&document, &theirs, seconds), None, "{name} under the roots of {}", other.slug());
            }
        }
    }
}

/// The roots at genesis are the certificates that the manufacturers publish, by their SHA-256: those of AMD come with a crate (decision 757).
#[test]
fn roots_are_those_that_manufacturers_publish() {
    let rows: [(Environment, &[&str]); 4] = [
        (Environment::Sgx, &["0x44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"]),
        (Environment::Tdx, &["0x44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"]),
        (
            Environment::Sev,
            &[
                "0x69d063b45344d26a2e94e1f4210de49ef555308287d4c174445c95639a540bcd",
                "0x4c6598d19c18719c5dfd4a7d335f674e5bfe1d8f800cea2cf270c10d103db2f1",
                "0x1f084161a44bb6d93778a904877d4819cafa5d05ef4193b2ded9dd9c73dd3f6a",
            ],
        ),
        (Environment::Nitro, &["0x641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b"]),
    ];
    for (environment, expected) in rows {
        let found: Vec<String> =
            manufacturers_roots(&environment).iter().map(|root| Hash(Sha256::digest(root).into()).to_string()).collect();
        assert_eq!(found, expected, "{}", environment.slug());
    }
}

/// Whatever bytes come, they are refused and nothing panics.
#[test]
fn hostile_documents() {
    for sample in samples() {
        let roots = manufacturers_roots(&sample.environment);
        let step = sample.document.len() / 24;
        for place in (0..sample.document.len()).step_by(step) {
            for byte in [0x00, 0x7F, 0xFF] {
                let mut bytes = sample.document.clone();
                bytes[place] = byte;
                let _ = verify(&sample.environment, &roots, &bytes, &sample.collateral, sample.seconds);
            }
            let _ = verify(&sample.environment, &roots, &sample.document[..place], &sample.collateral, sample.seconds);
        }
        let deep = [vec![0x81; 10_000], vec![0x00]].concat();
        assert_eq!(verify(&sample.environment, &roots, &deep, &deep, sample.seconds), None, "{}", sample.name);
        let nested = "[".repeat(10_000);
        assert_eq!(
            verify(&sample.environment, &roots, &sample.document, nested.as_bytes(), sample.seconds).is_some(),
            sample.environment == Environment::Nitro
        );
    }
}
