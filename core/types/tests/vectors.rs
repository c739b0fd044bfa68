//! The byte contract of 003 Appendix A, and signatures as on Ethereum.

use cowboy_types::{
    Address, Amount, Cells, ChainId, Cycles, Hash, Instruction, Nonce, Price, Signature, System, Transaction, keccak256,
    signing::{self, PrivateKey, SignatureError, recover},
    transaction::{CoSignature, MAX_CO_SIGNATURES},
    wire::{Blob, Fixed, List},
};

const UNSIGNED: &str = "2a00000122222222222222222222222222222222222222220000000000000001d08603d086030101000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const DIGEST: &str = "203b9aa5435ad7de1164fa534c9d72de46e734a9d99703790756380c67b8304a";
const SIGNED: &str = "2a00000122222222222222222222222222222222222222220000000000000001d08603d086030101000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a0000000000f0dc586dcb01db4f7507163068728c49d112610bfbcf3516ed32bd0fa05a45553f8e8a695b94f6d9aa7d34657002746f30ce22cadc141bceea3129610de3035b0100";

fn key(byte: u8) -> PrivateKey {
    PrivateKey::from_bytes([byte; 32]).expect("a scalar below the order")
}

fn transfer() -> Transaction {
    Transaction {
        chain_id: ChainId(42),
        nonce: Nonce(0),
        instruction: Instruction::System(System::Transfer { to: Address([0x22; 20]), amount: Amount(1) }),
        cycles_limit: Cycles(50_000),
        cells_limit: Cells(50_000),
        max_fee_per_cycle: Price(1),
        max_fee_per_cell: Price(1),
        max_priority_fee_per_cycle: Price(0),
        max_priority_fee_per_cell: Price(0),
        from: key(0x11).address(),
        metadata: Blob::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Fixed::default(),
        additional_signers: List::default(),
    }
}

///
#[test]
fn appendix_a_vector_1() {
    let transaction = transfer();
    assert_eq!(transaction.from.to_string(), "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a");
    assert_eq!(hex::encode(transaction.to_bytes()), UNSIGNED);
    assert_eq!(hex::encode(transaction.digest().0), DIGEST);
    assert_eq!(Transaction::from_bytes(&hex::decode(UNSIGNED).expect("hex")), Ok(transaction));
}

///
#[test]
fn appendix_a_vector_2() {
    let mut transaction = transfer();
    key(0x11).sign_transaction(&mut transaction);
    assert_eq!(hex::encode(transaction.to_bytes()), SIGNED);
    assert_eq!(hex::encode(transaction.digest().0), DIGEST, "the name does not depend on signatures");
    assert_eq!(signing::verify(&transaction).map(|digest| hex::encode(digest.0)), Ok(DIGEST.to_owned()));
}

/// the chain id is part of what is signed.
#[test]
fn the_chain_id_changes_the_digest() {
    let mut other = transfer();
    other.chain_id = ChainId(43);
    assert_ne!(other.digest(), transfer().digest());
}

/// every signer signs the same digest, and every signature is checked.
#[test]
fn signatures_are_checked() {
    let co_signed = |signer: u8, address: Address| {
        let mut transaction = transfer();
        let unsigned = CoSignature { address, signature: Fixed::default() };
        transaction.additional_signers = List::<_, MAX_CO_SIGNATURES>::new(vec![unsigned]).expect("one");
        let signature = key(signer).sign(&transaction.digest());
        transaction.additional_signers = List::new(vec![CoSignature { address, signature }]).expect("one");
        key(0x11).sign_transaction(&mut transaction);
        transaction
    };
    let mut by_another = transfer();
    key(0x12).sign_transaction(&mut by_another);
    let mut changed = transfer();
    key(0x11).sign_transaction(&mut changed);
    changed.nonce = Nonce(1);
    let rows: [(&str, Transaction, Result<(), SignatureError>); 5] = [
        ("co-signed", co_signed(0x33, key(0x33).address()), Ok(())),
        ("co-signed by another key", co_signed(0x34, key(0x33).address()), Err(SignatureError::CoSigner)),
        ("signed by another key", by_another, Err(SignatureError::Sender)),
        ("changed after signing", changed, Err(SignatureError::Sender)),
        ("not signed", transfer(), Err(SignatureError::Sender)),
    ];
    for (case, transaction, expected) in rows {
        assert_eq!(signing::verify(&transaction).map(|_| ()), expected, "{case}");
    }
}

/// high-S and unknown recovery ids are refused, though the curve would accept them.
#[test]
fn malleable_signatures_are_refused() {
    let digest = transfer().digest();
    let good = key(0x11).sign(&digest);
    assert_eq!(recover(&digest, &good), Some(key(0x11).address()));
    let with = |at: usize, bytes: &[u8]| -> Signature {
        let mut signature = good.0;
        signature[at..at + bytes.len()].copy_from_slice(bytes);
        Fixed(signature)
    };
    let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").expect("hex");
    let mut high_s = [0u8; 32];
    let mut borrow = 0i32;
    for i in (0..32).rev() {
        let digit = i32::from(order[i]) - i32::from(good.0[32 + i]) - borrow;
        borrow = i32::from(digit < 0);
        high_s[i] = u8::try_from(digit.rem_euclid(256)).expect("a byte");
    }
    let mut flipped = with(32, &high_s);
    flipped.0[64] ^= 1;
    let rows: [(&str, Signature); 5] = [
        ("high s", flipped),
        ("v of 27", with(64, &[27])),
        ("v of 2", with(64, &[2])),
        ("r of zero", with(0, &[0; 32])),
        ("s of zero", with(32, &[0; 32])),
    ];
    for (case, signature) in rows {
        assert_eq!(recover(&digest, &signature), None, "{case}");
    }
}

/// last 20 bytes of keccak256(creator ‖ salt ‖ code hash).
#[test]
fn an_actors_address_follows_from_creator_salt_and_code() {
    let creator = Address([0x11; 20]);
    let code_hash = keccak256(&[b"print('hello')\n"]);
    let address = Address::of_actor(&creator, &Hash([7; 32]), &code_hash);
    let mut preimage = vec![0x11; 20];
    preimage.extend([7; 32]);
    preimage.extend(code_hash.0);
    assert_eq!(address.0, keccak256(&[&preimage]).0[12..]);
    assert_eq!(address, Address::of_actor(&creator, &Hash([7; 32]), &code_hash));
    assert_ne!(address, Address::of_actor(&creator, &Hash([8; 32]), &code_hash));
}

/// the bands of low addresses.
#[test]
fn bands_of_low_addresses() {
    let number = |n: u16| {
        let mut bytes = [0; 20];
        bytes[18..].copy_from_slice(&n.to_be_bytes());
        Address(bytes)
    };
    let rows = [
        // address, reserved, payer band, rent exempt
        (number(0), true, true, true),
        (number(0x0F), true, true, true),
        (number(0x10), true, false, true),
        (number(0x1D), true, false, true),
        (number(0xFF), true, false, true),
        (number(0x100), true, false, false),
        (number(0x101), false, false, false),
        (Address([1; 20]), false, false, false),
    ];
    for (address, reserved, band, exempt) in rows {
        assert_eq!(address.is_reserved(), reserved, "{address} reserved");
        assert_eq!(address.is_system_band(), band, "{address} in the payer band");
        assert_eq!(address.is_rent_exempt(), exempt, "{address} exempt");
    }
}
