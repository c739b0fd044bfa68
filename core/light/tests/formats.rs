//! The format of what ties a proof to a block: both ways, and frozen.

use cowboy_light::Anchor;

cowboy_types::format_tests! {
    Anchor
}
