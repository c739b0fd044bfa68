//! Reports faults of validators to the chain, in transactions that this validator signs and pays
//! ([decision 424](../../../docs/decisions/0424-nodes-report-faults.md)).

use crate::{chain::Chain, committee::Member, faults::Suspicion, mempool::Source, reader::read_records, seeds::Scheme};
use commonware_codec::Encode as _;
use commonware_consensus::{
    Epochable as _, Viewable as _,
    simplex::types::{Activity, Attributable as _},
};
use commonware_cryptography::blake3::Digest;
use commonware_parallel::Sequential;
use commonware_runtime::Spawner;
use cowboy_chain::{SignedTransaction, lanes::Lane};
use cowboy_state::{Miss, World};
use cowboy_system::{
    requests,
    staking::{
        state,
        types::{Attestations, Fault, StakeTotal, Status, ValidatorSet},
    },
};
use cowboy_types::{
    Address, Amount, Cells, Cycles, Hash, Header, Instruction, Nonce, Price, Transaction,
    instruction::Actor,
    transaction::Signature,
    wire::{Blob, List, Text},
};
use rand_core::CryptoRng;
use std::{collections::BTreeSet, sync::Arc};

/// The most faults that wait to be reported, and that were and are not reported again.
const MAX_PENDING: usize = 64;
const MAX_REPORTED: usize = 1_024;

/// How often a report is sent that no block takes.
const ATTEMPTS: u8 = 3;

/// Blocks that the next validator gives the one before it to report two headers: one report is enough.
const TURN: u64 = 4;

/// What a report may use, beside a cell for each byte.
const CYCLES: Cycles = Cycles(200_000);
const CELLS: u64 = 2_000;

/// A fault in one round: accused, kind, epoch and view.
type FaultId = (Address, u8, u64, u64);

/// A fault, as the chain is shown it.
#[derive(Debug)]
struct Report {
    accused: Address,
    fault: Fault,
    epoch: u64,
    view: u64,
    /// Two headers of the round; none of a fault that is attested.
    headers: Option<[Box<Header>; 2]>,
    /// The number of the final block after which it is sent.
    after: u64,
    sent: Option<Hash>,
    attempts: u8,
}

impl Report {
    fn id(&self) -> FaultId {
        (self.accused, self.fault.number(), self.epoch, self.view)
    }

    /// The call of 0x09. The witness is named where the key that signs is not that of its account.
    fn call(&self, witness: Option<Address>) -> Instruction {
        let request = match &self.headers {
            Some(headers) => {
                let [first, second] = headers.each_ref().map(|header| header.encode().to_vec());
                requests::report_equivocation(self.accused, first, second)
            }
            None => requests::attest_fault(self.accused, witness, self.fault, (self.epoch, self.view)),
        };
        Instruction::Actor(Actor::Execute {
            target: Address::system(request.actor),
            handler: Text::new(request.method).expect("a short name"),
            payload: Blob::new(request.argument.encode()).expect("two headers fit into a message"),
            value: Amount::ZERO,
        })
    }

    /// Whether the chain would still take it from this member. One that sits in jail is not accused again before it is out, and one that is no member of
    /// the epoch's set any more was punished.
    fn is_due(&self, world: &World, own: Address) -> Result<bool, Miss> {
        let key = state::fault_key(self.accused, self.fault.number(), self.epoch, self.view);
        let (validator, known) = (state::validator(world, self.accused), state::attestations(world, &key));
        let Some(validator) = validator? else { return Ok(false) };
        let Attestations { witnesses, is_done } = known?;
        if is_done || matches!(validator.status, Status::Jailed { .. }) {
            return Ok(false);
        }
        let set = state::set(world, self.epoch)?;
        if self.headers.is_some() {
            // The chain keeps the sets of a few epochs, and takes two headers for longer.
            return Ok(set.is_none_or(|set| is_in(&set, self.accused)));
        }
        // Of the epoch before, the chain takes what is young.
        let is_young = |total: &StakeTotal| total.epoch.0.checked_sub(self.epoch).is_some_and(|epochs| epochs <= 1);
        if !state::total(world)?.as_ref().is_some_and(is_young) {
            return Ok(false);
        }
        Ok(set.is_some_and(|set| is_in(&set, own) && is_in(&set, self.accused)) && !witnesses.contains(&own))
    }
}

fn is_in(set: &ValidatorSet, address: Address) -> bool {
    set.members.iter().any(|member| member.address == address)
}

/// Starts reporting. A dev chain may be reverted, after which its validators sign rounds again: there nothing is reported.
pub(crate) fn start<E: Spawner + CryptoRng>(context: E, chain: Arc<Chain>) {
    if chain.config.is_dev || chain.keys.is_none() {
        return;
    }
    let reporter = Witness { chain, pending: Vec::new(), reported: BTreeSet::new() };
    context.spawn(move |context| reporter.run(context));
}

struct Witness {
    chain: Arc<Chain>,
    pending: Vec<Report>,
    /// What needs no further report.
    reported: BTreeSet<FaultId>,
}

impl Witness {
    async fn run(mut self, mut random: impl CryptoRng) {
        let mut head = self.chain.head.subscribe();
        while head.changed().await.is_ok() {
            let number = head.borrow_and_update().number;
            for suspicion in self.chain.faults.take() {
                let report = self.report(suspicion, number, &mut random);
                self.note(report);
            }
            for report in std::mem::take(&mut self.pending) {
                let id = report.id();
                match self.proceed(report, number).await {
                    Some(report) => self.pending.push(report),
                    None => self.close(id),
                }
            }
        }
    }

    fn note(&mut self, report: Option<Report>) {
        let Some(report) = report else { return };
        let is_known = self.reported.contains(&report.id()) || self.pending.iter().any(|known| known.id() == report.id());
        if !is_known && self.pending.len() < MAX_PENDING {
            tracing::warn!(validator = %report.accused, fault = report.fault.name(), epoch = report.epoch, view = report.view, "a validator committed a fault, which this node reports");
            self.pending.push(report);
        }
    }

    fn close(&mut self, id: FaultId) {
        self.reported.insert(id);
        while self.reported.len() > MAX_REPORTED {
            self.reported.pop_first();
        }
    }

    /// This node in the newest epoch, and its place there.
    fn own(&self) -> Option<(usize, Member)> {
        let keys = self.chain.keys.as_ref()?;
        let own = commonware_cryptography::Signer::public_key(&keys.network);
        let term = self.chain.term();
        let (place, member) = term.committee.members().iter().enumerate().find(|(_, member)| member.network == own)?;
        Some((place, member.clone()))
    }

    /// The report of what was seen. `None` where it proves nothing, or where this node has no part in the epoch.
    fn report(&self, suspicion: Suspicion, number: u64, random: &mut impl CryptoRng) -> Option<Report> {
        let (place, own) = self.own()?;
        let (accused, fault, epoch, view, headers) = match suspicion {
            Suspicion::Headers { validator, first, second } => {
                let (epoch, view) = (first.context.epoch.0, first.context.view.0);
                (validator, Fault::Equivocation, epoch, view, Some([first, second]))
            }
            Suspicion::Seen { validator, fault, epoch, view } => (validator, fault, epoch, view, None),
            Suspicion::Votes(votes) => {
                let (accused, epoch, view) = self.double_vote(&votes, random)?;
                (accused, Fault::DoubleVote, epoch, view, None)
            }
        };
        if accused == own.paid {
            return None;
        }
        // The turns begin with another validator in each view, so that one that is silent delays few reports.
        let members = u64::try_from(self.chain.validators()).ok()?.max(1);
        let rank = u64::try_from(place).ok()?.wrapping_add(view) % members;
        let after = if headers.is_some() { number.saturating_add(rank.saturating_mul(TURN)) } else { number };
        Some(Report { accused, fault, epoch, view, headers, after, sent: None, attempts: 0 })
    }

    /// Who cast two votes that contradict each other, and in which round, if both signatures hold.
    fn double_vote(&self, votes: &Activity<Scheme, Digest>, random: &mut impl CryptoRng) -> Option<(Address, u64, u64)> {
        let (epoch, view, signer) = match votes {
            Activity::ConflictingNotarize(votes) => (votes.epoch(), votes.view(), votes.signer()),
            Activity::ConflictingFinalize(votes) => (votes.epoch(), votes.view(), votes.signer()),
            Activity::NullifyFinalize(votes) => (votes.epoch(), votes.view(), votes.signer()),
            _ => return None,
        };
        let committee = &self.chain.committees.term(epoch.get())?.committee;
        let holds = votes.verify(random, &committee.verifier(&self.chain.namespace), &Sequential);
        let member = committee.members().get(usize::from(signer)).filter(|_| holds)?;
        Some((member.paid, epoch.get(), view.get()))
    }

    /// Sends a report if it is time to. `None` where nothing more needs to be done.
    async fn proceed(&self, mut report: Report, number: u64) -> Option<Report> {
        if let Some(sent) = report.sent {
            if self.chain.mempool.get(&sent).is_some() {
                return Some(report);
            }
            let view = self.chain.ledger.view();
            if view.is_ok_and(|view| matches!(view.place_of(&sent), Ok(Some(_)))) {
                return None;
            }
            report.sent = None;
        }
        if number < report.after {
            return Some(report);
        }
        let (_, own) = self.own()?;
        let state = self.chain.state()?;
        if report.attempts >= ATTEMPTS || !read_records(&**state, |world| report.is_due(world, own.paid)).await {
            return None;
        }
        report.attempts = report.attempts.saturating_add(1);
        report.sent = self.send(&report, own.paid).await;
        Some(report)
    }

    /// Gives the report to the mempool, from which it goes to the other validators.
    async fn send(&self, report: &Report, own: Address) -> Option<Hash> {
        let keys = self.chain.keys.as_ref()?;
        let sender = keys.signer.address();
        let instruction = report.call((sender != own).then_some(own));
        let nonce = self.chain.next_nonce(&sender).await?;
        let lane = read_records(&**self.chain.state()?, |world| Lane::of(world, sender, &instruction)).await;
        let mut transaction = self.transaction(lane, sender, nonce, instruction);
        keys.signer.sign_transaction(&mut transaction);
        let signed = SignedTransaction::unchecked(transaction);
        let admitted = self.chain.mempool.admit_all(Source::Client, &**self.chain.state()?, vec![signed]).await.pop()?;
        self.chain.pace.poke();
        admitted.inspect_err(|error| tracing::warn!(account = %sender, %error, "the fault of a validator cannot be reported")).ok()
    }

    fn transaction(&self, lane: Lane, from: Address, nonce: Nonce, instruction: Instruction) -> Transaction {
        let bytes = u64::try_from(instruction.encode().len()).unwrap_or(u64::MAX);
        let fees = self.chain.mempool.base_fees(lane);
        // Base fees rise by an eighth a block: enough for some full blocks.
        let bound = |fee: Price| Price(fee.0.saturating_mul(2).saturating_add(1));
        Transaction {
            chain_id: self.chain.config.chain_id,
            nonce,
            instruction,
            cycles_limit: CYCLES,
            cells_limit: Cells(CELLS.saturating_add(bytes)),
            max_fee_per_cycle: bound(fees.cycle),
            max_fee_per_cell: bound(fees.cell),
            max_priority_fee_per_cycle: Price(1),
            max_priority_fee_per_cell: Price(1),
            from,
            metadata: Blob::default(),
            origin_tx_hash: None,
            origin_remaining_cycles: None,
            origin_remaining_cells: None,
            signature: Signature::default(),
            additional_signers: List::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_system::staking::types::{Member as Seat, NO_ENDPOINT, Validator};
    use cowboy_types::{
        units::{Count, Height},
        wire::Fixed,
    };

    const OWN: Address = Address([1; 20]);
    const ACCUSED: Address = Address([2; 20]);

    /// Epoch 7 runs, with one epoch before it; the accused gave notice.
    fn overlay(before: &[Address], running: &[Address]) -> World {
        let (signing_key, network_key, vrf_key, endpoint) = (Fixed([1; 33]), Fixed([1; 32]), Fixed([1; 96]), NO_ENDPOINT);
        let seat = |address: &Address| Seat { address: *address, signing_key, network_key, vrf_key, endpoint, stake: Amount(1) };
        let set = |epoch: u64, members: &[Address]| ValidatorSet {
            epoch: Count(epoch),
            members: List::new(members.iter().map(seat).collect()).expect("few"),
        };
        let status = Status::Leaving { until: Height(9) };
        let validator = Validator { signing_key, network_key, vrf_key, endpoint, stake: Amount(1), status, jailings: Count(1) };
        let mut world = World::default();
        state::set_validator(&mut world, ACCUSED, &validator);
        world.write(state::total_key(), &StakeTotal { epoch: Count(7), members: Count(2), stake: Amount(2) });
        world.write(state::set_key(6), &set(6, before));
        world.write(state::set_key(7), &set(7, running));
        world
    }

    fn header() -> Box<Header> {
        let (config, _) = crate::genesis::dev(crate::genesis::DevGenesis::default()).expect("a genesis");
        Box::new(config.block.header().clone())
    }

    /// Who leaves is punished once: where the chain took it out of an epoch's set, this node reports no more of that epoch.
    #[test]
    fn who_was_punished_is_not_reported_again() {
        let (both, rest) = ([OWN, ACCUSED], [OWN]);
        let rows = [("no fault was proven", both, &both[..], true), ("one was", both, &rest[..], false)];
        for (case, running, before, expected) in rows {
            for is_of_headers in [false, true] {
                let mut world = overlay(before, &running);
                let headers = is_of_headers.then(|| [header(), header()]);
                let fault = if is_of_headers { Fault::Equivocation } else { Fault::DoubleVote };
                let report = Report { accused: ACCUSED, fault, epoch: 6, view: 3, headers, after: 0, sent: None, attempts: 0 };
                world.put(state::fault_key(ACCUSED, fault.number(), 6, 3), None);
                assert_eq!(report.is_due(&world, OWN).expect("every record is there"), expected, "{case}, headers: {is_of_headers}");
            }
        }
    }
}
