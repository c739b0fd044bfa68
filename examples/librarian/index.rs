//! Files a page in the archive, and says what the whole archive has: `app DAY`, the page on the standard input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let day = std::env::args().nth(1).expect("the day");
    let archive = Path::new("/mnt/volumes/archive");
    fs::write(archive.join(format!("{day}.txt")), std::io::read_to_string(std::io::stdin())?)?;
    let (mut pages, mut words, mut counts) = (0, 0, BTreeMap::new());
    for entry in fs::read_dir(archive)? {
        pages += 1;
        for word in fs::read_to_string(entry?.path())?.split_whitespace() {
            // Letters alone need no escapes in JSON.
            let word: String = word.chars().filter(|letter| letter.is_alphabetic()).collect::<String>().to_lowercase();
            words += 1;
            *counts.entry(word).or_insert(0_u32) += 1;
        }
    }
    let mut common: Vec<_> = counts.into_iter().filter(|(word, _)| word.len() > 3).collect();
    common.sort_by(|(one, many), (other, more)| more.cmp(many).then(one.cmp(other)));
    let common: Vec<String> = common.into_iter().take(10).map(|(word, count)| format!("[\"{word}\", {count}]")).collect();
    println!("{{\"pages\": {pages}, \"words\": {words}, \"common\": [{}]}}", common.join(", "));
    Ok(())
}
