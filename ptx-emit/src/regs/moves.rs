//! A parallel assignment as a sequence of moves.

use smallvec::SmallVec;
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
    // Which move writes what a move reads. Few are searched faster than hashed.
    let writers: FxHashMap<R, usize> = match moves.len() > SEARCHED {
        true => moves.iter().enumerate().map(|(n, (to, _))| (*to, n)).collect(),
        false => FxHashMap::default(),
    };
    let writer = |reg: R| match moves.len() > SEARCHED {
        true => writers.get(&reg).copied(),
        false => moves.iter().position(|(to, _)| *to == reg),
    };
    let written_by: SmallVec<[Option<usize>; SEARCHED]> =
        moves.iter().map(|(_, from)| writer(*from)).collect();
    // How many pending moves still read what a move writes.
    let mut readers: SmallVec<[u32; SEARCHED]> = SmallVec::from_elem(0, moves.len());
    written_by.iter().flatten().for_each(|n| readers[*n] += 1);
    let mut pending: SmallVec<[bool; SEARCHED]> = SmallVec::from_elem(true, moves.len());
    let mut ready: SmallVec<[usize; SEARCHED]> = (0..moves.len()).filter(|n| readers[*n] == 0).collect();
    while let Some(n) = ready.pop() {
        pending[n] = false;
        emit(moves[n].0, moves[n].1);
        if let Some(freed) = written_by[n] {
            readers[freed] -= 1;
            if readers[freed] == 0 {
                ready.push(freed);
            }
        }
    }
    // Only cycles are left, in which every register has one reader: save one register, go round, end with the saved copy.
    for (first, &(to, _)) in moves.iter().enumerate() {
        if !pending[first] {
            continue;
        }
        let saved = temporary(to);
        emit(saved, to);
        let mut at = first;
        while std::mem::take(&mut pending[at]) {
            let (to, from) = moves[at];
            match written_by[at] {
                Some(next) if next != first => {
                    emit(to, from);
                    at = next;
                }
                Some(_) | None => emit(to, saved),
            }
        }
    }
}

/// So many moves are searched one by one.
const SEARCHED: usize = 16;

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
            for to in 0..u.int_in_range(0..=24)? {
                let from = u.int_in_range(0..=27)?;
                if from != to {
                    moves.push((to, from));
                }
            }
            check(&moves);
            Ok(())
        });
    }
}
