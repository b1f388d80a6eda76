//! Elements of matrix products, computed by the published model of each architecture's tensor cores: every bit.

use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use warpsmith_isa::{MmaKind, Mnemonic, ScaleVector, forms};
use warpsmith_semantics::lanes::Level;
use warpsmith_semantics::matrix::*;

const VECTORS: &[u8] = include_bytes!("../../tests/oracle/mma.tsv.gz");

fn element(name: &str) -> Element {
    match name {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "tf32" => Element::Tf32,
        "e4m3" => Element::E4m3,
        "e5m2" => Element::E5m2,
        "e2m1" => Element::E2m1,
        other => panic!("a type that the vectors did not have: {other}"),
    }
}

fn architecture(name: &str) -> Architecture {
    match name {
        "RTXBlackwell" => Architecture::RtxBlackwell,
        name => Arithmetic::from_name(&name.to_lowercase())
            .map(|found| match found {
                Arithmetic::Hardware(architecture) => architecture,
                Arithmetic::Ideal => panic!("{name}"),
            })
            .unwrap(),
    }
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(',').map(|part| u32::from_str_radix(part, 16).unwrap()).collect()
}

struct Row<'a> {
    line: &'a str,
    a: Vec<u32>,
    b: Vec<u32>,
    c: u32,
    d: u32,
    scales: Option<[Vec<u32>; 2]>,
}

/// Eight rows at a time stand on the diagonal of a product, so that every column of a chunk is used.
fn differing(key: &[&str], rows: &[Row<'_>], level: Level) -> Vec<String> {
    let types = [element(key[3]), element(key[4])];
    let k: usize = key[2].parse().unwrap();
    let ty = if key[5] == "f16" { Accumulator::F16 } else { Accumulator::F32 };
    let unit = match key[0].split('.').next() {
        Some("wgmma") => Unit::Warpgroup,
        Some("tcgen05") => Unit::Tcgen05,
        _ => Unit::Warp,
    };
    let scale = match key[6] {
        "ue8m0" => Some(ScaleType::Ue8m0),
        "ue4m3" => Some(ScaleType::Ue4m3),
        _ => None,
    };
    let rule = Rule::of(architecture(key[1]), unit, types[0], scale.is_some() && k == 64);
    let mut wrong = Vec::new();
    let mut workspace = Workspace::default();
    for rows in rows.chunks(8) {
        let row = |at: usize| &rows[at.min(rows.len() - 1)];
        let packing = Packing::Tight;
        let a: Vec<u32> =
            (0..8).flat_map(|m| row(m).a.iter().map(|x| packing.element(types[0], *x))).collect();
        let b: Vec<u32> =
            (0..k).flat_map(|i| (0..8).map(move |n| packing.element(types[1], row(n).b[i]))).collect();
        let side = |which: usize| -> Vec<u8> {
            let of = |m: usize| row(m).scales.as_ref().map_or(&[][..], |s| &s[which][..]);
            (0..8).flat_map(|m| of(m).iter().map(|s| *s as u8)).collect()
        };
        let (of_a, of_b) = (side(0), side(1));
        let scales = scale.map(|ty| Scales { ty, blocks: of_a.len() / 8, a: &of_a, b: &of_b });
        let mut d: Vec<u32> = (0..64).map(|at| row(at / 8).c).collect();
        let product = Product {
            shape: [8, 8, k],
            types,
            accumulators: [ty; 2],
            rule: Some(rule),
            a: &a,
            b: &b,
            rows: Partners::Same,
            scales,
        };
        product.run(level, &mut workspace, &mut d);
        for (m, row) in rows.iter().enumerate() {
            if d[m * 8 + m] != row.d {
                wrong.push(format!("{:x} instead of {}", d[m * 8 + m], row.line));
            }
        }
    }
    wrong
}

/// The rows of the file by what is multiplied: instruction, architecture, depth, types, type of scales and their number.
fn groups(text: &str) -> BTreeMap<Vec<&str>, Vec<Row<'_>>> {
    let mut groups: BTreeMap<Vec<&str>, Vec<Row<'_>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let scales = (cells[10] != "-").then(|| [numbers(cells[11]), numbers(cells[12])]);
        let count = scales.as_ref().map_or("0".to_string(), |s| s[0].len().to_string());
        let row = Row {
            line,
            a: numbers(cells[6]),
            b: numbers(cells[7]),
            c: numbers(cells[8])[0],
            d: numbers(cells[9])[0],
            scales,
        };
        let mut key = cells[..6].to_vec();
        key.push(cells[10]);
        key.push(["0", "1", "2", "4"].into_iter().find(|known| *known == count).unwrap());
        groups.entry(key).or_default().push(row);
    }
    groups
}

#[test]
fn every_vector_is_computed_bit_for_bit() {
    let mut text = String::new();
    GzDecoder::new(VECTORS).read_to_string(&mut text).unwrap();
    let groups = groups(&text);
    assert_eq!(groups.values().map(Vec::len).sum::<usize>(), 7700);
    for level in Level::ALL {
        let mut wrong = 0;
        for (key, rows) in &groups {
            let of_group = differing(key, rows, level);
            wrong += of_group.len();
            if let Some(first) = of_group.first() {
                println!("{level:?} {key:?}: {} of {} differ; {first}", of_group.len(), rows.len());
            }
        }
        assert_eq!(wrong, 0, "vectors that differ");
    }
}

/// What `mma` of a kind of scaled product is called, by its depth and its scales.
fn scaled_mnemonics(key: &[&str]) -> Vec<String> {
    let [_, _, k, a, b, d, scale, count] = key else { panic!("{key:?}") };
    let kinds: &[&str] = match (*k, *scale, *count) {
        ("32", "ue8m0", "1") => &["mxf8f6f4"],
        ("64", "ue8m0", "2") => &["mxf4", "mxf4nvf4"],
        ("64", "ue8m0" | "ue4m3", "4") => &["mxf4nvf4"],
        other => panic!("scales that no instruction has: {other:?}"),
    };
    let name = |kind: &&str| {
        format!(
            "mma.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale.scale_vec::{count}X.{d}.{a}.{b}.{d}.{scale}"
        )
    };
    kinds.iter().map(name).collect()
}

/// Eight rows at a time stand twice on diagonals of a product of 16 rows and 8 columns, as the lanes of a warp hold it (PTX ISA 9.0, 9.7.14.5 and
/// 9.7.14.3), with the scales at the byte and the thread that selectors name.
fn differing_in_registers(
    mnemonic: &str,
    key: &[&str],
    rows: &[Row<'_>],
    [thread_a, thread_b, byte]: [usize; 3],
) -> Vec<String> {
    let parsed = Mnemonic::parse(mnemonic).unwrap_or_else(|bad| panic!("{mnemonic}: {bad:?}"));
    let instruction = forms(&parsed).next().unwrap_or_else(|| panic!("{mnemonic}: no form"));
    let product = WarpProduct::of(&instruction).unwrap_or_else(|| panic!("{mnemonic}: no product"));
    let k: usize = key[2].parse().unwrap();
    // Elements in a register: of 8 bits, or of 4.
    let parts = if k == 64 { 8 } else { 4 };
    let width = 32 / parts;
    let mut workspace = WarpWorkspace::default();
    let mut wrong = Vec::new();
    for rows in rows.chunks(8) {
        let row = |at: usize| &rows[(at % 8).min(rows.len() - 1)];
        let packed =
            |element: &dyn Fn(usize) -> u32| (0..parts).fold(0, |word, i| word | element(i) << (i * width));
        let mut inputs = Inputs::default();
        for register in 0..4 {
            inputs.matrices[0].push(std::array::from_fn(|lane| {
                let (g, t) = (lane / 4 + 8 * (register % 2), lane % 4);
                packed(&|i| row(g).a[(t + 4 * (register / 2)) * parts + i])
            }));
            inputs.matrices[2].push(std::array::from_fn(|lane| row(lane / 4).c));
        }
        for register in 0..2 {
            inputs.matrices[1].push(std::array::from_fn(|lane| {
                packed(&|i| row(lane / 4).b[(lane % 4 + 4 * register) * parts + i])
            }));
        }
        // Other bytes and threads hold scales that would spoil everything.
        inputs.scales = [[0x7e01_017e; 32]; 2];
        for g in 0..8 {
            let Some([of_a, of_b]) = &row(g).scales else { panic!("{}", row(g).line) };
            let word = |scales: &[u32], old: u32| {
                scales.iter().enumerate().fold(old, |word, (i, scale)| {
                    let at = 8 * ((byte + i) % 4);
                    word & !(0xff << at) | scale << at
                })
            };
            for half in 0..2 {
                let lane = &mut inputs.scales[0][4 * g + 2 * thread_a + half];
                *lane = word(of_a, *lane);
            }
            let lane = &mut inputs.scales[1][4 * g + thread_b];
            *lane = word(of_b, *lane);
        }
        inputs.scale_selectors = [[byte, thread_a], [byte, thread_b]];
        let mut out = Vec::new();
        let arithmetic = Arithmetic::Hardware(Architecture::RtxBlackwell);
        let done = product.run(arithmetic, Level::of_host(), &mut workspace, &inputs, &mut out);
        assert!(done.is_ok());
        for (m, expected) in rows.iter().enumerate() {
            // Row m and row m + 8 of column m.
            for register in [m % 2, 2 + m % 2] {
                let found = out[register][4 * m + m / 2];
                if found != expected.d {
                    wrong.push(format!("{found:x} instead of {}", expected.line));
                }
            }
        }
    }
    wrong
}

#[test]
fn scaled_vectors_from_the_registers_of_a_warp() {
    let mut text = String::new();
    GzDecoder::new(VECTORS).read_to_string(&mut text).unwrap();
    let groups = groups(&text);
    let mut seen = 0;
    for (key, rows) in groups.iter().filter(|(key, _)| key[6] != "-") {
        for mnemonic in scaled_mnemonics(key) {
            for byte in match key[7] {
                "1" => vec![0, 1, 2, 3],
                "2" => vec![0, 2],
                _ => vec![0],
            } {
                for threads in 0..4 {
                    let wrong = differing_in_registers(&mnemonic, key, rows, [threads % 2, threads, byte]);
                    assert!(wrong.is_empty(), "{mnemonic}: {} differ; {}", wrong.len(), wrong[0]);
                }
            }
        }
        seen += rows.len();
    }
    assert_eq!(seen, 1000);
}

/// The products of tensor memory that a group of scaled vectors denotes: of each kind that has such scales, dense and sparse.
fn scaled_tensor_products(key: &[&str]) -> Vec<(MmaKind, TensorProduct)> {
    let [_, _, _, a, b, _, scale, count] = key else { panic!("{key:?}") };
    let kinds: &[(MmaKind, Option<ScaleVector>)] = match *count {
        "1" => &[(MmaKind::Mxf8f6f4, None)],
        "2" => &[(MmaKind::Mxf4, None), (MmaKind::Mxf4nvf4, Some(ScaleVector::Block32))],
        _ => &[(MmaKind::Mxf4nvf4, Some(ScaleVector::Block16))],
    };
    let code = |name: &str| match name {
        "e4m3" => 0,
        "e5m2" | "e2m1" => 1,
        other => panic!("{other}"),
    };
    let mut all = Vec::new();
    for (kind, scales) in kinds {
        for sparse in [false, true] {
            let form = TensorForm {
                kind: *kind,
                scales: *scales,
                sparse,
                stationary: false,
                pair: false,
                shifted: false,
            };
            let powers = u32::from(*scale == "ue8m0");
            // 128 x 64.
            let bits =
                u32::from(sparse) << 2 | code(a) << 7 | code(b) << 10 | 8 << 17 | powers << 23 | 1 << 27;
            let product = form.decode(bits).unwrap_or_else(|bad| panic!("{kind:?} {bits:#x}: {bad}"));
            all.push((*kind, product));
        }
    }
    all
}

/// Eight rows at a time on the diagonal of what a quarter of the lanes multiplies. Of a sparse A they are what is kept, and the rows of B between are
/// others.
fn differing_in_tensor_memory(product: &TensorProduct, rows: &[Row<'_>]) -> Vec<String> {
    let (k, kept) = (product.shape[2], product.kept());
    let mut wrong = Vec::new();
    for rows in rows.chunks(8) {
        let row = |at: usize| &rows[at.min(rows.len() - 1)];
        let a: Vec<u32> = (0..8).flat_map(|m| row(m).a.iter().copied()).collect();
        // Chunks keep the first and the last, or the two in the middle: elements, or pairs of them.
        let sparse = product.sparsity.is_some();
        let chunks = product.chunks();
        let nibble = |chunk: usize| [0b1100, 0b1001][chunk % 2];
        let per_pick = k.checked_div(chunks).map_or(1, |chunk| chunk / 4);
        let stands = |i: usize| {
            if !sparse {
                return i;
            }
            let (chunk, within) = (i / (2 * per_pick), i % (2 * per_pick));
            let pick = nibble(chunk) >> (2 * (within / per_pick)) & 3;
            chunk * 4 * per_pick + pick as usize * per_pick + within % per_pick
        };
        let mut b = vec![row(0).b[0]; k * 8];
        for i in 0..kept {
            (0..8).for_each(|n| b[stands(i) * 8 + n] = row(n).b[i]);
        }
        let metadata: Vec<u32> = (0..8).flat_map(|_| (0..chunks).map(nibble)).collect();
        let side = |which: usize| -> Vec<u8> {
            let of = |m: usize| row(m).scales.as_ref().map_or(&[][..], |s| &s[which][..]);
            (0..8).flat_map(|m| of(m).iter().map(|s| *s as u8)).collect()
        };
        let (of_a, of_b) = (side(0), side(1));
        let quarter = QuarterProduct {
            shape: [8, 8],
            a: &a,
            b: &b,
            metadata: &metadata,
            scales: [&of_a, &of_b],
            halvings: 0,
        };
        let mut d: Vec<u32> = (0..64).map(|at| row(at / 8).c).collect();
        let arithmetic = Arithmetic::Hardware(Architecture::Blackwell);
        let done = product.run(arithmetic, Level::of_host(), &quarter, &mut d);
        assert_eq!(done, Ok(()));
        for (m, row) in rows.iter().enumerate().filter(|(m, row)| d[m * 9] != row.d) {
            wrong.push(format!("{:x} instead of {}", d[m * 9], row.line));
        }
    }
    wrong
}

#[test]
fn scaled_vectors_in_tensor_memory() {
    let mut text = String::new();
    GzDecoder::new(VECTORS).read_to_string(&mut text).unwrap();
    let groups = groups(&text);
    let mut seen = 0;
    for (key, rows) in groups.iter().filter(|(key, _)| key[6] != "-") {
        for (kind, product) in scaled_tensor_products(key) {
            let wrong = differing_in_tensor_memory(&product, rows);
            let sparse = product.sparsity.is_some();
            assert!(wrong.is_empty(), "{kind:?}, sparse: {sparse}: {} differ; {}", wrong.len(), wrong[0]);
            seen += rows.len();
        }
    }
    assert!(seen >= 2000, "{seen} elements");
}
