//! A sparse table over the handles of an image: what a run says about few of them.

/// Stands in the overlay for an object that is not where the bottom image has it, and that the run has not copied.
pub(crate) const ALTERED: u32 = u32::MAX;

/// Handles on a page.
const PAGE: usize = 64;

/// A number for each handle, 0 for most. A run begins with it: making one costs little, however many handles there are.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// For each 64 handles, which page they are on.
    directory: Vec<u32>,
    /// The first page is that of all handles about which nothing is said.
    pages: Vec<[u32; PAGE]>,
}

impl Overlay {
    /// Nothing is said about any of `count` handles.
    pub(crate) fn over(count: usize) -> Self {
        let mut pages = Vec::with_capacity(8);
        pages.push([0; PAGE]);
        Self { directory: vec![0; count.div_ceil(PAGE)], pages }
    }

    /// What is said about a handle.
    #[inline(always)]
    pub(crate) fn get(&self, handle: usize) -> u32 {
        self.pages[self.directory[handle / PAGE] as usize][handle % PAGE]
    }

    /// Says something about a handle.
    pub(crate) fn set(&mut self, handle: usize, number: u32) {
        let page = &mut self.directory[handle / PAGE];
        if *page == 0 {
            *page = u32::try_from(self.pages.len()).expect("fewer pages than handles");
            self.pages.push([0; PAGE]);
        }
        self.pages[*page as usize][handle % PAGE] = number;
    }

    /// The handles about which something is said, ascending, and what.
    pub(crate) fn said(&self) -> impl Iterator<Item = (u32, u32)> {
        let handles = self.directory.iter().flat_map(|&page| self.pages[page as usize]);
        (0u32..).zip(handles).filter(|&(_, number)| number != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_a_handle_is_found_and_nothing_else() {
        let mut overlay = Overlay::over(1000);
        for handle in [999, 0, 63, 64, 500] {
            overlay.set(handle, u32::try_from(handle).expect("small") + 7);
        }
        overlay.set(64, 0);
        assert_eq!(overlay.said().collect::<Vec<_>>(), [(0, 7), (63, 70), (500, 507), (999, 1006)]);
        assert_eq!([0, 1, 63, 64, 998, 999].map(|handle| overlay.get(handle)), [7, 0, 70, 0, 0, 1006]);
    }
}
