//! Operands of forms.

use super::*;

impl Reader {
    /// `d, a, [b] {, c}`
    pub(super) fn operands(&self, c: &mut Cursor, out: &mut Vec<Operand>) -> Result<()> {
        let mut depth = 0;
        loop {
            // `{, c}` may be left out, `{a, b}` is an operand.
            let optional = c.peek().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(','));
            if optional {
                c.expect("{")?;
                c.expect(",")?;
                depth += 1;
            } else if !out.is_empty() && !c.eat(",") {
                break;
            }
            let mut operand = self.operand(c)?;
            if depth > 0 && operand.presence == Presence::Always {
                operand.presence = Presence::Optional;
            }
            if depth > 0 {
                operand.gates.extend(gates(c)?);
            }
            out.push(operand);
            while depth > 0 && c.eat("}") {
                depth -= 1;
            }
        }
        if depth > 0 { c.expected("`}`") } else { Ok(()) }
    }

    fn operand(&self, c: &mut Cursor) -> Result<Operand> {
        if c.eat("[") {
            let mut inner = Vec::new();
            let name = c.word("an address name")?.to_string();
            let shape = self.address(c)?;
            inner.push(Operand { name: name.clone(), shape, presence: Presence::Always, gates: Vec::new() });
            while c.peek().starts_with(',') || c.peek().starts_with('{') {
                let optional = c.eat("{");
                c.expect(",")?;
                let mut operand = self.operand(c)?;
                if optional {
                    operand.gates = gates(c)?;
                    c.expect("}")?;
                    operand.presence = Presence::Optional;
                }
                inner.push(operand);
            }
            c.expect("]")?;
            let shape = if inner.len() == 1 { inner.remove(0).shape } else { Shape::Bracket(inner) };
            let shape = if let Shape::Address(address) = shape {
                Shape::Address(address_flags(c, address)?)
            } else {
                shape
            };
            return Ok(Operand { name, shape, presence: presence(c)?, gates: Vec::new() });
        }
        if c.eat("{") {
            let mut inner = vec![self.operand(c)?];
            while c.eat(",") {
                inner.push(self.operand(c)?);
            }
            c.expect("}")?;
            let name = inner.iter().map(|o| o.name.as_str()).collect::<Vec<_>>().join("-");
            return Ok(Operand {
                name,
                shape: Shape::Tuple(inner),
                presence: presence(c)?,
                gates: Vec::new(),
            });
        }
        for (word, shape) in [
            ("label", Shape::Label),
            ("callee", Shape::Callee),
            ("results", Shape::Results),
            ("arguments", Shape::Arguments),
            ("list", Shape::List),
        ] {
            if c.eat_word(word) {
                return Ok(Operand {
                    name: word.to_string(),
                    shape,
                    presence: presence(c)?,
                    gates: Vec::new(),
                });
            }
        }
        let immediate_only = c.eat_word("imm");
        let name = c.word("an operand name")?.to_string();
        let mut first = self.value(c, &name, immediate_only)?;
        let mut needs = Vec::new();
        let optional = c.peek().starts_with("{|");
        if optional {
            c.expect("{")?;
        }
        let shape = if c.eat("|") {
            first.destination = true;
            let second_name = c.word("an operand name")?;
            let second = self.value(c, second_name, false)?;
            if optional {
                needs = gates(c)?;
                c.expect("}")?;
            }
            Shape::Pair { first: first.into(), second: second.into(), second_optional: optional }
        } else {
            Shape::Value(first)
        };
        Ok(Operand { name, shape, presence: presence(c)?, gates: needs })
    }

    /// What follows the name of an address: nothing, `:.slot`, or `:shared` / `:global,shared`.
    fn address(&self, c: &mut Cursor) -> Result<Shape> {
        let named = c.eat(":");
        let space = if named { self.space(c)? } else { Space::Slot("space".into()) };
        Ok(Shape::Address(Address { space, flags: Vec::new(), align: 1 }))
    }

    /// `.slot`, `shared`, `global/shared`, `texref`
    fn space(&self, c: &mut Cursor) -> Result<Space> {
        if c.peek().starts_with('.') {
            return Ok(Space::Slot(modifier(c)?));
        }
        if c.eat_word("tensormap") {
            return Ok(Space::TensorMap);
        }
        // In tensor memory, or an endpoint or map that only a register names.
        if c.eat_word("tensor") || c.eat_word("register") {
            let class = if c.eat_word("in") { Some(c.word("a class of register types")?) } else { None };
            return match class.map(|class| (class, self.classes.get(class))) {
                None => Ok(Space::Tensor(Vec::new())),
                Some((_, Some((types, _)))) => Ok(Space::Tensor(types.clone())),
                Some((class, None)) => c.error(format!("unknown class `{class}`")),
            };
        }
        let mut spaces = Vec::new();
        loop {
            spaces.push(c.run("a state space", |ch| ch.is_ascii_alphanumeric() || ch == ':')?.to_string());
            if !c.eat("/") {
                break;
            }
        }
        let handles: Vec<_> = spaces
            .iter()
            .filter_map(|s| ScalarType::from_name(s))
            .filter(|ty| ty.class() == crate::TypeClass::Opaque)
            .collect();
        Ok(if handles.len() == spaces.len() { Space::Handle(handles) } else { Space::Fixed(spaces) })
    }

    /// What follows the name of a value: `<count>`, `:type`, `in class`, `(range)`, `+flag`, `-flag`.
    fn value(&self, c: &mut Cursor, name: &str, immediate_only: bool) -> Result<Value> {
        let destination = matches!(name, "d" | "p" | "q");
        let count = if c.adjacent() && c.eat("<") { self.count(c)? } else { Count::Scalar };
        let predicate = matches!(name, "p" | "q");
        let mut ty = if predicate { Ty::Fixed(ScalarType::Pred) } else { Ty::Instruction };
        let mut rule = Rule::Matching;
        if c.eat(":") {
            ty = self.ty(c)?;
        }
        match () {
            _ if c.eat("~") => rule = Rule::Relaxed,
            _ if c.eat("!") => rule = Rule::Exact,
            _ if c.eat("^") => rule = Rule::Texel,
            _ => {}
        }
        if c.eat_word("in") {
            let class = c.word("a class of register types")?;
            rule = match self.classes.get(class) {
                Some((types, tolerated)) => Rule::Listed(types.clone(), tolerated.clone()),
                None => return c.error(format!("unknown class `{class}`")),
            };
        }
        let space = if c.eat_word("of") { Some(self.space(c)?) } else { None };
        let bounds = |c: &mut Cursor| if c.peek().starts_with('(') { range(c).map(Some) } else { Ok(None) };
        let range = bounds(c)?;
        let tolerated = if c.eat_word("but") { bounds(c)? } else { None };
        let mut flags = Vec::new();
        loop {
            let on = match () {
                _ if c.eat("+") => true,
                _ if c.eat("-") => false,
                _ => break,
            };
            flags.push((on, c.word("a flag")?.to_string()));
        }
        Ok(Value { destination, count, ty, rule, flags, immediate_only, space, range, tolerated })
    }

    /// After `<`: `4>`, `.vec>`, `.shape/2>`, `.num*2/4>`, and for a fragment of a matrix `mk .atype>`, `mn f32/4>`.
    fn count(&self, c: &mut Cursor) -> Result<Count> {
        let count = if let Some(extent) = extent(c) {
            let ty = if c.peek().starts_with('.') {
                Ty::Slot { slot: modifier(c)?, times: 1, over: 1 }
            } else {
                Ty::Fixed(scalar(c)?)
            };
            let over = if c.eat("/") { c.number("a divisor")? } else { 1 };
            Count::Fragment { extent, ty, over }
        } else if c.peek().starts_with('.') {
            let slot = modifier(c)?;
            let times = if c.eat("*") { c.number("a factor")? } else { 1 };
            let over = if c.eat("/") { c.number("a divisor")? } else { 1 };
            let minus = if c.eat("-") { c.number("a number")? } else { 0 };
            Count::Slot { slot, times, over, minus }
        } else {
            let mut counts = vec![c.number("a count")?];
            while c.eat(",") {
                counts.push(c.number("a count")?);
            }
            if counts.len() == 1 { Count::Fixed(counts[0]) } else { Count::OneOf(counts) }
        };
        c.expect(">")?;
        Ok(count)
    }

    fn ty(&self, c: &mut Cursor) -> Result<Ty> {
        if !c.peek().starts_with('.') {
            return Ok(Ty::Fixed(scalar(c)?));
        }
        let slot = modifier(c)?;
        let times = if c.adjacent() && c.eat("*") { c.number("a factor")? } else { 1 };
        let over = if c.adjacent() && c.eat("/") { c.number("a divisor")? } else { 1 };
        Ok(Ty::Slot { slot, times, over })
    }
}

/// `+wide`, `+align 16`: what follows the bracket of an address.
fn address_flags(c: &mut Cursor, mut address: Address) -> Result<Address> {
    while c.adjacent() && c.eat("+") {
        let flag = c.word("a flag")?;
        match flag {
            "align" => address.align = c.number("an alignment")?,
            _ if ADDRESS_FLAGS.contains(&flag) => address.flags.push(flag.to_string()),
            _ => return c.error(format!("unknown address flag `{flag}`")),
        }
    }
    Ok(address)
}

fn presence(c: &mut Cursor) -> Result<Presence> {
    Ok(if c.eat("?") { Presence::With(modifier(c)?) } else { Presence::Always })
}

fn extent(c: &mut Cursor) -> Option<Extent> {
    let words = [("mk", Extent::Mk), ("kn", Extent::Kn), ("mn", Extent::Mn)];
    words.into_iter().find_map(|(word, extent)| c.eat_word(word).then_some(extent))
}

/// `(0..255)`, `(24..256 step 8)`, `(32..512 pow2)`, `(4 8 16)`, `(stride mk)`, `(from a)`, `(fraction)`
fn range(c: &mut Cursor) -> Result<Range> {
    c.expect("(")?;
    if c.eat_word("stride") {
        let extent = extent(c);
        c.expect(")")?;
        return match extent {
            Some(extent) => Ok(Range::Stride(extent)),
            None => c.expected("`mk`, `kn` or `mn`"),
        };
    }
    if c.eat_word("from") {
        let least = c.word("an operand name")?.to_string();
        c.expect(")")?;
        return Ok(Range::From(least));
    }
    if c.eat_word("fraction") {
        c.expect(")")?;
        return Ok(Range::Fraction);
    }
    let first = c.number("a bound")?;
    let range = if c.eat("..") {
        let max = c.number("a bound")?;
        if c.eat_word("pow2") {
            Range::PowerOfTwo { min: first, max }
        } else {
            let multiple = if c.eat_word("step") { c.number("a step")? } else { 1 };
            Range::Between { min: first, max, multiple }
        }
    } else {
        let mut values = vec![first];
        while !c.peek().starts_with(')') {
            values.push(c.number("a value")?);
        }
        Range::OneOf(values)
    };
    c.expect(")")?;
    Ok(range)
}
