//! Several copies, or several ranges of managed memory, in one call.

use crate::api::copy::{Copy3D, Operand, linear_copy, submit};
use crate::api::memory::{Location, location, managed};
use crate::context::stream;
use crate::copy::Copy3;
use crate::error::Error;
use crate::ffi::{In, Out, Plain, api};
use crate::state::driver;

/// `CUmemcpyAttributes`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    order: u32,
    from: Location,
    to: Location,
    flags: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Attributes {}

/// `CUmemcpy3DOperand`: the pointer, the length of a row, the height of a layer and a hint; or the array and an offset in three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side {
    kind: u32,
    words: [u64; 4],
}
// SAFETY: as above.
unsafe impl Plain for Side {}

/// `CUDA_MEMCPY3D_BATCH_OP`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchCopy {
    from: Side,
    to: Side,
    extent: [usize; 3],
    order: u32,
    flags: u32,
}
// SAFETY: as above.
unsafe impl Plain for BatchCopy {}

const _: () = assert!(size_of::<Attributes>() == 24 && size_of::<BatchCopy>() == 112);

/// When the source of a copy is read: in the order of the stream, during the call, or at any time.
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
const DURING_CALL: u32 = 2;
/// `CU_MEMCPY_OPERAND_TYPE_POINTER` and `CU_MEMCPY_OPERAND_TYPE_ARRAY`
const POINTER: u32 = 1;
const ARRAY: u32 = 2;

fn order(number: u32, flags: u32) -> Result<u32, Error> {
    if !ORDERS.contains(&number) || flags > 1 {
        return Err(Error::value(format!("an order of access {number} with flags {flags}")));
    }
    Ok(number)
}

/// Which of the attributes is each copy's: those that start at or before it.
fn spread<T: Copy>(list: &[T], starts: &[usize], count: usize) -> Result<Vec<T>, Error> {
    let rising = starts.windows(2).all(|pair| pair[0] < pair[1]);
    if starts.first() != Some(&0) || !rising || starts.last().is_some_and(|last| *last >= count) {
        return Err(Error::value(format!("attributes that start at {starts:?} of {count}")));
    }
    let ends = starts[1..].iter().copied().chain([count]);
    Ok(list.iter().zip(starts).zip(ends).flat_map(|((own, start), end)| vec![*own; end - start]).collect())
}

/// Has copies made in a stream, all or none. `failed` gets the index of the wrong one.
fn copies(
    handle: u64,
    count: usize,
    failed: Out<usize>,
    make: impl Fn(usize) -> Result<(Copy3, u32), Error>,
) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    if handle < 2 {
        return Err(Error::value("a batch of copies in the legacy stream"));
    }
    failed.offer(usize::MAX);
    let made: Result<Vec<_>, Error> = (0..count).map(|i| make(i).inspect_err(|_| failed.offer(i))).collect();
    for (mut copy, order) in made? {
        if order == DURING_CALL && stream.capture().is_none() {
            copy.stage();
        }
        submit(&context, &stream, copy, false)?;
    }
    Ok(())
}

/// The pointers and sizes of a batch of copies, and what is said of them.
struct Lists {
    to: In<u64>,
    from: In<u64>,
    sizes: In<usize>,
    count: usize,
    attributes: In<Attributes>,
    starts: In<usize>,
    kinds: usize,
}

fn batch(lists: &Lists, failed: Out<usize>, handle: u64) -> Result<(), Error> {
    let count = lists.count;
    if count == 0 || lists.kinds == 0 || lists.kinds > count {
        return Err(Error::value(format!("{} sets of attributes for {count} copies", lists.kinds)));
    }
    let (to, from) = (lists.to.list(count)?, lists.from.list(count)?);
    let sizes = lists.sizes.list(count)?;
    let kinds = spread(&lists.attributes.list(lists.kinds)?, &lists.starts.list(lists.kinds)?, count)?;
    copies(handle, count, failed, |i| {
        if sizes[i] == 0 {
            return Err(Error::value(format!("copy {i} is of no bytes")));
        }
        Ok((linear_copy(to[i], from[i], sizes[i])?, order(kinds[i].order, kinds[i].flags)?))
    })
}

impl Side {
    fn operand(&self, texel: usize) -> Result<Operand, Error> {
        let [first, second, third, fourth] = self.words;
        let bytes = |texels: u64| {
            let bytes = (texels as usize).checked_mul(texel);
            bytes.ok_or_else(|| Error::value("rows larger than memory"))
        };
        match self.kind {
            POINTER => Ok(Operand::Pointer { address: first, pitch: bytes(second)?, height: third as usize }),
            ARRAY => {
                let at = [bytes(second)?, third as usize, fourth as usize];
                Ok(Operand::Array { array: first, at })
            }
            kind => Err(Error::value(format!("{kind} is not a kind of operand"))),
        }
    }

    /// Bytes of an element, of an array.
    fn texel(&self) -> Result<Option<usize>, Error> {
        if self.kind != ARRAY {
            return Ok(None);
        }
        Ok(Some(driver()?.lock().arrays.get(self.words[0])?.image.format().bytes() as usize))
    }
}

impl BatchCopy {
    fn copy(&self) -> Result<Copy3, Error> {
        let texel = match (self.from.texel()?, self.to.texel()?) {
            (Some(a), Some(b)) if a != b => {
                return Err(Error::value(format!("a copy between arrays of texels of {a} and {b} bytes")));
            }
            (a, b) => a.or(b).unwrap_or(1),
        };
        let [width, height, depth] = self.extent;
        if self.extent.contains(&0) {
            return Err(Error::value(format!("a copy of {:?} elements", self.extent)));
        }
        let bytes = width.checked_mul(texel).ok_or_else(|| Error::value("rows larger than memory"))?;
        let (from, to) = (self.from.operand(texel)?, self.to.operand(texel)?);
        Copy3D::between(from, to, [bytes, height, depth]).resolve()
    }
}

fn shaped(
    count: usize,
    list: In<BatchCopy>,
    failed: Out<usize>,
    flags: u64,
    stream: u64,
) -> Result<(), Error> {
    if count == 0 || flags != 0 {
        return Err(Error::value(format!("{count} copies, flags {flags}")));
    }
    let list = list.list(count)?;
    copies(stream, count, failed, |i| Ok((list[i].copy()?, order(list[i].order, list[i].flags)?)))
}

/// Checks ranges of managed memory, and where they are to go. All memory is everywhere, so there is nothing to move; what is discarded may stay as it is.
fn ranges(
    starts: In<u64>,
    sizes: In<usize>,
    count: usize,
    places: Option<(In<Location>, In<usize>, usize)>,
    flags: u64,
    handle: u64,
) -> Result<(), Error> {
    stream(handle)?;
    if count == 0 || flags != 0 {
        return Err(Error::value(format!("{count} ranges, flags {flags}")));
    }
    if let Some((places, indices, kinds)) = places {
        if kinds == 0 || kinds > count {
            return Err(Error::value(format!("{kinds} places for {count} ranges")));
        }
        let places = places.list(kinds)?;
        spread(&places, &indices.list(kinds)?, count)?;
        places.into_iter().try_for_each(location)?;
    }
    let (starts, sizes) = (starts.list(count)?, sizes.list(count)?);
    starts.iter().zip(sizes).try_for_each(|(start, bytes)| managed(*start, bytes))
}

api! {
    fn cuMemcpyBatchAsync(
        to: In<u64>,
        from: In<u64>,
        sizes: In<usize>,
        count: usize,
        attributes: In<Attributes>,
        starts: In<usize>,
        kinds: usize,
        failed: Out<usize>,
        stream: u64,
    ) {
        batch(&Lists { to, from, sizes, count, attributes, starts, kinds }, failed, stream)
    }

    fn cuMemcpyBatchAsync_v2(
        to: In<u64>,
        from: In<u64>,
        sizes: In<usize>,
        count: usize,
        attributes: In<Attributes>,
        starts: In<usize>,
        kinds: usize,
        stream: u64,
    ) {
        batch(&Lists { to, from, sizes, count, attributes, starts, kinds }, Out::none(), stream)
    }

    fn cuMemcpy3DBatchAsync(
        count: usize,
        list: In<BatchCopy>,
        failed: Out<usize>,
        flags: u64,
        stream: u64,
    ) {
        shaped(count, list, failed, flags, stream)
    }

    fn cuMemcpy3DBatchAsync_v2(count: usize, list: In<BatchCopy>, flags: u64, stream: u64) {
        shaped(count, list, Out::none(), flags, stream)
    }

    fn cuMemPrefetchBatchAsync(
        starts: In<u64>,
        sizes: In<usize>,
        count: usize,
        places: In<Location>,
        indices: In<usize>,
        kinds: usize,
        flags: u64,
        stream: u64,
    ) {
        ranges(starts, sizes, count, Some((places, indices, kinds)), flags, stream)
    }

    fn cuMemDiscardBatchAsync(starts: In<u64>, sizes: In<usize>, count: usize, flags: u64, stream: u64) {
        ranges(starts, sizes, count, None, flags, stream)
    }

    fn cuMemDiscardAndPrefetchBatchAsync(
        starts: In<u64>,
        sizes: In<usize>,
        count: usize,
        places: In<Location>,
        indices: In<usize>,
        kinds: usize,
        flags: u64,
        stream: u64,
    ) {
        ranges(starts, sizes, count, Some((places, indices, kinds)), flags, stream)
    }
}
