//! Shapes: which attributes instances have, and where.

use super::Heap;
use crate::payload::Shape;
use crate::value::Ref;

/// Instances with more attributes than this keep them in a dict.
const SHAPE_WIDTH: usize = 64;

/// Most shapes of one run; further ones fall back to dicts.
const SHAPE_LIMIT: usize = 4_096;

impl Heap {
    /// A shape by number.
    #[inline]
    pub(crate) fn shape(&self, shape: u32) -> &Shape {
        let image = self.image.shapes();
        match image.get(shape as usize) {
            Some(shape) => shape,
            None => &self.shapes[shape as usize - image.len()],
        }
    }

    /// The position of an attribute in a shape.
    #[inline]
    pub(crate) fn shape_position(&self, shape: u32, name: Ref) -> Option<usize> {
        self.shape(shape).names.iter().position(|&known| known == name)
    }

    /// The shape that adds an attribute, unless it would be too large.
    pub(crate) fn shape_with(&mut self, shape: u32, name: Ref) -> Option<u32> {
        if let Some(next) = self.image.transition(shape, name).or_else(|| self.transitions.get(&(shape, name)).copied()) {
            return Some(next);
        }
        let mut names = self.shape(shape).names.clone();
        if names.len() >= SHAPE_WIDTH || self.shapes.len() >= SHAPE_LIMIT {
            return None;
        }
        names.push(name);
        let number = self.image.shapes().len() + self.shapes.len();
        let number = u32::try_from(number).expect("bounded by SHAPE_LIMIT per layer");
        self.shapes.push(Shape { names });
        self.transitions.insert((shape, name), number);
        Some(number)
    }
}
