//! Who opened a connection, and what it may: what the chain says, read again and again.

use crate::app::App;
use crate::received::{Committed, Receiving};
use crate::signed::SignedRoots;
use commonware_codec::DecodeExt as _;
use cowboy_service::ChainError;
use cowboy_system::volumes::types::{Capability, Keys, Status, Volume};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, signing};
use cowboy_volume::wire::Hello;
use cowboy_volumes::leaf::FILE_BYTES;
use cowboy_volumes::tree::{PAGE_BYTES, PAGE_LEAVES};
use cowboy_volumes::{Code, Token, Top};
use std::fmt;

/// The version byte before a token.
const TOKEN_VERSION: u8 = 1;

/// Bytes of a page for each of its files, at most.
const LEAF_BYTES: u64 = (PAGE_BYTES / PAGE_LEAVES) as u64;

/// Bytes of pages that a holder may send for the few files of a small partition, again and again where others commit first.
const PAGES_BESIDE: u64 = 8 * PAGE_BYTES as u64;

/// What a request needs a right for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// A connection.
    Open,
    /// The content of files.
    Read,
    /// The tree of a partition.
    See,
    /// A change of a partition.
    Write,
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open this volume",
            Self::Read => "read files of this volume",
            Self::See => "read the list of this partition",
            Self::Write => "write to this partition",
        })
    }
}

/// Why a connection is not opened, or a request is not served. Its text fits into an answer: [`REASON_BYTES`](cowboy_volume::wire::REASON_BYTES).
#[derive(Debug, thiserror::Error)]
pub(crate) enum Denied {
    /// The token is none, or is not signed by its holder for this session.
    #[error("the token is not signed by its account for this connection and chain: connect again with the key of that account")]
    Token,
    /// The relay does not keep the volume.
    #[error("relay {0} has no slot of this volume, or the volume was deleted: read the volume's slots again (cowboy volume info)")]
    Elsewhere(Address),
    /// The holder may not do that.
    #[error(
        "{holder} may not {needed}: it is not the owner, and no capability that it named allows this now. Ask the owner for one \
         (cowboy volume grant), and give it with --capability"
    )]
    NoRight {
        /// Who is refused.
        holder: Address,
        /// What it may not do.
        needed: Needed,
    },
    /// The capability has fewer bytes left.
    #[error(
        "the capability of {holder} has {rest} bytes left, and does not cover as many bytes as are sent. Ask the owner for one with more \
         (cowboy volume grant --max-bytes)"
    )]
    TooMuch {
        /// Whose capability it is.
        holder: Address,
        /// What is left, in bytes of files.
        rest: u64,
    },
    /// The chain cannot be read.
    #[error("the relay cannot read the chain now: try again")]
    Chain(#[from] ChainError),
}

/// What a holder may do in a volume.
#[derive(Clone, Debug)]
pub(crate) enum Grade {
    /// Everything.
    Owner,
    /// What a capability says.
    Holder(Capability),
    /// Read, to rebuild what it should have: another relay of the volume.
    Relay,
    /// Read: anybody, where the volume is public.
    Reader,
}

/// What a connection may, as the chain last said.
pub(crate) struct Right {
    /// Whose connection it is.
    pub(crate) holder: Address,
    pub(crate) volume: Hash,
    /// Who owns it, and so pays for it.
    pub(crate) owner: Address,
    pub(crate) code: Code,
    pub(crate) grade: Grade,
    /// The capability; zeros where there is none.
    pub(crate) capability: Fixed<16>,
    /// The tops of its partition that the chain has, the standing one first.
    pub(crate) tops: Vec<Top>,
    /// The slot that this relay serves.
    pub(crate) slot: Option<u8>,
    /// Bytes of the quota that a slot has.
    pub(crate) slot_quota: u64,
}

impl Right {
    /// Whether it may read the content of files.
    pub(crate) fn reads(&self) -> bool {
        match &self.grade {
            Grade::Owner | Grade::Relay | Grade::Reader => true,
            Grade::Holder(capability) => capability.mode.reads(),
        }
    }

    /// Whether it may see the tree of a partition: writers have to.
    pub(crate) fn sees(&self, partition: &Hash) -> bool {
        match &self.grade {
            Grade::Owner | Grade::Relay | Grade::Reader => true,
            Grade::Holder(capability) => capability.partition == *partition,
        }
    }

    /// Whether it may see the tree of a root, as one of a partition. The chain shows everybody the roots of all partitions: whoever may see one of them, and
    /// names it with the root of another one, sees nothing (decision 777).
    pub(crate) fn sees_root(&self, signed: &SignedRoots, partition: &Hash, root: &Hash) -> bool {
        let is_its =
            || self.tops.iter().any(|top| top.root() == *root) || *root == Top::EMPTY.root() || signed.has(&self.volume, partition, root);
        self.sees(partition) && (!self.is_holder() || is_its())
    }

    /// Whether it may write to some partition.
    pub(crate) fn writes_somewhere(&self) -> bool {
        match &self.grade {
            Grade::Owner => true,
            Grade::Relay | Grade::Reader => false,
            Grade::Holder(capability) => capability.mode.writes(),
        }
    }

    /// Whether it may write to a partition.
    pub(crate) fn writes(&self, partition: &Hash) -> bool {
        self.writes_somewhere() && self.sees(partition)
    }

    /// What the holder of a capability has committed, as far as the chain said.
    fn committed(&self, signed: &SignedRoots, capability: &Capability) -> Committed {
        let standing = self.tops.first().map(Top::root);
        Committed { bytes: capability.used_bytes, root: standing.filter(|root| signed.is_of(&self.capability, root)) }
    }

    /// Bytes of a slot for which a capability stands beside what it has added.
    fn covered(&self, capability: &Capability) -> u64 {
        capability.max_bytes.saturating_sub(capability.used_bytes).div_ceil(u64::from(self.code.data).max(1))
    }

    /// Counts bytes of a shard that are about to come, by a capability; of an owner, the volume's room is the bound, and nothing counts.
    pub(crate) fn receive<'a>(&self, app: &'a App, length: u64) -> Result<Option<Receiving<'a>>, Denied> {
        let Grade::Holder(capability) = &self.grade else { return Ok(None) };
        let (of, committed) = ((self.volume, self.capability), self.committed(&app.signed, capability));
        let received = app.received.shard(of, committed, self.covered(capability), length);
        let rest = capability.max_bytes.saturating_sub(capability.used_bytes);
        received.map(Some).ok_or(Denied::TooMuch { holder: self.holder, rest })
    }

    /// Counts bytes of a page that was not here; false where as many came by the capability as it may send before it commits.
    pub(crate) fn receive_page(&self, app: &App, length: u64) -> bool {
        let Grade::Holder(capability) = &self.grade else { return true };
        let committed = self.committed(&app.signed, capability);
        app.received.page((self.volume, self.capability), committed, self.pages(capability), length)
    }

    /// Bytes of pages that come by a capability until its next commit: two times those of all files that the partition has and may get by it, because another
    /// commit may come first, and a few pages beside.
    fn pages(&self, capability: &Capability) -> u64 {
        let standing = self.tops.first().map_or(0, |top| u64::from(top.leaves));
        let files = standing.saturating_add(self.covered(capability) / FILE_BYTES);
        files.saturating_mul(2 * LEAF_BYTES).saturating_add(PAGES_BESIDE)
    }

    /// Whether it is another account's than the owner's, by a capability.
    pub(crate) fn is_holder(&self) -> bool {
        matches!(self.grade, Grade::Holder(_))
    }
}

/// A connection: the token that opened it, and whether its holder could write then.
pub(crate) struct Session {
    token: Token,
    is_of_a_writer: bool,
}

impl Session {
    /// Opens a connection whose TLS session exports these bytes.
    pub(crate) async fn open(app: &App, hello: &Hello, exported: &[u8; 32]) -> Result<Self, Denied> {
        let (version, rest) = hello.token.0.split_first().ok_or(Denied::Token)?;
        let token = Token::decode(bytes::Bytes::copy_from_slice(rest)).map_err(|_| Denied::Token)?;
        let is_for_us = *version == TOKEN_VERSION && token.genesis == app.chain.genesis;
        // What costs most is last.
        if !is_for_us || signing::recover(&token.digest(exported, app.address), &hello.signature) != Some(token.holder) {
            return Err(Denied::Token);
        }
        let is_of_a_writer = right(app, &token, false).await?.writes_somewhere();
        Ok(Self { token, is_of_a_writer })
    }

    /// Whether whoever opened it could write to the volume.
    pub(crate) fn is_of_a_writer(&self) -> bool {
        self.is_of_a_writer
    }

    /// What the connection may now.
    pub(crate) async fn right(&self, app: &App) -> Result<Right, Denied> {
        right(app, &self.token, true).await
    }
}

/// What the chain gives the holder of a token.
async fn right(app: &App, token: &Token, is_open: bool) -> Result<Right, Denied> {
    let said = app.looks.at(&app.chain, is_open, token.volume, token.capability).await?;
    app.note_height(said.height);
    let volume = said.volume.as_ref().filter(|volume: &&Volume| volume.status != Status::Deleted).ok_or(Denied::Elsewhere(app.address))?;
    let own = volume.slots.iter().position(|slot| slot.relay == Some(app.address)).ok_or(Denied::Elsewhere(app.address))?;
    let slot = volume.slots.get(own).filter(|slot| slot.place.is_some()).and_then(|_| u8::try_from(own).ok());
    let holds = |capability: &&Capability| {
        let in_time = capability.from.0 <= said.height && said.height <= capability.until.0;
        capability.volume == token.volume && capability.holder == token.holder && in_time
    };
    let grade = if volume.owner == token.holder {
        Grade::Owner
    } else if let Some(capability) = said.capability.as_ref().filter(holds) {
        Grade::Holder(capability.clone())
    } else if volume.slots.iter().any(|slot| slot.relay == Some(token.holder)) {
        Grade::Relay
    } else if volume.keys == Keys::Public {
        Grade::Reader
    } else {
        return Err(Denied::NoRight { holder: token.holder, needed: Needed::Open });
    };
    Ok(Right {
        holder: token.holder,
        volume: token.volume,
        owner: volume.owner,
        code: volume.code,
        grade,
        capability: token.capability,
        tops: said.tops.clone(),
        slot,
        slot_quota: volume.slot_quota(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed::Signed;
    use cowboy_types::units::Height;
    use cowboy_volume::wire::REASON_BYTES;
    use cowboy_volumes::{Mode, Node};

    /// Decision 777: a capability opens the trees of its partition, also of a root of which the chain did not tell yet, and of no other one, whichever
    /// partition is named with the root.
    #[test]
    fn a_root_is_of_its_partition() {
        let [volume, own, other, signed_root, of_other] = [1, 2, 3, 5, 6].map(|number| Hash([number; 32]));
        let top = Top { depth: 0, leaves: 1_000, node: Node { hash: Hash([4; 32]), sum: 1_024_000 } };
        let stands = top.root();
        let signed = SignedRoots::default();
        for (partition, root) in [(own, signed_root), (other, of_other)] {
            signed.note(Signed { volume, partition, root, capability: Fixed([9; 16]) });
        }
        let capability = |mode| Capability {
            volume,
            partition: own,
            holder: Address([7; 20]),
            mode,
            max_bytes: 4_096_000,
            used_bytes: 2_048_000,
            from: Height(1),
            until: Height(2),
            job: Hash::ZERO,
        };
        let right = |grade| Right {
            holder: Address([7; 20]),
            volume,
            owner: Address([8; 20]),
            code: Code { data: 2, parity: 1 },
            grade,
            capability: Fixed([9; 16]),
            tops: vec![top],
            slot: Some(0),
            slot_quota: 1 << 20,
        };
        for mode in [Mode::Read, Mode::Write, Mode::ReadWrite] {
            let right = right(Grade::Holder(capability(mode)));
            let sees = |partition: &Hash, root: &Hash| right.sees_root(&signed, partition, root);
            assert!(sees(&own, &stands) && sees(&own, &signed_root) && sees(&own, &Top::EMPTY.root()), "{mode:?}");
            assert!(!sees(&own, &of_other) && !sees(&other, &of_other) && !sees(&other, &stands), "{mode:?}");
            // The thousand files that are there, and another thousand.
            assert_eq!(right.pages(&capability(mode)), 2 * 2_000 * LEAF_BYTES + PAGES_BESIDE);
            let root = |signed: &SignedRoots| right.committed(signed, &capability(mode)).root;
            assert_eq!(root(&signed), None, "somebody else made the standing root");
            let own_commit = SignedRoots::default();
            own_commit.note(Signed { volume, partition: own, root: stands, capability: Fixed([9; 16]) });
            assert_eq!(root(&own_commit), Some(stands));
        }
        for grade in [Grade::Owner, Grade::Relay, Grade::Reader] {
            let right = right(grade);
            assert!(right.sees_root(&signed, &own, &of_other) && right.sees_root(&signed, &other, &stands));
        }
    }

    /// A refusal says who may not do what and what to do about it, and no answer cuts it.
    #[test]
    fn refusals_say_who_what_and_how() {
        let holder = Address([0xab; 20]);
        for needed in [Needed::Open, Needed::Read, Needed::See, Needed::Write] {
            let said = Denied::NoRight { holder, needed }.to_string();
            assert!(said.len() <= REASON_BYTES && said.starts_with(&format!("{holder} may not {needed}: ")), "{said}");
            assert!(said.contains("cowboy volume grant"), "{said}");
        }
        let others = [Denied::Token, Denied::Elsewhere(holder), Denied::TooMuch { holder, rest: u64::MAX }];
        for said in others.map(|denied| denied.to_string()) {
            assert!(said.len() <= REASON_BYTES, "{} bytes: {said}", said.len());
        }
    }
}
