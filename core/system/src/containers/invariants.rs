//! What holds of the records of images.

use super::NUMBER;
use super::state::Image;
use crate::records::{Broken, Records, holds};

/// An image stands under a digest, and was decided about at a height that was.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    for (name, image) in records.of::<Image>(NUMBER, "image:")? {
        holds("an image stands under a digest", name.len() == 32, &name)?;
        holds("an image was decided about in a block that was", image.since <= records.height(), &image)?;
    }
    Ok(())
}
