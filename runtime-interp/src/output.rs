//! What kernels print.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The text of a launch, piece by piece; when it exceeds its limit, the oldest pieces go, as they do in CUDA's buffer.
#[derive(Debug)]
pub(crate) struct Output {
    limit: u64,
    pieces: Mutex<Pieces>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// By the number of the block that printed it.
    queue: VecDeque<(u64, Vec<u8>)>,
    bytes: u64,
    calls: u64,
    lost: u64,
}

/// What has been printed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Printed {
    pub calls: u64,
    pub bytes: u64,
    pub lost: u64,
}

impl Output {
    pub fn new(limit: u64) -> Self {
        Output { limit, pieces: Mutex::default() }
    }

    /// Adds what one call printed.
    pub fn push(&self, block: u64, mut text: Vec<u8>) {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.calls += 1;
        let over = (text.len() as u64).saturating_sub(self.limit);
        text.drain(..over as usize);
        pieces.lost += over;
        pieces.bytes += text.len() as u64;
        pieces.queue.push_back((block, text));
        while pieces.bytes > self.limit
            && let Some((_, oldest)) = pieces.queue.pop_front()
        {
            pieces.bytes -= oldest.len() as u64;
            pieces.lost += oldest.len() as u64;
        }
    }

    /// Hands the text to a sink, block by block whatever order the blocks ran in.
    pub fn deliver(self, sink: &mut Sink) -> Printed {
        let Pieces { queue, bytes, calls, lost } =
            self.pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut queue = Vec::from(queue);
        queue.sort_by_key(|(block, _)| *block);
        queue.iter().for_each(|(_, text)| sink.write(text, self.limit));
        Printed { calls, bytes, lost }
    }
}

/// Where a device's output goes.
pub(crate) enum Sink {
    /// It is kept until it is asked for: the last bytes of it.
    Kept(VecDeque<u8>),
    /// The host takes it.
    Host(Box<dyn Write + Send>),
}

impl Sink {
    fn write(&mut self, text: &[u8], limit: u64) {
        match self {
            Sink::Kept(kept) => {
                kept.extend(text);
                let over = kept.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
                kept.drain(..over);
            }
            // A kernel has run, whether or not the host can show what it said.
            Sink::Host(sink) => drop(sink.write_all(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_text_is_lost_and_blocks_are_put_in_order() {
        let output = Output::new(10);
        for (block, text) in [(0, "abcd"), (2, "efg"), (1, "hij"), (0, "kl")] {
            output.push(block, text.as_bytes().to_vec());
        }
        let mut sink = Sink::Kept(VecDeque::new());
        assert_eq!(output.deliver(&mut sink), Printed { calls: 4, bytes: 8, lost: 4 });
        let Sink::Kept(kept) = &sink else { unreachable!() };
        assert_eq!(Vec::from(kept.clone()), b"klhijefg");

        let output = Output::new(10);
        output.push(0, b"0123456789AB".to_vec());
        assert_eq!(output.deliver(&mut sink), Printed { calls: 1, bytes: 10, lost: 2 });
        let Sink::Kept(kept) = sink else { unreachable!() };
        assert_eq!(Vec::from(kept), b"23456789AB");
    }
}
