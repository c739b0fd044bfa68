//! The bytes of the messages of a dealing, and the encryption of shares.

use super::LIMIT;
use bytes::Bytes;
use commonware_codec::Decode as _;
use commonware_cryptography::bls12381::dkg::feldman_desmedt::DealerPubMsg;
use commonware_cryptography::bls12381::primitives::variant::MinSig;
use cowboy_secrets::dealing::{Deal, SealedShare};
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, List};
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem as _, OpModeR, OpModeS, Serializable as _};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

type Keys = X25519HkdfSha256;

/// A dealer's message.
pub(super) fn deal(commitment: Bytes, shares: Vec<SealedShare>) -> Deal {
    let commitment = Blob::new(commitment).expect("a commitment of sixteen coefficients is shorter");
    Deal { commitment, shares: List::new(shares).expect("one for each player") }
}

/// The commitment of a dealing; none where it is not one.
pub(super) fn commitment(deal: &Deal) -> Option<DealerPubMsg<MinSig>> {
    DealerPubMsg::decode_cfg(deal.commitment.bytes().clone(), &LIMIT).ok()
}

/// The X25519 keys of a dealing with this seed: the private one, and the bytes of the public one.
pub(super) fn round_keys(seed: &[u8; 32]) -> (<Keys as hpke::Kem>::PrivateKey, Fixed<32>) {
    let (private, public) = Keys::derive_keypair(&[b"cowboy-secrets-round-key:", &seed[..]].concat());
    (private, Fixed(public.to_bytes().into()))
}

/// Encrypts a share to a player's key for this dealing. A key that is none gets a share that nobody can open.
pub(super) fn seal(rng: &mut impl CryptoRng, to: &Fixed<32>, info: &[u8], share: &[u8]) -> SealedShare {
    let unusable = SealedShare { key: Fixed::default(), ciphertext: Fixed([0; 48]) };
    let Ok(to) = <Keys as hpke::Kem>::PublicKey::from_bytes(&to.0) else { return unusable };
    let sealed = hpke::single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, Keys>(&OpModeS::Base, &to, info, share, &[], rng);
    let Ok((key, ciphertext)) = sealed else { return unusable };
    let ciphertext = ciphertext.try_into().expect("a share has 32 bytes, and a tag 16");
    SealedShare { key: Fixed(key.to_bytes().into()), ciphertext: Fixed(ciphertext) }
}

/// Opens a share that was encrypted to the key of this seed; none where it was not.
pub(super) fn open(seed: &[u8; 32], info: &[u8], sealed: &SealedShare) -> Option<Zeroizing<Vec<u8>>> {
    let (private, _) = round_keys(seed);
    let key = <Keys as hpke::Kem>::EncappedKey::from_bytes(&sealed.key.0).ok()?;
    let opened =
        hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, Keys>(&OpModeR::Base, &private, &key, info, &sealed.ciphertext.0, &[]);
    Some(Zeroizing::new(opened.ok()?))
}
