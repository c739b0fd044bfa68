//! What holds of the records of images.

use super::NUMBER;
use super::state::{self, Image};
use crate::records::{Broken, Records, equal, holds};
use std::collections::BTreeSet;

/// An image stands under a digest, is listed, and was decided about at a height that was.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let listed: BTreeSet<Vec<u8>> = records.names(state::images()).iter().map(|name| name.to_vec()).collect();
    let mut kept = BTreeSet::new();
    for (name, image) in records.of::<Image>(NUMBER, "image:")? {
        holds("an image stands under a digest", name.len() == 32, &name)?;
        holds("an image was decided about in a block that was", image.since <= records.height(), &image)?;
        kept.insert(name.to_vec());
    }
    equal("every image is listed", &listed, &kept)
}
