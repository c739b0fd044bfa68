//! Answers that mean the same: groups by the cosine of their embeddings, in whole numbers (002 §9).
//!
//! In this mode a result is canonical CBOR `{"e": embedding, "m": model, "r": answer}`: the embedding as 16-bit numbers,
//! big-endian, made by the model that governance names. The chain compares embeddings; that they belong to their answers is what
//! the runners' stakes stand for.

use cowboy_types::Hash;
use cowboy_types::cbor::{self, Value};

/// The most numbers of an embedding.
pub const MAX_DIMENSIONS: usize = 4_096;

/// An answer with its embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The answer.
    pub answer: Vec<u8>,
    /// The model of the embedding.
    pub model: Hash,
    /// The embedding.
    pub embedding: Vec<i16>,
}

impl Embedded {
    /// Reads a result. Nothing where it has another form, or its embedding has no length.
    pub fn read(output: &[u8]) -> Option<Self> {
        let value = cbor::decode(output).ok()?;
        let bytes = value.get("e")?.as_bytes()?;
        let model = Hash(value.get("m")?.as_bytes()?.try_into().ok()?);
        let answer = match value.get("r")? {
            Value::Bytes(bytes) => bytes.clone(),
            Value::Text(text) => text.clone().into_bytes(),
            _ => return None,
        };
        if bytes.is_empty() || bytes.len() % 2 != 0 || bytes.len() / 2 > MAX_DIMENSIONS || answer.is_empty() {
            return None;
        }
        let embedding: Vec<i16> = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
        embedding.iter().any(|number| *number != 0).then_some(Self { answer, model, embedding })
    }

    /// The result of an answer and its embedding.
    pub fn write(&self) -> Vec<u8> {
        let embedding = self.embedding.iter().flat_map(|number| number.to_be_bytes()).collect();
        let answer = match std::str::from_utf8(&self.answer) {
            Ok(text) => Value::text(text),
            Err(_) => Value::Bytes(self.answer.clone()),
        };
        Value::map([("e", Value::Bytes(embedding)), ("m", Value::Bytes(self.model.0.to_vec())), ("r", answer)]).encode()
    }
}

/// Whether the cosine of two embeddings is at least `share`, in hundredths of a percent.
pub fn is_similar(one: &[i16], other: &[i16], share: u64) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let dot = |a: &[i16], b: &[i16]| a.iter().zip(b).map(|(a, b)| i128::from(*a) * i128::from(*b)).sum::<i128>();
    let product = dot(one, other);
    if product <= 0 {
        return share == 0;
    }
    // cos ≥ t  ⟺  (a·b)² ≥ t²·|a|²·|b|², all of it below 2¹¹⁴.
    let share = i128::from(share.min(10_000));
    product * product * 100_000_000 >= share * share * dot(one, one) * dot(other, other)
}

/// The largest group of similar embeddings: those near to one of them. The first of them where several are as large.
/// Answers the places, and of which the group is.
pub fn largest_group(embeddings: &[&[i16]], share: u64) -> (Vec<usize>, Option<usize>) {
    let mut best: (Vec<usize>, Option<usize>) = (Vec::new(), None);
    for (place, centre) in embeddings.iter().enumerate() {
        let group: Vec<usize> = (0..embeddings.len()).filter(|other| is_similar(centre, embeddings[*other], share)).collect();
        if group.len() > best.0.len() {
            best = (group, Some(place));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-216: cosines at and around a threshold; the extreme numbers do not overflow.
    #[test]
    fn cosines() {
        let rows: [(&[i16], &[i16], u64, bool); 8] = [
            (&[1, 0], &[1, 0], 10_000, true),
            (&[1, 0], &[0, 1], 1, false),
            (&[1, 1], &[1, 0], 7_071, true),
            (&[1, 1], &[1, 0], 7_072, false),
            (&[100, 200], &[1, 2], 10_000, true),
            (&[1, 0], &[-1, 0], 1, false),
            (&[1], &[1, 0], 1, false),
            (&[i16::MIN; 4_096], &[i16::MIN; 4_096], 10_000, true),
        ];
        for (one, other, share, expected) in rows {
            assert_eq!(
                is_similar(one, other, share),
                expected,
                "{:?} {:?} {share}",
                &one[..one.len().min(4)],
                &other[..other.len().min(4)]
            );
        }
    }

    #[test]
    fn results_both_ways() {
        let embedded = Embedded { answer: b"yes".to_vec(), model: Hash([7; 32]), embedding: vec![-3, 4, 0] };
        assert_eq!(Embedded::read(&embedded.write()), Some(embedded.clone()));
        let zero = Embedded { embedding: vec![0, 0], ..embedded.clone() };
        assert_eq!(Embedded::read(&zero.write()), None, "a vector without length has no direction");
        let empty = Embedded { answer: vec![], ..embedded };
        assert_eq!(Embedded::read(&empty.write()), None);
    }
}
