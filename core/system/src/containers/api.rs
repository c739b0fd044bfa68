//! The methods and events of 0x11.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{events, form};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Hash, List, Text};

form! {
    /// An image, as governance decided about it.
    pub(crate) struct Decided {
        /// Whether jobs may run it.
        allowed: bool,
        /// Its name, for people.
        name: Text<128>,
        /// The height of the decision.
        since: Height,
    }
}

form! {
    /// An image, as governance decided about it, with its digest.
    pub(crate) struct Listed {
        /// Whether jobs may run it.
        allowed: bool,
        /// The SHA-256 of the image's manifest.
        digest: Hash,
        /// Its name, for people.
        name: Text<128>,
        /// The height of the decision.
        since: Height,
    }
}

form! {
    /// What the containers of a class may use.
    pub(crate) struct Class {
        /// Thousandths of a processor.
        cpu_millicores: Count,
        /// Mebibytes of memory.
        memory_mib: Count,
        /// Mebibytes of files.
        scratch_mib: Count,
        /// Seconds.
        max_duration_sec: Count,
    }
}

methods! {
    /// What 0x11 is asked.
    pub(super) METHODS by NUMBER;

    /// Allows an image, or forbids it.
    "set_image" SetImage [governed, routine] {
        /// The SHA-256 of the image's manifest.
        digest: Hash,
        /// Whether jobs may run it.
        allowed: bool = false,
        /// Its name, for people.
        name: Text<128> = Text::default(),
    } -> ();

    /// Returns what governance decided about an image; null where it did not.
    "get_image" GetImage [view] {
        /// The SHA-256 of the image's manifest.
        digest: Hash,
    } -> Option<Decided>;

    /// Returns images that governance decided about, ascending by digest, at most 64.
    "list_images" ListImages [view] {
        /// The first digest that is returned; all where it is absent.
        first: Option<Hash>,
    } -> List<Listed, 64>;

    /// Returns what the containers of a class may use; null where there is no such class.
    "get_class" GetClass [view] {
        /// small, medium or large.
        name: Text<16>,
    } -> Option<Class>;
}

events! {
    /// What 0x11 emits.
    pub(super) EVENTS by NUMBER;

    /// Governance decided about an image.
    "ImageSet" ImageSet {
        /// The SHA-256 of the image's manifest.
        digest: Hash,
        /// Whether jobs may run it.
        allowed: bool,
    }
}
