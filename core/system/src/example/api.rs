//! The methods and events of the guest book.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::events;
use cowboy_types::Text;
use cowboy_types::units::{Amount, Count};

methods! {
    /// What the guest book is asked.
    pub(super) METHODS by NUMBER;

    /// Signs, and returns how often the name stands there.
    "sign" Sign [payable, kept] {
        /// The name.
        name: Text<8>,
        /// How many times.
        times: u64 = 1,
    } -> Count;

    /// Returns how often a name stands there.
    "signatures" Signatures [view] {
        /// The name.
        name: Text<8>,
    } -> Count;

    /// Removes a name.
    "erase" Erase [governed] {
        /// The name.
        name: Text<8>,
    } -> ();
}

events! {
    /// What the guest book emits.
    pub(super) EVENTS by NUMBER;

    /// Somebody signed.
    "Signed" Signed {
        /// The name.
        name: Text<8>,
        /// What came along.
        paid: Amount,
    }
}
