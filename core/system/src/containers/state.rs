//! Where the Container Registry keeps what it knows.

use super::NUMBER;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, Text, record};

record! {
    /// What governance thinks of an image.
    pub struct Image {
        /// Whether jobs may run it outside a trusted environment.
        pub is_allowed: bool,
        /// A name for display.
        pub name: Text<128>,
        /// When that was decided.
        pub since: Height,
    }
}

/// The digests of the images that governance decided about.
pub const fn images() -> Directory {
    Directory::of_system(Address::system(NUMBER), 32)
}

/// An image's record, by the SHA-256 of its manifest.
pub fn image_key(digest: &Hash) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"image:", &digest.0[..]].concat())
}

/// What governance thinks of an image, where it thinks anything.
pub fn image(world: &World, digest: &Hash) -> Result<Option<Image>, Miss> {
    world.read(&image_key(digest))
}
