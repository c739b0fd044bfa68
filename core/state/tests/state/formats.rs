//! The records' formats: both ways, and frozen.

use cowboy_state::directory::{Node, Root};
use cowboy_state::records::{
    Account, Actor, Deployers, GenesisValidators, Mailbox, Markets, Message, Origin, ParameterChanges, Queue, SeedIndex, SeedRecord, Seen,
    Spent, Supply, Timer, TimerBook, Tried, Vesting, VestingClaim,
};

cowboy_types::format_tests! {
    Account Actor Deployers GenesisValidators Mailbox Markets Message Node Origin ParameterChanges Queue Root SeedIndex SeedRecord Seen Spent Supply Timer TimerBook
    Tried Vesting VestingClaim
}
