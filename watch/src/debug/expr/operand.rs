//! Operands: what stands between binary operators.

use super::*;

impl<'t> Parser<'t, '_> {
    pub(super) fn unary(&mut self) -> Result<Value, String> {
        let operated = !matches!(self.peek(), Some(Token::Word(_)));
        let value = self.deeper(Self::prefixed)?;
        if operated {
            self.reference = None;
        }
        Ok(value)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "as gdb does it, any number may be an address")]
    pub(super) fn prefixed(&mut self) -> Result<Value, String> {
        if self.take("-") {
            let zero = Value::int(0);
            let value = self.unary()?;
            return match value.as_float() {
                Some(float) => Value::double(-float).cast(&value.ty),
                None => self.apply("-", &zero, &value),
            };
        }
        if self.take("+") {
            return self.unary();
        }
        if self.take("!") {
            return Ok(Value::boolean(!self.unary()?.is_true()?));
        }
        if self.take("~") {
            let value = self.unary()?;
            return self.apply("^", &value, &Value::int(-1));
        }
        if self.take("*") {
            let value = decay(&self.unary()?);
            if let Some((data, count)) = value.slice() {
                let Type::Pointer(space, to) = data.ty.plain() else { return Ok(data) };
                return self.load(*space, data.bits() as u64, &Type::Array(to.clone(), count));
            }
            return match value.ty.plain() {
                Type::Function(..) => Ok(value),
                Type::Pointer(_, to) if *to.plain() == Type::Void => {
                    Err("Attempt to take contents of a non-pointer value.".into())
                }
                Type::Pointer(space, to) => self.load(*space, value.bits() as u64, to),
                // As gdb does it: a number is the address of an int.
                _ => self.load(StateSpace::Generic, value.as_int()? as u64, &Type::INT),
            };
        }
        if self.take("&") {
            let value = self.unary()?;
            if let Type::Function(..) = value.ty.plain() {
                let bits = value.bits();
                return Ok(Value::new(Type::Pointer(StateSpace::Generic, Box::new(value.ty)), bits));
            }
            let Some(Location::Memory(space, address)) = value.at else {
                return Err("Attempt to take address of value not located in memory.".into());
            };
            return Ok(Value::new(Type::Pointer(space, Box::new(value.ty)), address.into()));
        }
        if let Some(Token::Space(space)) = self.peek() {
            // `@shared 16` is an address of ints, `@shared tile` the variable.
            self.at += 1;
            let value = self.unary()?;
            return Ok(match (value.ty.plain(), value.at) {
                (_, Some(Location::Memory(..))) => value,
                (Type::Pointer(_, to), _) => Value::new(Type::Pointer(*space, to.clone()), value.bits()),
                _ => {
                    let address = value.as_int()? as u64;
                    Value::new(Type::Pointer(*space, Box::new(Type::INT)), address.into())
                }
            });
        }
        if let [Token::Op("("), Token::Space(_) | Token::Word(_) | Token::Op("."), ..] =
            &self.tokens[self.at..]
        {
            let start = self.at;
            self.at += 1;
            if let Some(ty) = self.type_name()
                && self.take(")")
            {
                return self.unary()?.pipe_cast(&ty);
            }
            self.at = start;
        }
        let mut value = self.primary()?;
        loop {
            if self.take("[") {
                let index = self.binary(0)?;
                self.expect("]")?;
                let array = value.slice().map_or_else(|| decay(&value), |(data, _)| data);
                let Type::Pointer(space, to) = array.ty.plain() else {
                    return Err("cannot subscript something of type `TYPE'".replace("TYPE", &value.ty.name()));
                };
                let offset = index.as_int()?.wrapping_mul(to.bytes().into());
                value = self.load(*space, (array.bits() as u64).wrapping_add(offset as u64), to)?;
                self.reference = None;
            } else if self.take("->") {
                let Some(Token::Word(part)) = self.peek() else {
                    return Err(self.malformed("A name is missing after '->'."));
                };
                self.at += 1;
                let Type::Pointer(space, to) = value.ty.plain() else {
                    return Err(format!(
                        "The value is not a pointer to a structure: it is of type {}.",
                        value.ty.name()
                    ));
                };
                let target = self.load(*space, value.bits() as u64, to)?;
                let member = target.member(part);
                value = self.follow(member.ok_or_else(|| format!("There is no member named {part}."))?)?;
            } else if self.take(".") {
                let Some(Token::Word(part)) = self.peek() else {
                    return Err(self.malformed("A name is missing after '.'."));
                };
                self.at += 1;
                let index = ["x", "y", "z", "w"].iter().position(|p| p == part);
                value = match (value.ty.plain(), index) {
                    (Type::Dim3, Some(i @ 0..3)) => {
                        Value { ty: Type::INT, bytes: value.bytes[4 * i..4 * i + 4].to_vec(), at: None }
                    }
                    _ => {
                        let member = value.member(part);
                        self.follow(member.ok_or_else(|| format!("There is no member named {part}."))?)?
                    }
                };
            } else {
                return Ok(value);
            }
        }
    }

    /// `@shared float *`, `unsigned int`, `.f32`
    pub(super) fn type_name(&mut self) -> Option<Type> {
        let space = match self.peek() {
            Some(Token::Space(space)) => {
                self.at += 1;
                *space
            }
            _ => StateSpace::Generic,
        };
        self.take(".");
        let Some(Token::Word(word)) = self.peek() else { return None };
        self.at += 1;
        let mut name = word.as_str();
        if matches!(name, "unsigned" | "signed")
            && let Some(Token::Word(of)) = self.peek()
        {
            self.at += 1;
            name = match (name, of.as_str()) {
                ("unsigned", "char") => "uchar",
                ("unsigned", "short") => "ushort",
                ("unsigned", "int") => "uint",
                ("unsigned", "long") => "ulong",
                (_, of) => of,
            };
        }
        while matches!(self.peek(), Some(Token::Word(w)) if w == "long" || w == "int") {
            self.at += 1;
        }
        // A type of the source by its own name, or one that C or PTX has.
        let source = match name {
            "struct" | "union" | "enum" | "class" => {
                let Some(Token::Word(of)) = self.peek() else { return None };
                self.at += 1;
                Some(self.names.type_named(of)?)
            }
            name => self.names.type_named(name),
        };
        let mut ty = match source {
            Some(ty) => ty,
            None => Type::of_c(name).or_else(|| Type::named(name).map(Type::Scalar))?,
        };
        let mut pointer = false;
        while self.take("*") {
            // Pointers in memory are generic.
            ty = Type::Pointer(if pointer { StateSpace::Generic } else { space }, Box::new(ty));
            pointer = true;
        }
        Some(ty)
    }

    /// The value that a reference denotes.
    pub(super) fn follow(&mut self, value: Value) -> Result<Value, String> {
        self.reference = None;
        if let Type::Reference(_, space, to) = value.ty.plain() {
            let value_behind = self.load(*space, value.bits() as u64, to)?;
            self.reference = Some(value.ty);
            return Ok(value_behind);
        }
        Ok(value)
    }

    /// `sizeof (TYPE)`, `sizeof EXPRESSION`: the expression is not computed, but its names are looked up.
    pub(super) fn size_of(&mut self) -> Result<Value, String> {
        let start = self.at;
        let named = if self.take("(") { self.type_name().filter(|_| self.take(")")) } else { None };
        let size = match named {
            Some(ty) => ty.bytes(),
            None => {
                self.at = start;
                self.unary()?.ty.bytes()
            }
        };
        Ok(Value::new(Type::Scalar(ScalarType::U64), size.into()))
    }

    pub(super) fn primary(&mut self) -> Result<Value, String> {
        let Some(token) = self.peek() else {
            return Err(self.malformed("A value is missing at the end of the expression."));
        };
        self.at += 1;
        match token {
            Token::Number(value) => Ok(value.clone()),
            Token::Register(name) => self.names.register(name),
            Token::Word(name) if name == "sizeof" => self.size_of(),
            Token::Word(name) => {
                let value = self.names.variable(name)?;
                self.follow(value)
            }
            Token::Dollar(name) => self.names.convenience(name),
            Token::Op("(") => {
                let value = self.assignment()?;
                self.expect(")")?;
                Ok(value)
            }
            token @ (Token::Space(_) | Token::Op(_)) => Err(self.malformed_near(token)),
        }
    }
}
