//! "Did you mean": the known name that is nearest to a wrong one.

/// The candidate that takes the fewest edits, if they are few for its length.
pub fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Long names are not misspelt but generated, and comparing them costs their square.
    if wrong.len() > 48 {
        return None;
    }
    let limit = 1 + wrong.len() / 4;
    candidates
        .filter(|name| name.len().abs_diff(wrong.len()) <= limit)
        .map(|name| (edits(wrong.as_bytes(), name.as_bytes()), name))
        .filter(|(edits, _)| *edits <= limit)
        // Among equals, the one that begins like it: people err at the end.
        .min_by_key(|(edits, name)| {
            let alike = wrong.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            (*edits, std::cmp::Reverse(alike))
        })
        .map(|(_, name)| name)
}

/// The edit distance in which swapping two neighbours is one edit.
fn edits(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = last.clone();
    for i in 0..a.len() {
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_misspellings_and_nothing_far() {
        let names = ["iadd", "isub", "fadd", "load"];
        let near = |wrong| nearest(wrong, names.iter().copied());
        assert_eq!((near("iad"), near("laod"), near("isubb")), (Some("iadd"), Some("load"), Some("isub")));
        assert_eq!((near("multiply"), near(""), near(&"x".repeat(1 << 20))), (None, None, None));
    }
}
