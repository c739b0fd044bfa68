//! Gives back pages of the program that only its start read.
//!
//! The kernel maps a piece of a file around each page of it that is read, and keeps it mapped. A start runs code from everywhere, once: of a devnet that idles,
//! most of the resident memory is such code. Whoever comes back to a page finds it in the kernel's cache of files.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    ops::Range,
    path::Path,
};

/// Unmaps the pages of the program. Those that are used are mapped again when they are. Fails where the kernel does not say what is mapped.
pub(crate) fn give_back() -> io::Result<()> {
    let program = std::fs::read_link("/proc/self/exe")?;
    for range in as_in_file(&program, BufReader::new(File::open("/proc/self/smaps")?))? {
        let start = std::ptr::with_exposed_provenance_mut(range.start);
        // SAFETY: the range is a mapping of the program's own file, which stays mapped until the process ends; nobody may write to it, and none of its pages
        // differs from the file's, in memory or swapped out: a page that is read after this has the same bytes.
        unsafe { libc::madvise(start, range.len(), libc::MADV_DONTNEED) };
    }
    Ok(())
}

/// The mappings, of those in a process's `smaps`, that are of the program's file, cannot be written to, and have no page of their own. What the linker relocated
/// has, and code with a debugger's breakpoint. Where an emulator of the kernel counts no pages, it says nothing of a page's bytes either.
fn as_in_file(program: &Path, smaps: impl BufRead) -> io::Result<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut mapping: Option<Range<usize>> = None;
    for line in smaps.lines() {
        let line = line?;
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("Rss:"), Some("0")) => mapping = None,
            (Some("Anonymous:"), Some(size)) if size != "0" => mapping = None,
            // The last of the three: a page that is swapped out is not counted as anonymous.
            (Some("Swap:"), Some("0")) => found.extend(mapping.take()),
            (Some(word), Some(permissions)) => {
                if let Some(range) = range_of(word) {
                    // After the permissions stand the offset, the device, the inode and the file's name. Of a file that was replaced, both names say so.
                    let is_own = line.splitn(6, ' ').nth(5).is_some_and(|name| Path::new(name.trim_start()) == program);
                    mapping = (is_own && !permissions.contains('w')).then_some(range);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The addresses `55d0c0000000-55d0c2d3a000`, with which a mapping begins in `smaps`.
fn range_of(word: &str) -> Option<Range<usize>> {
    let (start, end) = word.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Only what is in the program's file as it is in memory goes: not what can be written to, not what was written to, in memory or swapped out, nothing of
    /// other files, and nothing where the kernel counts no pages.
    #[test]
    fn only_pages_as_in_their_file_are_given_back() {
        let counts = |resident: u32, own: u32, swapped: u32| {
            format!("Size:  99 kB\nRss:  {resident} kB\nAnonymous:  {own} kB\nSwap:  {swapped} kB\nSwapPss:  0 kB\nVmFlags: rd mr mw me\n")
        };
        let smaps = [
            ("1000-3000 r--p 00000000 fe:00 77                         /usr/bin/a node", counts(8, 0, 0)),
            ("3000-7000 r-xp 00002000 fe:00 77                         /usr/bin/a node", counts(16, 0, 0)),
            ("7000-8000 r--p 00006000 fe:00 77                         /usr/bin/a node", counts(4, 4, 0)),
            ("8000-9000 r--p 00006000 fe:00 77                         /usr/bin/a node", counts(4, 0, 4)),
            ("9000-a000 rw-p 00007000 fe:00 77                         /usr/bin/a node", counts(4, 0, 0)),
            ("a000-b000 r-xp 00007000 fe:00 77                         /usr/bin/a node", counts(0, 0, 0)),
            ("b000-c000 r-xp 00000000 fe:00 78                         /usr/lib/library.so", counts(8, 0, 0)),
            ("c000-d000 r--p 00000000 00:00 0 ", counts(4, 0, 0)),
            ("d000-e000 r-xp 00000000 00:00 0                          [vdso]", counts(4, 0, 0)),
        ];
        let smaps: String = smaps.iter().map(|(mapping, counts)| format!("{mapping}\n{counts}")).collect();
        let found = as_in_file(Path::new("/usr/bin/a node"), smaps.as_bytes()).expect("it is read from memory");
        assert_eq!(found, [0x1000..0x3000, 0x3000..0x7000]);
    }

    /// What is resident of files falls, and the program runs on.
    #[test]
    fn a_program_runs_on_without_the_pages_of_its_start() {
        let of_files = || fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(2)?.parse::<u64>().ok();
        let before = of_files().expect("the system says it");
        give_back().expect("the system says what is mapped");
        let after = of_files().expect("the system says it");
        assert!(after < before, "{before} pages, then {after}");
    }
}
