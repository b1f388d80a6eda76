//! Running functions of the library on many operands, and distances in units of the last place.
#![allow(dead_code, reason = "each of the test files uses some of it")]

pub mod reference;
mod ulp;

pub use ulp::distance;

use warpsmith_interp::{Arg, Device, Launch, Program, Stats};
use warpsmith_ir::{Module, Type};
use warpsmith_math::Function;

/// A kernel that calls a function for each thread: operands come from one array each, the results go to one array each, all of 8 bytes an element.
pub struct Harness {
    program: Program,
    function: Function,
    entry: String,
}

fn kernel(function: Function) -> String {
    let (params, ret) = function.signature();
    let operands: Vec<&Type> = params.iter().filter(|ty| **ty != Type::PTR).collect();
    let pointers = params.len() - operands.len();
    let list = |types: &mut dyn Iterator<Item = String>| types.collect::<Vec<_>>().join(", ");
    let symbol = function.symbol();
    let mut text = format!(
        "func extern @{symbol}({}){}\n",
        list(&mut params.iter().enumerate().map(|(n, ty)| format!("%p{n}: {ty}"))),
        ret.map_or(String::new(), |ty| format!(" -> {ty}")),
    );
    let arrays = operands.len() + pointers + usize::from(ret.is_some());
    text += &format!(
        "kernel @k(%n: i32, {}) {{\nentry:\n  %t = sreg.tid.x\n  %b = sreg.ctaid.x\n  %s = sreg.ntid.x\n  %m = imul %b, %s\n  %i = iadd %m, %t\n  \
         %c = icmp ult %i, %n\n  brif %c, body, done\nbody:\n",
        list(&mut (0..arrays).map(|n| format!("%a{n}: ptr<global>"))),
    );
    for n in 0..arrays {
        text += &format!("  %q{n} = index %a{n}, %i, 8\n");
    }
    let mut args = Vec::new();
    for (n, ty) in operands.iter().enumerate() {
        text += &format!("  %x{n} = load.{ty} %q{n}\n");
        args.push(format!("%x{n}"));
    }
    for n in operands.len()..operands.len() + pointers {
        text += &format!("  %g{n} = addrspacecast.ptr %q{n}\n");
        args.push(format!("%g{n}"));
    }
    let call = format!("call @{symbol}({})", args.join(", "));
    match ret {
        Some(_) => text += &format!("  %r = {call}\n  store %r, %q{}\n", arrays - 1),
        None => text += &format!("  {call}\n"),
    }
    text + "  jump done\ndone:\n  ret\n}\n"
}

impl Harness {
    pub fn new(function: Function) -> Harness {
        let module = Module::parse(kernel(function)).unwrap_or_else(|e| panic!("{e}"));
        let program = Program::from_ir(&module).unwrap_or_else(|e| panic!("{}: {e}", function.symbol()));
        Harness { program, function, entry: "k".to_owned() }
    }

    /// The same through the compiler, at its usual level.
    pub fn compiled(function: Function) -> Harness {
        let module = Module::parse(kernel(function)).unwrap_or_else(|e| panic!("{e}"));
        let compiler = warpsmith_emit::Compiler::new("sm_90".parse().ok());
        let compiled = compiler.compile(&module).unwrap_or_else(|e| panic!("{}: {e}", function.symbol()));
        let program =
            Program::load(&compiled.module).unwrap_or_else(|e| panic!("{}: {e}", function.symbol()));
        Harness { program, function, entry: "k".to_owned() }
    }

    /// A kernel of a program that calls what CUDA has for a function, with the parameters of the others.
    pub fn of_program(program: Program, function: Function, entry: String) -> Harness {
        Harness { program, function, entry }
    }

    /// The bits of each result, the one that is returned last, for the bits of the operands.
    pub fn run(&self, operands: &[Vec<u64>]) -> (Vec<Vec<u64>>, Stats) {
        let (params, ret) = self.function.signature();
        let count = operands[0].len();
        let mut device = Device::new();
        let mut launch =
            Launch::new(self.entry.as_str()).block([256, 1, 1]).grid([count.div_ceil(256) as u32, 1, 1]);
        launch = launch.arg(Arg::from(count as u32));
        for values in operands {
            launch = launch.arg(device.upload(values).unwrap());
        }
        let pointers = params.iter().filter(|ty| **ty == Type::PTR).count();
        let outputs: Vec<_> = (0..pointers + usize::from(ret.is_some()))
            .map(|_| device.upload(&vec![0u64; count]).unwrap())
            .collect();
        for output in &outputs {
            launch = launch.arg(*output);
        }
        let stats =
            device.launch(&self.program, &launch).unwrap_or_else(|e| panic!("{:?}: {e}", self.function));
        (outputs.into_iter().map(|output| device.download(output).unwrap()).collect(), stats)
    }

    /// The returned values of a function of floats.
    pub fn results(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        self.run(operands).0.pop().unwrap()
    }
}
