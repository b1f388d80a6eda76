//! A list in parts of about the same size, for threads.

use std::ops::Range;

/// The positions of items of such sizes in so many parts or fewer, in their order. The parts are about equally large, and none is empty.
///
/// ```
/// use warpsmith_base::even_parts;
/// assert_eq!(even_parts([1, 1, 1, 1, 4], 2), [0..4, 4..5]);
/// assert_eq!(even_parts([1, 1, 9], 3), [0..3]);
/// assert!(even_parts([], 3).is_empty());
/// ```
pub fn even_parts<S>(sizes: S, parts: usize) -> Vec<Range<usize>>
where
    S: IntoIterator<Item = usize>,
    S::IntoIter: Clone,
{
    let sizes = sizes.into_iter();
    let part = sizes.clone().sum::<usize>().div_ceil(parts.max(1)).max(1);
    let mut found: Vec<Range<usize>> = Vec::with_capacity(parts);
    let mut before = 0;
    for (index, size) in sizes.enumerate() {
        let full = before >= found.len() * part && found.len() < parts.max(1);
        match found.last_mut() {
            Some(last) if !full => last.end = index + 1,
            Some(_) | None => found.push(index..index + 1),
        }
        before += size;
    }
    found
}
