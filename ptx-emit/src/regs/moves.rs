//! A parallel assignment as a sequence of moves.

use std::hash::Hash;
use warpsmith_base::FxHashMap;

/// Orders the moves `(destination, source)` so that no source is overwritten before it is read, asking `temporary` for a
/// register where sources and destinations form a cycle, and hands them to `emit` one by one. Destinations are distinct and no
/// move is from a register to itself.
pub fn sequentialize<R: Copy + Eq + Hash>(
    moves: &[(R, R)],
    mut temporary: impl FnMut(R) -> R,
    mut emit: impl FnMut(R, R),
) {
    if let [(to, from)] = *moves {
        return emit(to, from);
    }
    // What each pending destination waits for, and how many pending moves still read a register.
    let mut source: FxHashMap<R, R> = moves.iter().copied().collect();
    let mut readers: FxHashMap<R, u32> = FxHashMap::default();
    for &(_, from) in moves {
        *readers.entry(from).or_default() += 1;
    }
    let mut ready: Vec<R> = moves.iter().map(|m| m.0).filter(|to| !readers.contains_key(to)).collect();
    while let Some(to) = ready.pop() {
        let Some(from) = source.remove(&to) else { continue };
        emit(to, from);
        if let Some(count) = readers.get_mut(&from) {
            *count -= 1;
            if *count == 0 && source.contains_key(&from) {
                ready.push(from);
            }
        }
    }
    // Only cycles are left, in which every register has one reader: save one register, go round, end with the saved copy.
    for &(first, _) in moves {
        if !source.contains_key(&first) {
            continue;
        }
        let saved = temporary(first);
        emit(saved, first);
        let mut to = first;
        while let Some(from) = source.remove(&to) {
            emit(to, if from == first { saved } else { from });
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sequentialize;

    /// Runs the sequence on a machine whose register `i` holds `i`, and compares with the parallel meaning.
    fn check(moves: &[(u32, u32)]) -> usize {
        let mut registers: Vec<u32> = (0..64).collect();
        let (mut next, mut count) = (32, 0);
        sequentialize(
            moves,
            |_| {
                next += 1;
                next - 1
            },
            |to, from| {
                registers[to as usize] = registers[from as usize];
                count += 1;
            },
        );
        for &(to, from) in moves {
            assert_eq!(registers[to as usize], from, "{moves:?}");
        }
        count
    }

    #[test]
    fn chains_fans_and_cycles() {
        assert_eq!(check(&[]), 0);
        assert_eq!(check(&[(1, 0)]), 1);
        assert_eq!(check(&[(1, 0), (2, 1), (3, 2)]), 3);
        assert_eq!(check(&[(1, 0), (2, 0), (3, 1)]), 3);
        assert_eq!(check(&[(0, 1), (1, 0)]), 3);
        assert_eq!(check(&[(0, 1), (1, 2), (2, 0), (5, 0), (6, 7), (7, 6)]), 8);
    }

    #[test]
    fn arbitrary_assignments() {
        arbtest::arbtest(|u| {
            let mut moves = Vec::new();
            for to in 0..u.int_in_range(0..=12)? {
                let from = u.int_in_range(0..=15)?;
                if from != to {
                    moves.push((to, from));
                }
            }
            check(&moves);
            Ok(())
        });
    }
}
