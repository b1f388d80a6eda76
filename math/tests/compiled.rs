//! Each function through the compiler gives the bits that the IR means; and `docs/math.md`, whose table is made from what is measured. With
//! `NVCC` naming nvcc, that of CUDA's functions is measured too.

mod common;

use common::Harness;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use warpsmith_ir::Type;
use warpsmith_math::Function;

/// Operands of each kind: usual ones, ends, and what is not a number.
fn operands(function: Function) -> Vec<Vec<u64>> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -0.7,
        0.99,
        1.7,
        2.5,
        -3.2,
        9.5,
        40.0,
        -80.5,
        1e5,
        3e7,
        1e-9,
        f64::INFINITY,
        f64::NAN,
    ];
    let bits = |x: f64| match function.ty() {
        Type::F64 => x.to_bits(),
        Type::F32 => u64::from((x as f32).to_bits()),
        // The upper half of an f32 is a bf16, and some f16 or other.
        _ => u64::from((x as f32).to_bits() >> 16),
    };
    let (params, _) = function.signature();
    let mut columns = Vec::new();
    for (n, ty) in params.iter().enumerate().filter(|(_, ty)| **ty != Type::PTR) {
        let column = (0..floats.len() * 7).map(|i| match *ty {
            Type::I32 => u64::from((i as i32 % 13 - 6).cast_unsigned()),
            _ => bits(
                floats[(i * (n * 4 + 1) + n) % floats.len()]
                    * if n == 0 { 1.0 } else { 1.0 + i as f64 / 50.0 },
            ),
        });
        columns.push(column.collect());
    }
    columns
}

#[test]
fn compiled_functions_give_what_the_ir_means() {
    let mut count = 0;
    for function in Function::all() {
        let operands = operands(function);
        let (meant, _) = Harness::new(function).run(&operands);
        let (found, _) = Harness::compiled(function).run(&operands);
        for (column, (meant, found)) in meant.iter().zip(&found).enumerate() {
            for (n, (m, f)) in meant.iter().zip(found).enumerate() {
                let at: Vec<String> = operands.iter().map(|c| format!("{:x}", c[n])).collect();
                let same = m == f
                    || function.ty() != Type::BF16 && common::distance(function.ty(), *m, *f) == 0
                    || nan(function.ty(), *m, *f);
                assert!(
                    same,
                    "{function:?}({}), result {column}: {m:x} is meant, {f:x} found",
                    at.join(", ")
                );
            }
        }
        count += 1;
    }
    assert!(count > 200, "{count}");
}

fn nan(ty: Type, a: u64, b: u64) -> bool {
    ty == Type::BF16 && [a, b].iter().all(|v| v & 0x7fff > 0x7f80)
}

/// Operands from 0.5 to 20 for each parameter that is not a pointer.
fn usual(function: Function, count: usize) -> Vec<Vec<u64>> {
    let (params, _) = function.signature();
    let value = |i: usize| 0.5 + 19.5 * i as f64 / count as f64;
    let of = |ty: &Type, i: usize| match *ty {
        Type::I32 => (i % 7) as u64,
        Type::F64 => value(i).to_bits(),
        _ => u64::from((value(i) as f32).to_bits()),
    };
    let operands = params.iter().filter(|ty| **ty != Type::PTR);
    operands
        .enumerate()
        .map(|(n, ty)| (0..count).map(|i| of(ty, (i * (1 + 36 * n)) % count)).collect())
        .collect()
}

/// Instructions that a thread executes in one call, those of the same kernel around `fabs` taken off: the mean over the usual operands.
fn cost(function: Function, harness: &Harness, around: &Harness) -> u64 {
    let count = 256;
    let columns = usual(function, count);
    let per_thread =
        |harness: &Harness, columns: &[Vec<u64>]| harness.run(columns).1.thread_instructions / count as u64;
    per_thread(harness, &columns).saturating_sub(per_thread(around, &columns[..1])) + 1
}

/// The cost of ours at O2.
fn own_cost(function: Function) -> u64 {
    let around = Function::new("fabs", function.ty()).unwrap();
    cost(function, &Harness::compiled(function), &Harness::compiled(around))
}

/// What CUDA C calls a function of `f32` or `f64`.
fn cuda_name(function: Function) -> Option<String> {
    let name = function.name();
    if let Some(fast) = name.strip_prefix("fast_") {
        let known = ["sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow"];
        return match fast {
            "div" => Some("__fdividef".to_owned()),
            _ => known.contains(&fast).then(|| format!("__{fast}f")),
        };
    }
    if name == "powi" {
        return None;
    }
    Some(match function.ty() {
        Type::F32 if name == "ilogb" => "ilogbf".to_owned(),
        Type::F32 => format!("{name}f"),
        _ => name.to_owned(),
    })
}

/// A CUDA kernel that calls a function, with the parameters of the kernels of [`Harness`].
fn cuda_kernel(function: Function) -> Option<String> {
    let called = cuda_name(function)?;
    let (params, ret) = function.signature();
    let c = |ty: Type| match ty {
        Type::F64 => "double",
        Type::I32 => "int",
        _ => "float",
    };
    // Of the functions with a second result, `frexp` alone has an integer.
    let pointee = if function.name() == "frexp" { "int" } else { c(function.ty()) };
    let (mut arrays, mut args) = (Vec::new(), Vec::new());
    for (n, ty) in params.iter().filter(|ty| **ty != Type::PTR).enumerate() {
        arrays.push(format!("const char *a{n}"));
        args.push(format!("*(const {} *)(a{n} + 8 * i)", c(*ty)));
    }
    for n in 0..params.iter().filter(|ty| **ty == Type::PTR).count() {
        arrays.push(format!("char *p{n}"));
        args.push(format!("({pointee} *)(p{n} + 8 * i)"));
    }
    let call = format!("{called}({})", args.join(", "));
    let body = ret.map_or(format!("{call};"), |ty| format!("*({} *)(r + 8 * i) = {call};", c(ty)));
    arrays.extend(ret.map(|_| "char *r".to_owned()));
    Some(format!(
        "extern \"C\" __global__ void {}(unsigned n, {}) {{\n  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  \
         if (i < n) {{ {body} }}\n}}\n",
        function.symbol(),
        arrays.join(", "),
    ))
}

/// The costs of CUDA's functions, by symbol, in what the nvcc that `NVCC` names makes of them. `None` without one.
fn cuda_costs() -> Option<BTreeMap<String, u64>> {
    let nvcc = std::env::var_os("NVCC")?;
    let functions: Vec<Function> = Function::all()
        .filter(|f| matches!(f.ty(), Type::F32 | Type::F64) && cuda_name(*f).is_some())
        .collect();
    let folder = std::env::temp_dir().join(format!("warpsmith-math-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("calls.cu");
    std::fs::write(&source, functions.iter().filter_map(|f| cuda_kernel(*f)).collect::<String>()).unwrap();
    let ptx = folder.join("calls.ptx");
    let status =
        std::process::Command::new(nvcc).args(["-arch=sm_90", "-ptx", "-o"]).arg(&ptx).arg(&source).status();
    assert!(status.unwrap().success(), "nvcc takes {}", source.display());
    let text = std::fs::read_to_string(&ptx).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let module = warpsmith_ptx::ValidatedModule::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let program = warpsmith_interp::Program::load(&module).unwrap_or_else(|e| panic!("{e}"));
    let harness = |f: Function| Harness::of_program(program.clone(), f, f.symbol());
    let costs = functions.iter().map(|f| {
        let around = Function::new("fabs", f.ty()).unwrap();
        (f.symbol(), cost(*f, &harness(*f), &harness(around)))
    });
    Some(costs.collect())
}

#[test]
fn the_table_in_the_docs_is_what_is_measured() {
    let mut table = String::from(
        "| Function | ulp `f32` | CUDA | ulp `f64` | CUDA | instructions `f32` | libdevice | `f64` | libdevice |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/math.md");
    let page = std::fs::read_to_string(path).unwrap();
    let cuda = cuda_costs();
    // Without nvcc its columns stay as they are.
    let cuda_cost = |function: Option<Function>, row: &str, column: usize| match (&cuda, function) {
        (Some(costs), function) => {
            let cost = function.and_then(|f| costs.get(&f.symbol()));
            cost.map_or("-".to_owned(), u64::to_string)
        }
        (None, _) => {
            let line = page.lines().find(|line| line.starts_with(row)).unwrap_or_default();
            line.split('|').nth(column).unwrap_or("-").trim().to_owned()
        }
    };
    let singles = Function::all().filter(|f| f.ty() == Type::F32);
    for f32 in singles {
        let f64 = Function::new(f32.name(), Type::F64);
        let number = |n: Option<u32>| n.map_or("-".into(), |n| n.to_string());
        let (params, ret) = f32.signature();
        let params: Vec<String> =
            params.iter().map(|ty| if *ty == Type::F32 { "T".into() } else { ty.to_string() }).collect();
        let ret = ret.map_or(String::new(), |ty| {
            format!(" -> {}", if ty == Type::F32 { "T".into() } else { ty.to_string() })
        });
        let costs = [Some(f32), f64].map(|f| f.map_or("-".into(), |f| own_cost(f).to_string()));
        let row = format!("| `{}({}){ret}` |", f32.name(), params.join(", "));
        let theirs = [cuda_cost(Some(f32), &row, 7), cuda_cost(f64, &row, 9)];
        writeln!(
            table,
            "{row} {} | {} | {} | {} | {} | {} | {} | {} |",
            number(f32.ulp()),
            number(f32.cuda_ulp()),
            number(f64.and_then(Function::ulp)),
            number(f64.and_then(Function::cuda_ulp)),
            costs[0],
            theirs[0],
            costs[1],
            theirs[1],
        )
        .unwrap();
    }
    let (begin, end) = (
        "<!-- functions: written by `BLESS=1 cargo test -p warpsmith-math --test compiled` -->\n",
        "<!-- end -->",
    );
    let (head, rest) = page.split_once(begin).expect("the page marks its table");
    let (found, tail) = rest.split_once(end).expect("the page marks the end of its table");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, format!("{head}{begin}{table}{end}{tail}")).unwrap();
    } else {
        // What a call costs changes with the compiler; the names and errors are this library's.
        let without_costs = |table: &str| -> Vec<String> {
            let errors = |line: &str| line.split('|').take(6).collect::<Vec<_>>().join("|");
            table.lines().map(errors).collect()
        };
        assert_eq!(without_costs(found), without_costs(&table), "BLESS=1 writes the table");
    }
}
