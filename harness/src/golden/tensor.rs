//! Copies by tensor maps, and the phases of an mbarrier, as kernels.

use super::{Case, Check};
use serde_json::{Value, json};

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![phases()];
    cases.extend(boxes().into_iter().enumerate().map(|(number, copy)| copy.load(number)));
    cases.extend(boxes().into_iter().enumerate().filter_map(|(number, copy)| copy.store(number)));
    cases.extend(pixels().into_iter().enumerate().map(|(number, copy)| copy.load(100 + number)));
    cases
}

/// A copy of a part of a tensor.
struct Copy {
    /// The tensor map, as a launch describes it, without its memory.
    map: Value,
    coordinates: Vec<i32>,
    /// Offsets within the filter, of pixels.
    offsets: Vec<u16>,
    /// Bytes of the part.
    bytes: usize,
}

/// The words of a tensor's memory.
const WORDS: usize = 4096;

fn sizes_of(ty: &str) -> usize {
    match ty {
        "u8" => 1,
        "u16" | "f16" | "bf16" => 2,
        "u64" | "f64" => 8,
        _ => 4,
    }
}

/// A box of a tensor: its type, the sizes of both, where it starts, and further fields of the map.
fn boxed(ty: &str, sizes: &[usize], part: &[usize], coordinates: &[i32], more: Value) -> Copy {
    let size = sizes_of(ty);
    let strides: Vec<usize> = (1..sizes.len()).map(|d| sizes[..d].iter().product::<usize>() * size).collect();
    let mut map = json!({"type": ty, "sizes": sizes, "strides": strides, "box": part});
    let steps = |d: usize| more["element_strides"][d].as_u64().filter(|_| d > 0).unwrap_or(1) as usize;
    let bytes = part.iter().enumerate().map(|(d, of)| of.div_ceil(steps(d))).product::<usize>() * size;
    if let (Some(map), Value::Object(more)) = (map.as_object_mut(), more) {
        map.extend(more);
    }
    Copy { map, coordinates: coordinates.into(), offsets: Vec::new(), bytes }
}

/// Boxes: every swizzle, type and number of dimensions, inside of the tensor and beyond each of its sides.
fn boxes() -> Vec<Copy> {
    let mut all = Vec::new();
    for (swizzle, span) in [("none", 64), ("32B", 32), ("64B", 64), ("128B", 128)] {
        for ty in ["u8", "u16", "u32", "f16", "bf16", "f32"] {
            let inner = span / sizes_of(ty);
            let sizes = [2 * inner, 40];
            // A box starts at a multiple of 16 bytes, or a GPU stops.
            let unit = 16 / sizes_of(ty) as i32;
            for at in [[0, 0], [-unit, -2], [inner as i32 + unit, 33], [unit, 7]] {
                let fill = if ty.starts_with(['f', 'b']) && at[1] != 7 { "nan" } else { "zero" };
                all.push(boxed(ty, &sizes, &[inner, 12], &at, json!({"swizzle": swizzle, "fill": fill})));
            }
        }
        // A box that is narrower than what the swizzle spans.
        all.push(boxed("u16", &[32, 40], &[8, 20], &[8, 1], json!({"swizzle": swizzle})));
        let steps = json!({"swizzle": swizzle, "element_strides": [1, 3]});
        all.push(boxed("u32", &[64, 24], &[span / 4, 16], &[8, 4], steps));
        let steps = json!({"swizzle": swizzle, "element_strides": [1, 2, 1]});
        all.push(boxed("u16", &[64, 8, 4], &[span / 2, 7, 3], &[-8, -1, 2], steps));
        for at in [[0, 0, 0], [-4, 2, -1]] {
            all.push(boxed("u32", &[32, 8, 5], &[span / 4, 4, 3], &at, json!({"swizzle": swizzle})));
        }
    }
    all.push(boxed("u32", &[512], &[100], &[-20], json!({})));
    all.push(boxed("u64", &[64, 8], &[6, 5], &[60, 5], json!({})));
    all.push(boxed("u16", &[16, 6, 5, 4], &[8, 3, 2, 2], &[8, -1, 4, 1], json!({})));
    all.push(boxed("u16", &[16, 5, 4, 3, 4], &[8, 3, 2, 2, 2], &[-8, 3, -1, 2, 1], json!({})));
    all
}

/// Pixels of images of three, four and five dimensions.
fn pixels() -> Vec<Copy> {
    let image = |ty: &str,
                 sizes: &[usize],
                 lower: &[i32],
                 upper: &[i32],
                 at: &[i32],
                 offsets: &[u16],
                 more: Value| {
        let (channels, pixels) = (if sizes_of(ty) == 1 { 32 } else { 16 }, 12);
        let mut copy = boxed(ty, sizes, &[channels, pixels], at, more);
        let corners = json!({"lower": lower, "upper": upper, "channels": channels, "pixels": pixels});
        if let Some(map) = copy.map.as_object_mut() {
            map.remove("box");
            map.insert("im2col".into(), corners);
        }
        copy.bytes = channels * pixels * sizes_of(ty);
        copy.offsets = offsets.into();
        copy
    };
    let mut all = Vec::new();
    for swizzle in ["none", "32B"] {
        let more = json!({"swizzle": swizzle});
        all.push(image("u16", &[16, 9, 4], &[-1], &[-1], &[0, -1, 0], &[0], more.clone()));
        all.push(image("u16", &[16, 9, 4], &[-1], &[-1], &[0, 2, 1], &[2], more.clone()));
        all.push(image("u8", &[32, 7, 5, 3], &[-1, -1], &[-1, -1], &[0, -1, -1, 0], &[1, 2], more.clone()));
        all.push(image("u8", &[32, 7, 5, 3], &[0, 0], &[-2, -2], &[0, 3, 1, 1], &[2, 0], more.clone()));
        all.push(image(
            "u16",
            &[16, 5, 4, 3, 2],
            &[-1, 0, -1],
            &[0, -1, 0],
            &[0, 1, 1, -1, 0],
            &[1, 0, 1],
            more,
        ));
    }
    all
}

impl Copy {
    fn map_of(&self, memory: Value) -> Value {
        let mut map = self.map.clone();
        map["of"] = memory;
        json!({"tensor_map": map})
    }

    /// The parts of a kernel that moves the box: its parameters, and what names the box.
    fn texts(&self) -> (String, String) {
        let numbers = |prefix: &str| -> Vec<String> {
            (0..self.coordinates.len()).map(|d| format!("{prefix}{d}")).collect()
        };
        let load: String = numbers("").iter().fold(String::new(), |mut text, d| {
            text.push_str(&format!("ld.param.s32 %c{d}, [c{d}];\n"));
            text
        });
        (load, format!("[%map, {{{}}}]", numbers("%c").join(", ")))
    }

    fn arguments(&self, map: Value) -> Vec<Value> {
        let mut args = vec![map, json!({"buffer_zero": self.bytes.next_multiple_of(128) + 4})];
        args.extend(self.coordinates.iter().map(|c| json!({"type": "s32", "value": c})));
        args
    }

    fn kernel(&self, body: &str) -> String {
        let room = self.bytes.next_multiple_of(128);
        let parameters: String = (0..self.coordinates.len()).map(|d| format!(", .param .s32 c{d}")).collect();
        let (load, _) = self.texts();
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 to{parameters})\n{{\n\
             .reg .b64 %map, %to, %off; .reg .b32 %lane, %at, %word, %tries, %c<5>; .reg .pred %p, %done;\n\
             .shared .align 1024 .b8 tile[{room}];\n.shared .align 8 .b64 full;\n\
             mov.b64 %map, map;\ncvta.param.u64 %map, %map;\nld.param.u64 %to, [to];\n{load}mov.u32 %lane, %tid.x;\n{body}ret;\n}}\n"
        )
    }

    fn load(&self, number: usize) -> Case {
        let (bytes, room) = (self.bytes, self.bytes.next_multiple_of(128));
        let (_, of_tensor) = self.texts();
        let (mode, offsets) = if self.offsets.is_empty() {
            ("", String::new())
        } else {
            let offsets: Vec<String> = self.offsets.iter().map(u16::to_string).collect();
            (".im2col", format!(", {{{}}}", offsets.join(", ")))
        };
        // What the copy does not write stays as it was; who waits gives up some time.
        let body = format!(
            "mul.lo.u32 %at, %lane, 4;\nFILL:\nmov.u32 %word, tile;\nadd.u32 %word, %word, %at;\nst.shared.b32 [%word], 0xa5a5a5a5;\n\
             add.u32 %at, %at, 128;\nsetp.lt.u32 %p, %at, {room};\n@%p bra FILL;\n\
             setp.ne.u32 %p, %lane, 0;\n@%p bra READY;\nmbarrier.init.shared.b64 [full], 1;\nREADY:\nfence.proxy.async;\nbar.sync 0;\n@%p bra WAIT;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [full], {bytes};\n\
             cp.async.bulk.tensor.{}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes [tile], {of_tensor}, [full]{offsets};\n\
             WAIT:\nmov.u32 %tries, 0;\nPOLL:\nmbarrier.try_wait.parity.shared.b64 %done, [full], 0;\nadd.u32 %tries, %tries, 1;\n\
             setp.lt.and.u32 %p, %tries, 1000, !%done;\n@%p bra POLL;\n\
             mul.lo.u32 %at, %lane, 4;\nKEEP:\nmov.u32 %word, tile;\nadd.u32 %word, %word, %at;\nld.shared.b32 %word, [%word];\n\
             cvt.u64.u32 %off, %at;\nadd.u64 %off, %off, %to;\nst.global.b32 [%off], %word;\nadd.u32 %at, %at, 128;\n\
             setp.lt.u32 %p, %at, {room};\n@%p bra KEEP;\nselp.u32 %word, 1, 0, %done;\nst.global.b32 [%to+{room}], %word;\n",
            self.coordinates.len(),
        );
        let launch = json!({"entry": "k", "grid": [1], "block": [32], "args": self.arguments(self.map_of(json!("in"))),
            "memory": {"in": {"buffer_type": "u32", "iota": WORDS, "start": 0x0102_0304}}});
        Case { name: format!("tensor.load.{number:03}"), ptx: self.kernel(&body), launch, check: Check::Bits }
    }

    /// The same box the other way, without what only loads have.
    fn store(&self, number: usize) -> Option<Case> {
        let words = self.bytes.next_multiple_of(128) / 4;
        let sizes = self.map["sizes"].as_array()?;
        let elements = sizes.iter().filter_map(Value::as_u64).product::<u64>() as usize;
        let of_tensor = elements * sizes_of(self.map["type"].as_str()?);
        // Towards global memory no coordinate may be negative.
        let negative = self.coordinates.iter().any(|c| *c < 0);
        if negative || !number.is_multiple_of(3) || self.map["fill"] == "nan" {
            return None;
        }
        let (_, to_tensor) = self.texts();
        let body = format!(
            "mul.lo.u32 %at, %lane, 4;\nFILL:\nmov.u32 %word, tile;\nadd.u32 %word, %word, %at;\nmul.lo.u32 %tries, %at, 0x9e3779b1;\n\
             st.shared.b32 [%word], %tries;\nadd.u32 %at, %at, 128;\nsetp.lt.u32 %p, %at, {};\n@%p bra FILL;\n\
             fence.proxy.async;\nbar.sync 0;\nsetp.ne.u32 %p, %lane, 0;\n@%p bra END;\n\
             cp.async.bulk.tensor.{}d.global.shared::cta.bulk_group {to_tensor}, [tile];\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\n",
            words * 4,
            self.coordinates.len(),
        );
        let mut args = self.arguments(self.map_of(json!(1)));
        args[1] = json!({"buffer_zero": of_tensor});
        let launch = json!({"entry": "k", "grid": [1], "block": [32], "args": args});
        Some(Case {
            name: format!("tensor.store.{number:03}"),
            ptx: self.kernel(&body),
            launch,
            check: Check::Bits,
        })
    }
}

/// One thread takes an mbarrier through its phases, and writes down what it sees of it.
fn phases() -> Case {
    let mut body = String::new();
    let mut at = 0;
    let mut see = |body: &mut String| {
        for parity in [0, 1] {
            body.push_str(&format!(
                "mbarrier.test_wait.parity.shared.b64 %p, [full], {parity};\nselp.u32 %word, 1, 0, %p;\nst.global.b32 [%to+{}], %word;\n",
                4 * at
            ));
            at += 1;
        }
        body.push_str(&format!("st.global.b32 [%to+{}], %count;\n", 4 * at));
        at += 1;
    };
    let arrive = "mbarrier.arrive.shared.b64 %state, [full];\nmbarrier.pending_count.b64 %count, %state;\n";
    let of_two =
        "mbarrier.arrive.shared.b64 %state, [full], 2;\nmbarrier.pending_count.b64 %count, %state;\n";
    let drop =
        "mbarrier.arrive_drop.shared.b64 %state, [full];\nmbarrier.pending_count.b64 %count, %state;\n";
    let expect = "mbarrier.arrive.expect_tx.shared.b64 %state, [full], 48;\nmbarrier.pending_count.b64 %count, %state;\n";
    let complete = "mbarrier.complete_tx.shared.b64 [full], 24;\n";
    for step in [
        "", arrive, arrive, arrive, of_two, arrive, drop, of_two, arrive, arrive, expect, arrive, complete,
        complete, of_two, arrive,
    ] {
        body += step;
        see(&mut body);
    }
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to)\n{{\n.reg .b64 %to, %state; .reg .b32 %word, %count; .reg .pred %p;\n\
         .shared .align 8 .b64 full;\nld.param.u64 %to, [to];\nmov.u32 %count, 0;\nmbarrier.init.shared.b64 [full], 3;\n{body}ret;\n}}\n"
    );
    let launch = json!({"entry": "k", "grid": [1], "block": [1], "args": [{"buffer_zero": 4 * at}]});
    Case { name: "mbarrier.phases".into(), ptx, launch, check: Check::Bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_runs_and_completes() {
        let mut failed = Vec::new();
        for case in cases() {
            match super::super::run(&case) {
                Err(message) => failed.push(format!("{}: {message}", case.name)),
                Ok(buffers) if case.name.starts_with("tensor.load") => {
                    let out = buffers[1].as_ref().unwrap();
                    if out[out.len() - 4..] != [1, 0, 0, 0] {
                        failed.push(format!("{}: not complete", case.name));
                    }
                }
                Ok(_) => {}
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
