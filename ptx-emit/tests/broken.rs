//! What a pass has broken ends in an error, in bounded time and memory, also where nothing verifies it between the passes: code is made of whatever
//! the passes leave, so that a faulty pass, which may be a user's own, must not take the machine down.

use arbitrary::Unstructured;
use warpsmith_emit::regs::Registers;
use warpsmith_emit::{Compiler, OptLevel, Pipeline};
use warpsmith_ir::{self as ir, Block, Function, Inst, Opcode, Value};
use warpsmith_isa::Target;
use warpsmith_lower::{Changes, Context, Pass};
use warpsmith_smith::ir::{self as generate, Config};

const REGISTERS: [Registers; 4] =
    [Registers::Virtual, Registers::Allocated, Registers::Local, Registers::Joined];

/// A pass that breaks a function.
struct Breaks<F>(F);

impl<F: Fn(&mut Function) + Send + Sync> Pass for Breaks<F> {
    fn name(&self) -> &'static str {
        "breaks"
    }

    fn summary(&self) -> &'static str {
        "what it leaves is not valid"
    }

    fn run(&self, func: &mut Function, _: &mut Context<'_>) -> Changes {
        (self.0)(func);
        Changes::to_all(1)
    }
}

/// The operation of a kind that there is one of.
fn only(func: &Function, op: Opcode) -> Inst {
    let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.find(|&inst| func.dfg.opcode(inst) == op).expect("the kernel has one")
}

fn result(func: &Function, op: Opcode) -> Value {
    func.dfg.first_result(only(func, op)).expect("it has a result")
}

/// Makes an operation of a kind use a value instead of its operands of that type.
fn give(func: &mut Function, op: Opcode, new: Value) {
    let inst = only(func, op);
    let ty = func.dfg.ty(new);
    let types: Vec<_> = func.dfg.values().map(|value| func.dfg.ty(value)).collect();
    func.dfg.map_uses(inst, |value| if types[value.as_u32() as usize] == ty { new } else { value });
}

/// A variable and a slot, whose addresses are folded and narrowed; a loop, two ways, an expression tree.
const KERNEL: &str = "
shared @tile: [i32; 256]

kernel @k(%p: ptr<global>, %n: i32) {
entry:
  %tile = global_addr @tile
  %long = sext.i64 %n
  %far = imul %long, 12
  %near = ptradd %tile, %far
  %at = index %near, %long, 4
  %zero = iconst.i32 0
  jump head(%zero)
head(%i: i32):
  %x = load.i32 %at
  %y = bxor %x, %i
  %next = iadd %i, %y
  %more = icmp slt %next, %n
  brif %more, head(%next), then
then:
  %z = bor %n, 4
  %c = icmp ugt %z, 7
  brif %c, odd, even
odd:
  %t = isub %z, %n
  jump out(%t)
even:
  %e = band %z, %n
  jump out(%e)
out(%sum: i32):
  store %sum, %p
  ret
}
";

type Break = fn(&mut Function);

/// How it is broken, whether a register is then without a home, and what is said.
const BROKEN: [(&str, Break, bool, &str); 9] = [
    (
        "an operand is gone",
        |func| func.layout.remove_inst(only(func, Opcode::Bxor)),
        true,
        "%y is used and not defined",
    ),
    (
        "what a branch asks is gone",
        |func| func.layout.remove_inst(only(func, Opcode::Icmp)),
        true,
        "%more is used and not defined",
    ),
    (
        "what an edge gives is gone",
        |func| func.layout.remove_inst(only(func, Opcode::Isub)),
        true,
        "%t is used and not defined",
    ),
    (
        "one of two ways",
        |func| {
            let t = result(func, Opcode::Isub);
            give(func, Opcode::Store, t)
        },
        false,
        "%t is not defined on every path",
    ),
    (
        "the other way",
        |func| {
            let t = result(func, Opcode::Isub);
            give(func, Opcode::Band, t)
        },
        false,
        "%t is not defined on every path",
    ),
    (
        "itself",
        |func| {
            let z = result(func, Opcode::Bor);
            give(func, Opcode::Bor, z)
        },
        false,
        "%z is not defined on every path",
    ),
    (
        "an address of itself",
        |func| {
            let at = result(func, Opcode::Index);
            give(func, Opcode::Index, at)
        },
        false,
        "%at is not defined on every path",
    ),
    (
        "a factor of itself",
        |func| {
            let far = result(func, Opcode::Imul);
            give(func, Opcode::Imul, far)
        },
        false,
        "%far is not defined on every path",
    ),
    (
        "a block is gone",
        |func| {
            let block = func.layout.block_of(only(func, Opcode::Isub)).expect("it is there");
            func.layout.remove_block(block)
        },
        false,
        "is not in the function",
    ),
];

#[test]
fn what_is_broken_is_named() {
    let module = ir::parse_module(KERNEL).unwrap_or_else(|errors| panic!("{errors:?}"));
    for (how, breaks, homeless, said) in BROKEN {
        for registers in REGISTERS {
            let passes = Pipeline::default().then(Breaks(breaks));
            let compiler = Compiler::new(Target::sm(90)).with_registers(registers).with_passes(passes);
            let compiled = compiler.compile(&module);
            // Without the allocator nobody looks at the order of what is there.
            let looks = matches!(registers, Registers::Allocated | Registers::Joined);
            match compiled {
                Ok(compiled) => assert!(!homeless && !looks, "{how}, {registers:?}:\n{}", compiled.text),
                Err(errors) => {
                    let messages: Vec<String> =
                        errors.iter().map(|error| format!("{} {:?}", error.message, error.notes)).collect();
                    assert!(
                        messages.iter().any(|message| message.contains(said)),
                        "{how}, {registers:?}: {messages:#?}"
                    );
                }
            }
        }
    }
}

/// Changes a function at random: what is used, what is there, and where it stands.
fn spoil(func: &mut Function, u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let insts: Vec<Inst> = blocks.iter().flat_map(|&block| func.layout.insts(block)).collect();
    for _ in 0..u.int_in_range(1..=3)? {
        let inst = *u.choose(&insts)?;
        if func.layout.block_of(inst).is_none() {
            continue;
        }
        let is_last = func.terminator(func.layout.block_of(inst).unwrap()) == Some(inst);
        match u.int_in_range(0..=5)? {
            0 if !is_last => func.layout.remove_inst(inst),
            1 if !is_last => {
                // A use of what comes later, or of itself.
                let place = *u.choose(&insts)?;
                if place != inst && func.layout.block_of(place).is_some() {
                    func.layout.remove_inst(inst);
                    func.layout.insert_inst_before(inst, place);
                }
            }
            2 => {
                let block = *u.choose(&blocks)?;
                if func.layout.is_block_inserted(block) && func.layout.entry() != Some(block) {
                    func.layout.remove_block(block);
                }
            }
            _ => {
                let uses: Vec<Value> = func.dfg.uses(inst).collect();
                if uses.is_empty() {
                    continue;
                }
                let old = *u.choose(&uses)?;
                let ty = func.dfg.ty(old);
                let all: Vec<Value> = func.dfg.values().filter(|&value| func.dfg.ty(value) == ty).collect();
                let new = match func.dfg.first_result(inst).filter(|&own| func.dfg.ty(own) == ty) {
                    Some(own) if u.ratio(1, 2)? => own,
                    _ => *u.choose(&all)?,
                };
                func.dfg.map_uses(inst, |value| if value == old { new } else { value });
            }
        }
    }
    Ok(())
}

#[test]
fn whatever_is_broken_ends() {
    arbtest::arbtest(|u: &mut Unstructured| {
        let registers = *u.choose(&REGISTERS)?;
        let level = *u.choose(&OptLevel::ALL)?;
        let bytes = u.bytes(u.len().min(64))?.to_vec();
        let module = generate::module(u, &Config::default())?;
        let spoils = Breaks(move |func: &mut Function| {
            // Without bytes left it has done all that it could.
            spoil(func, &mut Unstructured::new(&bytes)).unwrap_or_default();
        });
        let passes = Pipeline::for_level(level).then(spoils);
        let compiler = Compiler::new(Target::sm(90)).with_registers(registers).with_passes(passes);
        let broken = match compiler.compile(&module) {
            Ok(_) => return Ok(()),
            Err(errors) => errors,
        };
        assert!(broken.iter().any(|error| error.is_error()), "{broken:?}");
        Ok(())
    })
    .budget_ms(1_000);
}
