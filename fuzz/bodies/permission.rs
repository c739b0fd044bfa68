//! What decodes as a scope, an action or conditions encodes to the same bytes, and its text says all of it.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_types::permission::{Action, Constraints, Scope};

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(scope) = Scope::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(scope.encode(), bytes);
        assert_eq!(scope.to_string().parse(), Ok(scope));
    }
    if let Ok(action) = Action::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(action.encode(), bytes);
        assert_eq!(action.to_string().parse(), Ok(action));
    }
    if let Ok(constraints) = Constraints::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(constraints.encode(), bytes);
        assert!(!constraints.are_within(&constraints));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = (text.parse::<Scope>(), text.parse::<Action>());
    }
}
