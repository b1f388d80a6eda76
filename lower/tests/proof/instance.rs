//! A rule at types: its terms with every operation resolved to what computes it.

use warpsmith_ir::{InstData, IntCC, Opcode, OperandRule, ResultRule, Type, TypeSet, Value, meaning};
use warpsmith_lower::rules::{Condition, Fact, Kind, Operation, Rule, Term, matching};
use warpsmith_semantics::{Plan, Width};

/// What a point gives values for: those of the rule's numbers that are operands, then what is known of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    Value(u8),
    Constant(u8),
    Zeros(u8),
    Ones(u8),
    Demanded,
}

/// A rule at types.
pub struct Instance {
    pub rule: &'static Rule,
    /// What points give values for, and its types.
    pub variables: Vec<(Variable, Type)>,
    pub root: Type,
    nodes: Vec<Node>,
    conditions: Vec<usize>,
    pattern: usize,
    replacement: usize,
    /// The nodes of values that are numbered, and those of the pattern.
    numbered: [Option<usize>; 12],
    pattern_nodes: Vec<usize>,
    /// The types of the pattern's operations, by where they are in memory.
    types: Vec<(*const Operation, Type)>,
    /// Conversions whose type is chosen, in the order they are met.
    choices: Vec<Type>,
    chosen: usize,
    kinds: [Option<Type>; 6],
}

struct Node {
    ty: Type,
    what: What,
    /// Computed when the rule is applied, where no NaN can be made.
    constant: bool,
}

enum What {
    Variable(usize),
    Bits(u128),
    Integer(Opcode, Vec<usize>),
    Compare(IntCC, usize, usize),
    Select([usize; 3]),
    Resize { signed: bool, arg: usize },
    Plan(Box<Plan>, Vec<usize>),
    Divides(usize),
    Log2(usize),
    Reciprocal(usize),
}

/// Why a rule is not at these types.
pub enum Refused {
    /// They are not types of its operations.
    Types,
    /// An operation has no meaning without memory.
    Meaning(Opcode),
}

fn is_converted(operation: &Operation) -> bool {
    operation.op.info().result.takes_suffix()
}

/// How many conversions of a pattern have a type of their own.
pub fn conversions(term: &Term) -> usize {
    let mut count = 0;
    term.walk(&mut |term| {
        count += usize::from(matches!(term, Term::Op(operation) if is_converted(operation)))
    });
    count
}

impl Instance {
    /// The rule with these types for its values, by number, and for the results of its conversions.
    pub fn new(
        rule: &'static Rule,
        values: &[Option<Type>; 12],
        choices: &[Type],
    ) -> Result<Instance, Refused> {
        let mut instance = Instance {
            rule,
            variables: Vec::new(),
            root: Type::INVALID,
            nodes: Vec::new(),
            conditions: Vec::new(),
            pattern: 0,
            replacement: 0,
            numbered: [None; 12],
            pattern_nodes: Vec::new(),
            types: Vec::new(),
            choices: choices.to_vec(),
            chosen: 0,
            kinds: [None; 6],
        };
        instance.pattern = instance.term(&rule.pattern, None, true, values)?;
        instance.pattern_nodes = (0..instance.nodes.len()).collect();
        instance.root = instance.nodes[instance.pattern].ty;
        instance.conditions = rule
            .conditions
            .iter()
            .map(|term| instance.term(term, Some(Type::I1), false, values))
            .collect::<Result<_, _>>()?;
        let wrong = instance.conditions.iter().any(|&n| instance.nodes[n].ty != Type::I1);
        instance.replacement = instance.term(&rule.replacement, Some(instance.root), false, values)?;
        // A value of another type is not a replacement: the engine refuses it, too.
        if wrong || instance.nodes[instance.replacement].ty != instance.root {
            return Err(Refused::Types);
        }
        Ok(instance)
    }

    fn add(&mut self, ty: Type, what: What, constant: bool) -> usize {
        self.nodes.push(Node { ty, what, constant });
        self.nodes.len() - 1
    }

    fn variable(&mut self, variable: Variable, ty: Type, constant: bool) -> usize {
        let at = self.variables.iter().position(|(known, _)| *known == variable).unwrap_or_else(|| {
            self.variables.push((variable, ty));
            self.variables.len() - 1
        });
        self.add(ty, What::Variable(at), constant)
    }

    fn is_of(&mut self, kind: Option<Kind>, ty: Type) -> Result<(), Refused> {
        let holds = match kind {
            None => true,
            Some(Kind::Fixed(fixed)) => fixed == ty,
            Some(Kind::Variable(n)) => *self.kinds[usize::from(n)].get_or_insert(ty) == ty,
        };
        if holds { Ok(()) } else { Err(Refused::Types) }
    }

    fn term(
        &mut self,
        term: &Term,
        expected: Option<Type>,
        matching: bool,
        values: &[Option<Type>; 12],
    ) -> Result<usize, Refused> {
        match *term {
            Term::Value(n, kind) | Term::Constant(n, kind) => {
                if let Some(node) = self.numbered[usize::from(n)] {
                    self.is_of(kind, self.nodes[node].ty)?;
                    return Ok(node);
                }
                let ty = values[usize::from(n)].ok_or(Refused::Types)?;
                self.is_of(kind, ty)?;
                let constant = matches!(term, Term::Constant(..));
                if constant && !(ty.is_int() || ty.is_float()) {
                    return Err(Refused::Types);
                }
                let variable = if constant { Variable::Constant(n) } else { Variable::Value(n) };
                let node = self.variable(variable, ty, constant);
                self.numbered[usize::from(n)] = Some(node);
                Ok(node)
            }
            Term::Int(value) => {
                let ty = expected.filter(|ty| ty.is_int()).ok_or(Refused::Types)?;
                Ok(self.add(ty, What::Bits(value as u64 as u128 & mask(ty)), true))
            }
            Term::Float(value) => {
                let ty = expected.filter(|ty| ty.is_float()).ok_or(Refused::Types)?;
                Ok(self.add(ty, What::Bits(float_bits(ty, value)), true))
            }
            Term::Fact(fact, n) => self.fact(fact, n),
            Term::Op(operation) => self.operation(operation, expected, matching, values),
        }
    }

    fn fact(&mut self, fact: Fact, n: u8) -> Result<usize, Refused> {
        if fact == Fact::Demanded {
            return Ok(self.variable(Variable::Demanded, self.root, true));
        }
        let node = self.numbered[usize::from(n)].ok_or(Refused::Types)?;
        let ty = self.nodes[node].ty;
        Ok(match fact {
            Fact::Bits => self.add(Type::I32, What::Bits(ty.bits().into()), true),
            Fact::SignBit => self.add(ty, What::Bits(1 << (ty.bits() - 1)), true),
            Fact::Zeros | Fact::Ones if !ty.is_int() => return Err(Refused::Types),
            Fact::Zeros => self.variable(Variable::Zeros(n), ty, true),
            Fact::Ones => self.variable(Variable::Ones(n), ty, true),
            Fact::Once | Fact::Wraps | Fact::Keeps => self.add(Type::I1, What::Bits(1), true),
            Fact::Divides => self.add(Type::I1, What::Divides(node), true),
            Fact::Log2 => self.add(Type::I32, What::Log2(node), true),
            Fact::Reciprocal => self.add(Type::I1, What::Reciprocal(node), true),
            Fact::Demanded => unreachable!("it is of no value"),
        })
    }

    fn operation(
        &mut self,
        operation: &Operation,
        expected: Option<Type>,
        matching: bool,
        values: &[Option<Type>; 12],
    ) -> Result<usize, Refused> {
        let info = operation.op.info();
        assert_eq!(operation.args.len(), info.operands.len(), "{}: {}", self.rule.name, info.name);
        let choice = is_converted(operation) && matching;
        let choice = choice.then(|| {
            self.chosen += 1;
            self.choices[self.chosen - 1]
        });
        // Operands first that say what `T` is, then literals.
        let mut args: Vec<Option<usize>> = vec![None; operation.args.len()];
        let mut t = None;
        let literal = |term: &Term| matches!(term, Term::Int(_) | Term::Float(_));
        for (n, (arg, rule)) in operation.args.iter().zip(info.operands).enumerate() {
            if *rule == OperandRule::T && !literal(arg) && !needs_place(arg) {
                let node = self.term(arg, None, matching, values)?;
                t = t.or(Some(self.nodes[node].ty));
                args[n] = Some(node);
            }
        }
        if info.result == ResultRule::T {
            t = t.or(expected);
        }
        for (n, (arg, rule)) in operation.args.iter().zip(info.operands).enumerate() {
            if args[n].is_some() {
                continue;
            }
            let place = match rule {
                OperandRule::T => t,
                OperandRule::Bools => Some(Type::I1),
                OperandRule::I32 | OperandRule::Amount => Some(Type::I32),
                OperandRule::I64 | OperandRule::Offset => Some(Type::I64),
                _ => None,
            };
            let node = self.term(arg, place, matching, values)?;
            if *rule == OperandRule::T {
                t = t.or(Some(self.nodes[node].ty));
            }
            args[n] = Some(node);
        }
        let args: Vec<usize> = args.into_iter().flatten().collect();
        for (node, rule) in args.iter().zip(info.operands) {
            let ty = self.nodes[*node].ty;
            let fits = match rule {
                OperandRule::T => Some(ty) == t,
                OperandRule::Bools => ty == Type::I1,
                OperandRule::I32 | OperandRule::Amount => ty == Type::I32,
                OperandRule::I64 => ty == Type::I64,
                OperandRule::Offset => [Type::I32, Type::I64].contains(&ty),
                _ => return Err(Refused::Meaning(operation.op)),
            };
            if !fits {
                return Err(Refused::Types);
            }
        }
        let suffix = match operation.ty {
            Some(kind) if matching => {
                let ty = choice.ok_or(Refused::Types);
                let ty =
                    ty.or_else(
                        |refused| if info.result == ResultRule::T { t.ok_or(refused) } else { Err(refused) },
                    )?;
                self.is_of(Some(kind), ty)?;
                Some(ty)
            }
            Some(Kind::Fixed(ty)) => Some(ty),
            Some(Kind::Variable(n)) => self.kinds[usize::from(n)],
            None => choice.or(expected),
        };
        let result = match info.result {
            ResultRule::T => t,
            ResultRule::Bools => Some(Type::I1),
            ResultRule::I64 => Some(Type::I64),
            _ => suffix,
        };
        let ty = result.ok_or(Refused::Types)?;
        let t = t.unwrap_or(Type::I64);
        if info.types != TypeSet::Any && !info.types.contains(t)
            || info.result.takes_suffix() && !info.result.allows(info.types, t, ty)
        {
            return Err(Refused::Types);
        }
        // The verifier's rule.
        if operation.op == Opcode::Bswap && !ty.bits().is_multiple_of(8) {
            return Err(Refused::Types);
        }
        let first = args.first().map_or(ty, |&arg| self.nodes[arg].ty);
        if matching && !matching::is_covered(operation.op, first, ty) {
            return Err(Refused::Types);
        }
        let constant = args.iter().all(|&arg| self.nodes[arg].constant);
        let what = self.meaning(operation, &args, ty)?;
        let node = self.add(ty, what, constant);
        if matching {
            self.types.push((operation, ty));
        }
        if let Some(bound) = operation.bound {
            self.numbered[usize::from(bound)] = Some(node);
        }
        Ok(node)
    }

    fn meaning(&self, operation: &Operation, args: &[usize], to: Type) -> Result<What, Refused> {
        let types: Vec<Type> = args.iter().map(|&arg| self.nodes[arg].ty).collect();
        let from = types[0];
        let op = operation.op;
        if let (Condition::Int(cond), true) = (operation.condition, from.is_int() && from != Type::I1) {
            return Ok(What::Compare(cond, args[0], args[1]));
        }
        if op == Opcode::Select {
            return Ok(What::Select([args[0], args[1], args[2]]));
        }
        if [Opcode::Trunc, Opcode::Zext, Opcode::Sext].contains(&op) {
            return Ok(What::Resize { signed: op == Opcode::Sext, arg: args[0] });
        }
        let zeros = vec![0; args.len()];
        if from.is_int() && to == from && meaning::integer(op, from.bits(), &zeros).is_some() {
            return Ok(What::Integer(op, args.to_vec()));
        }
        let values = [0, 1, 2].map(Value::from_u32);
        let data = match (operation.condition, args.len()) {
            (Condition::Int(cond), _) => InstData::IntCompare { cond, args: [values[0], values[1]] },
            (Condition::Float(cond), _) => InstData::FloatCompare { cond, args: [values[0], values[1]] },
            (Condition::None, 1) => InstData::Unary { op, arg: values[0] },
            (Condition::None, 2) => InstData::Binary { op, args: [values[0], values[1]] },
            (Condition::None, _) => InstData::Ternary { op, args: values },
        };
        // Pointers are compared as their addresses.
        let types: Vec<Type> = match from.is_ptr() && op == Opcode::Icmp {
            true => types.iter().map(|_| Type::I64).collect(),
            false => types,
        };
        let plan = meaning::plan(&data, &types, to).ok_or(Refused::Meaning(op))?;
        Ok(What::Plan(Box::new(plan), args.to_vec()))
    }

    /// The values of all nodes at a point. `None` where the rule does not apply: what the point says is known of values is not so, a condition does
    /// not hold, or the engine could not compute a constant.
    pub fn evaluate(&self, point: &[u128], values: &mut Vec<u128>) -> Option<()> {
        values.clear();
        self.run(0..self.pattern_nodes.len(), point, values)?;
        let known = self.variables.iter().zip(point).all(|((variable, _), mask)| match variable {
            Variable::Zeros(n) => values[self.node(*n)] & mask == 0,
            Variable::Ones(n) => values[self.node(*n)] & mask == *mask,
            Variable::Value(_) | Variable::Constant(_) | Variable::Demanded => true,
        });
        if !known {
            return None;
        }
        for &condition in &self.conditions {
            let from = values.len();
            self.run(from..from.max(condition + 1), point, values)?;
            if values[condition] == 0 {
                return None;
            }
        }
        self.run(values.len()..self.nodes.len(), point, values)
    }

    /// The value of a numbered value of the pattern.
    pub fn numbered(&self, number: u8, point: &[u128]) -> Option<u128> {
        let mut values = Vec::new();
        self.run(0..self.pattern_nodes.len(), point, &mut values)?;
        Some(values[self.node(number)])
    }

    fn run(&self, nodes: std::ops::Range<usize>, point: &[u128], values: &mut Vec<u128>) -> Option<()> {
        for node in self.nodes.get(nodes)? {
            let value = match &node.what {
                What::Variable(n) => point[*n],
                What::Bits(bits) => *bits,
                What::Integer(op, args) => {
                    let mut operands = [0; 3];
                    args.iter().zip(&mut operands).for_each(|(&arg, operand)| *operand = values[arg]);
                    meaning::integer(*op, node.ty.bits(), &operands[..args.len()])?
                }
                What::Compare(cond, a, b) => {
                    meaning::compare_integers(*cond, self.nodes[*a].ty.bits(), values[*a], values[*b]).into()
                }
                What::Select([c, a, b]) => values[if values[*c] != 0 { *a } else { *b }],
                What::Resize { signed, arg } => resize(self.nodes[*arg].ty, node.ty, *signed, values[*arg]),
                What::Plan(plan, args) => {
                    let mut operands = [0; 3];
                    args.iter().zip(&mut operands).for_each(|(&arg, operand)| *operand = values[arg]);
                    let operands = &operands[..args.len()];
                    let width =
                        if node.ty == Type::I1 { Width::Pred } else { Width::for_bits(node.ty.bits()) };
                    *plan.evaluate_to(operands, &[width])?.first()? & mask(node.ty)
                }
                What::Divides(arg) => match &self.nodes[*arg].what {
                    What::Integer(_, args) => (values[args[1]] != 0).into(),
                    _ => return None,
                },
                What::Log2(arg) => {
                    let value = values[*arg];
                    if value.is_power_of_two() { value.trailing_zeros().into() } else { return None }
                }
                What::Reciprocal(arg) => {
                    matching::has_exact_reciprocal(self.nodes[*arg].ty, values[*arg] as u64).into()
                }
            };
            if node.constant && !matches!(node.what, What::Variable(_)) && is_nan(node.ty, value) {
                return None;
            }
            values.push(value);
        }
        Some(())
    }

    /// The type of an operation of the pattern.
    pub fn type_of(&self, term: &Term) -> Option<Type> {
        let Term::Op(operation) = *term else { return None };
        self.types.iter().find(|(known, _)| std::ptr::eq(*known, operation)).map(|(_, ty)| *ty)
    }

    /// The node of a numbered value.
    pub fn node(&self, number: u8) -> usize {
        self.numbered[usize::from(number)].expect("a number of the pattern")
    }

    /// What the pattern and the replacement are.
    pub fn sides(&self, values: &[u128]) -> (u128, u128) {
        (values[self.pattern], values[self.replacement])
    }

    /// The float values of the pattern.
    pub fn floats<'a>(&'a self, values: &'a [u128]) -> impl Iterator<Item = (Type, u128)> + 'a {
        self.pattern_nodes.iter().map(|&n| (self.nodes[n].ty, values[n])).filter(|(ty, _)| ty.is_float())
    }
}

/// True for terms whose type their place says.
pub fn needs_place(term: &Term) -> bool {
    match term {
        Term::Value(..) | Term::Constant(..) | Term::Fact(..) => false,
        Term::Int(_) | Term::Float(_) => true,
        Term::Op(operation) => match operation.op.info().result {
            ResultRule::T => {
                let of_t = operation.args.iter().zip(operation.op.info().operands);
                of_t.filter(|(_, rule)| **rule == OperandRule::T).all(|(arg, _)| needs_place(arg))
            }
            result => result.takes_suffix() && operation.ty.is_none(),
        },
    }
}

/// All bits of a type.
pub fn mask(ty: Type) -> u128 {
    u128::MAX >> (128 - ty.bits())
}

fn resize(from: Type, to: Type, signed: bool, value: u128) -> u128 {
    let unused = 128 - from.bits();
    let wide = if signed { ((value << unused) as i128 >> unused) as u128 } else { value };
    wide & mask(to)
}

/// The bits of a number in a float format.
pub fn float_bits(ty: Type, value: f64) -> u128 {
    match ty {
        Type::F64 => value.to_bits().into(),
        Type::F32 => (value as f32).to_bits().into(),
        _ => {
            let data = InstData::Unary { op: Opcode::Fptrunc, arg: Value::from_u32(0) };
            let plan = meaning::plan(&data, &[Type::F64], ty).expect("a narrower float");
            plan.evaluate(&[value.to_bits().into()]).expect("a value")[0] & mask(ty)
        }
    }
}

/// The number that bits are.
pub fn float_value(ty: Type, bits: u128) -> f64 {
    match ty {
        Type::F64 => f64::from_bits(bits as u64),
        Type::F32 | Type::TF32 => f32::from_bits(bits as u32).into(),
        _ => {
            // The formats of less than 16 bits are extended in two steps.
            let wider = match ty {
                Type::F16 | Type::BF16 => Type::F64,
                Type::UE8M0 => Type::BF16,
                _ => Type::F16,
            };
            let data = InstData::Unary { op: Opcode::Fpext, arg: Value::from_u32(0) };
            let plan = meaning::plan(&data, &[ty], wider).unwrap_or_else(|| panic!("no {wider} from {ty}"));
            let value = plan.evaluate(&[bits]).expect("a value")[0] & mask(wider);
            if wider == Type::F64 { f64::from_bits(value as u64) } else { float_value(wider, value) }
        }
    }
}

pub fn is_nan(ty: Type, bits: u128) -> bool {
    match ty {
        Type::F64 => f64::from_bits(bits as u64).is_nan(),
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F16 => bits & 0x7fff > 0x7c00,
        Type::BF16 => bits & 0x7fff > 0x7f80,
        _ => ty.is_float() && float_value(ty, bits).is_nan(),
    }
}
