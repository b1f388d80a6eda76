//! Arrays of so many elements that they are held in memory, not in registers.

use super::values::Flavour;
use super::{Config, Generator};
use arbitrary::{Result, Unstructured};
use warpsmith_ir::{FuncId, FuncKind, Function, Inline, InstBuilder, IntCC, Module, Param, Type, Value};

/// Elements of such an array: more than are held in registers, and an odd number of them.
pub(super) const ELEMENTS: u64 = 37;

/// A function that takes such an array and a number, and gives another array.
pub(super) fn add(
    u: &mut Unstructured,
    config: &Config,
    flavour: &Flavour,
    module: &mut Module,
    helpers: usize,
) -> Result<FuncId> {
    let element = *u.choose(&[Type::I8, Type::I16, Type::I32])?;
    let ty = module.types.array(element, ELEMENTS);
    let params = vec![Param::new(ty), Param::new(Type::I32)];
    let mut function = Function::new(format!("helper{helpers}"), FuncKind::Func, params, vec![ty]);
    if u.ratio(2, 3)? {
        function.attrs.inline = Inline::Never;
    }
    let id = module.add_function(function);
    let mut generator = Generator::new(u, config, flavour, module, id, &[]);
    let entry = generator.b.entry_block();
    let params = generator.b.block_params(entry).to_vec();
    generator.values.push(params[1]);
    let array = generator.changed(params[0], element)?;
    let array = generator.changed(array, element)?;
    generator.b.ins().ret(&[array]);
    super::finish(generator);
    Ok(id)
}

impl Generator<'_, '_, '_> {
    /// Arrays that a loop changes and exchanges, of which a function makes another and a condition chooses one.
    pub(super) fn bulky(&mut self, function: FuncId) -> Result<()> {
        let ty = self.b.module().functions[function].ret[0];
        let Some((element, _)) = self.b.module().types.field(ty, 0) else { return Ok(()) };
        let zero = self.b.ins().zero(ty);
        let (one, other) = (self.changed(zero, element)?, self.changed(zero, element)?);
        let rounds = self.below_eight()?;
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let [a, b] = [ty; 2].map(|ty| self.b.append_block_param(head, ty));
        let count = self.b.append_block_param(head, Type::I32);
        let (nothing, step) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        self.b.ins().jump(head, &[one, other, nothing]);

        self.b.switch_to_block(head);
        let new = if self.u.ratio(1, 2)? { self.changed(a, element)? } else { a };
        let next = self.b.ins().iadd(count, step);
        let goes_on = self.b.ins().icmp(IntCC::Slt, next, rounds);
        self.b.ins().brif(goes_on, head, &[b, new, next], done, &[]);

        self.b.switch_to_block(done);
        let mut result = new;
        if self.u.ratio(1, 2)? {
            let condition = self.condition()?;
            result = self.b.ins().select(condition, new, b);
        }
        if self.u.ratio(1, 2)? {
            let number = self.value(Type::I32)?;
            let given = self.b.call(function, &[result, number]);
            result = given.get(0).expect("it returns an array");
        }
        // The last element, which is not all of a word that moves several, and others.
        for n in [ELEMENTS - 1, self.place_in_array()?, self.place_in_array()?] {
            let value = self.b.ins().extract_value(element, result, &[n as u32]);
            self.values.push(value);
        }
        Ok(())
    }

    /// The first elements and the last are those that are changed and looked at.
    fn place_in_array(&mut self) -> Result<u64> {
        let n = self.u.int_in_range(0..=2)?;
        Ok(if self.u.ratio(1, 2)? { n } else { ELEMENTS - 1 - n })
    }

    /// The array with another element.
    fn changed(&mut self, array: Value, element: Type) -> Result<Value> {
        let (n, value) = (self.place_in_array()?, self.value(element)?);
        Ok(self.b.ins().insert_value(array, value, &[n as u32]))
    }
}
