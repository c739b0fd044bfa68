//! Decisions of governance in tests of other things. How one comes about is tested with governance.

use crate::chain::{Chain, execution};
use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_system::governance::state::{count_key, proposal_key};
use cowboy_system::governance::types::{Action, Proposal, Stage};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Blob, List, Text};

/// The account that has decisions executed, as anybody may.
const EXECUTOR: u8 = 9;

/// A proposal that was accepted, and whose time has come.
fn accepted(action: Action) -> Proposal {
    Proposal {
        proposer: Address::ZERO,
        tier: 3,
        actions: List::new(vec![action]).expect("one fits"),
        deposit: Amount::ZERO,
        stage: Stage::Queued { from: Height::ZERO },
        is_fast: false,
        is_ratification: false,
        epoch: Count::ZERO,
        ballots: List::default(),
    }
}

impl Chain {
    /// Has an accepted proposal call a method of a system actor, in one block. Answers whether it took effect.
    pub fn decide(&mut self, actor: u8, method: &str, argument: &Value) -> bool {
        let method = Text::new(method).expect("a method's name");
        self.execute(Action::Call { actor, method, argument: Blob::new(argument.encode()).expect("short") })
    }

    /// Has an accepted proposal move a parameter, in one block.
    pub fn move_parameter(&mut self, name: &str, value: u64) {
        let row = Params::row(name).expect("there is such a row").id;
        assert!(self.execute(Action::SetParameter { row, value }), "{name} may be {value}");
    }

    /// Executes an accepted proposal. Answers whether it took effect.
    fn execute(&mut self, action: Action) -> bool {
        let key = proposal_key(0);
        self.state.insert(key.digest(), key.seal(&accepted(action).encode()));
        let count = count_key();
        self.state.entry(count.digest()).or_insert_with(|| count.seal(&Count(1).encode()));
        let named = Value::map([("proposal", Value::uint(0))]).encode();
        let receipt = self.send(EXECUTOR, execution(Address::system(cowboy_types::actors::GOVERNANCE), "execute", &named, 0));
        assert_eq!(receipt.abort, None, "anybody may execute it");
        cbor::decode(&receipt.return_data) == Ok(Value::Bool(true))
    }
}
