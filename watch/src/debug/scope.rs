//! What names mean where a run stands still: registers, variables and memory of one thread, as one of its frames sees them.

use super::Focus;
use super::expr::Names;
use super::numbers::quoted;
use super::symbols::Symbols;
use super::value::{Location, Type, Value, mask};
use crate::dwarf::Place;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::Special;
use warpsmith_interp::observe::{Frame, View};
use warpsmith_isa::{ScalarType, StateSpace};

/// Values that the user has seen or set.
#[derive(Default)]
pub struct Memo {
    pub history: Vec<Value>,
    pub convenience: FxHashMap<String, Value>,
}

/// One thread of a run that stands still, if there is one.
pub struct Scope<'s, 'a, 'v> {
    pub symbols: &'s Symbols<'a>,
    pub memo: &'s mut Memo,
    pub view: Option<&'s mut View<'v>>,
    pub focus: Option<Focus>,
    /// The selected activation, counted from the innermost.
    pub activation: usize,
    /// How many inlined calls of the activation the selected frame is in.
    pub level: u32,
}

/// Addresses of `.param` are below this: more than any function takes (PTX ISA 9.0, 5.1.6.2 and 5.1.6.3).
const PARAMETERS: u64 = 1 << 16;

/// The longest text that is read, in bytes.
const LONGEST_TEXT: usize = 200;

const NOT_RUNNING: &str = "The program is not being run.";

impl Scope<'_, '_, '_> {
    /// The text at an address up to its zero, in quotes, and how many bytes it takes. Long ones are cut.
    pub fn text(&mut self, space: StateSpace, address: u64) -> Result<(String, u64), String> {
        let mut bytes = Vec::new();
        for at in 0..LONGEST_TEXT as u64 {
            let byte = self.memory(space, address.wrapping_add(at), &Type::Scalar(ScalarType::U8))?;
            match byte.bits() as u8 {
                0 => return Ok((quoted(&String::from_utf8_lossy(&bytes), '"'), at + 1)),
                byte => bytes.push(byte),
            }
        }
        Ok((quoted(&String::from_utf8_lossy(&bytes), '"') + "...", LONGEST_TEXT as u64))
    }

    /// The selected frame, with the thread and the view.
    fn frame(&self) -> Result<(Focus, Frame), String> {
        let (Some(view), Some(focus)) = (&self.view, self.focus) else { return Err(NOT_RUNNING.into()) };
        let frames = view.frames(focus.warp, focus.lane);
        let frame = frames.get(self.activation).or(frames.first());
        frame.map(|frame| (focus, *frame)).ok_or_else(|| "The thread has exited.".into())
    }

    fn special(&self, name: &str) -> Result<Option<Value>, String> {
        let Some(special) = Special::from_name(name) else { return Ok(None) };
        let (Some(view), Some(focus)) = (&self.view, self.focus) else { return Err(NOT_RUNNING.into()) };
        let bits = view.special(focus.warp, focus.lane, special).ok_or("The thread has exited.")?;
        let ty = match special.bits() {
            1 => ScalarType::Pred,
            64 => ScalarType::U64,
            _ => ScalarType::U32,
        };
        Ok(Some(Value::new(Type::Scalar(ty), bits.into())))
    }

    /// `threadIdx` and the like.
    fn builtin(&self, name: &str) -> Result<Option<Value>, String> {
        let of = match name {
            "threadIdx" => "tid",
            "blockIdx" => "ctaid",
            "blockDim" => "ntid",
            "gridDim" => "nctaid",
            "warpSize" => return Ok(Some(Value::int(32))),
            _ => return Ok(None),
        };
        let mut bytes = Vec::new();
        for axis in ["x", "y", "z"] {
            if let Some(part) = self.special(&format!("{of}.{axis}"))? {
                bytes.extend_from_slice(&(part.bits() as u32).to_le_bytes());
            }
        }
        Ok(Some(Value { ty: Type::Dim3, bytes, at: None }))
    }
}

impl Names for Scope<'_, '_, '_> {
    fn register(&mut self, name: &str) -> Result<Value, String> {
        let (focus, frame) = match self.frame() {
            Ok(found) => found,
            Err(e) if e == NOT_RUNNING => return Err("No registers.".into()),
            Err(e) => return Err(e),
        };
        if let Some(value) = self.special(&name[1..])? {
            return Ok(value);
        }
        let whole = self.symbols.register(frame.function, frame.pc, name);
        let Some(named) = whole else {
            let names = self.symbols.program.registers(frame.function).iter().map(|r| &*r.name);
            let specials: Vec<String> = Special::ALL.iter().map(|s| format!("%{}", s.name())).collect();
            let near = warpsmith_diag::nearest(name, names.chain(specials.iter().map(String::as_str)));
            let hint = near.map_or_else(String::new, |near| format!("  Did you mean \"{near}\"?"));
            return Err(format!("No register \"{name}\" in current context.{hint}"));
        };
        let bits =
            self.view.as_mut().and_then(|v| v.register(focus.warp, focus.lane, self.activation, named.reg));
        let ty = Type::Scalar(named.ty);
        let bits = mask(bits.ok_or("The thread has exited.")?, &ty);
        let value = Value::new(ty, bits);
        Ok(Value { at: Some(Location::Register(named.reg)), ..value })
    }

    fn variable(&mut self, name: &str) -> Result<Value, String> {
        if let Some(value) = self.builtin(name)? {
            return Ok(value);
        }
        let symbols = self.symbols;
        if let Ok((_, frame)) = self.frame()
            && let Some(variable) = symbols.source_variable(frame.pc, self.level, name)
        {
            let place = variable.place(symbols.text_at(frame.pc)).ok_or("<optimized out>")?;
            return self.source_value(place, &Type::of_source(&variable.ty));
        }
        let of_ptx = self.ptx_variable(name);
        match (of_ptx, symbols.sources.dwarf().enumerator(name)) {
            (Err(_), Some((ty, value))) => Ok(Value::new(Type::of_source(ty), value as u128)),
            (Err(why), None) => symbols.function_value(name).ok_or(why),
            (Ok(value), _) => Ok(value),
        }
    }

    fn convenience(&mut self, name: &str) -> Result<Value, String> {
        self.convenience_value(name)
    }

    fn memory(&mut self, space: StateSpace, address: u64, ty: &Type) -> Result<Value, String> {
        const MOST: u64 = 1 << 24;
        let (Some(view), Some(focus)) = (&self.view, self.focus) else { return Err(NOT_RUNNING.into()) };
        let len = ty.bytes();
        if len > MOST {
            return Err(format!("The value is too large: {len} bytes."));
        }
        let mut bytes = vec![0; len as usize];
        view.read(focus.warp, focus.lane, space, address, &mut bytes)
            .map_err(|why| no_access(space, address, &why))?;
        Ok(Value { ty: ty.clone(), bytes, at: Some(Location::Memory(space, address)) })
    }

    fn assign(&mut self, at: Location, value: &Value) -> Result<(), String> {
        let (Some(view), Some(focus)) = (&mut self.view, self.focus) else { return Err(NOT_RUNNING.into()) };
        match at {
            Location::Memory(space, address) => view
                .write(focus.warp, focus.lane, space, address, &value.bytes)
                .map_err(|why| no_access(space, address, &why)),
            Location::Register(reg) => {
                let done = view.set_register(focus.warp, focus.lane, self.activation, reg, value.bits());
                done.then_some(()).ok_or_else(|| "The register cannot be changed.".into())
            }
        }
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.symbols.sources.dwarf().named(name).map(|ty| Type::of_source(&ty))
    }

    fn set_convenience(&mut self, name: &str, value: Value) {
        self.memo.convenience.insert(name.to_owned(), value);
    }
}

impl Scope<'_, '_, '_> {
    /// What a variable of the source holds.
    fn source_value(&mut self, place: &Place, ty: &Type) -> Result<Value, String> {
        let size = usize::try_from(ty.bytes()).unwrap_or(usize::MAX);
        const MOST: usize = 1 << 24;
        if size > MOST {
            return Err(format!("The value is too large: {size} bytes."));
        }
        Ok(match place {
            Place::Register(name) => {
                let mut value = self.register(name)?;
                if size > 16 {
                    return Err(format!("{name} is too small for a value of {size} bytes"));
                }
                value.bytes.resize(size, 0);
                Value { ty: ty.clone(), ..value }
            }
            Place::Behind(name, offset) => {
                let address = (self.register(name)?.bits() as u64).wrapping_add_signed(*offset);
                let generic = self.memory(StateSpace::Generic, address, ty);
                // clang describes what a kernel takes by value as memory behind a register, which holds its address in `.param`.
                match generic {
                    Err(why) if address < PARAMETERS => {
                        self.memory(StateSpace::Param, address, ty).map_err(|_| why)?
                    }
                    generic => generic?,
                }
            }
            Place::Symbol(name, offset) => {
                let Some(Location::Memory(space, address)) = self.ptx_variable(name)?.at else {
                    return Err(format!("\"{name}\" is not in memory"));
                };
                self.memory(space, address.wrapping_add_signed(*offset), ty)?
            }
            Place::Constant(bits) => Value::new(ty.clone(), mask(*bits as u128, ty)),
            Place::Pieces(pieces) => {
                let mut bytes = Vec::new();
                for (place, count) in pieces {
                    let count =
                        usize::try_from(*count).unwrap_or(usize::MAX).min(size.saturating_sub(bytes.len()));
                    let part = place.as_ref().ok_or("<optimized out>")?;
                    let of_piece = Type::Array(Box::new(Type::Scalar(ScalarType::U8)), count as u64);
                    bytes.extend(self.source_value(part, &of_piece)?.bytes);
                }
                bytes.resize(size, 0);
                Value { ty: ty.clone(), bytes, at: None }
            }
        })
    }

    /// A register or variable of the PTX.
    pub(super) fn of_ptx(&mut self, name: &str) -> Result<Value, String> {
        if name.starts_with('%') { self.register(name) } else { self.ptx_variable(name) }
    }

    /// A variable of the PTX.
    fn ptx_variable(&mut self, name: &str) -> Result<Value, String> {
        let program = self.symbols.program;
        let frame = self.frame();
        let function = frame.as_ref().ok().map(|(_, f)| f.function);
        let function_name = function.map(|f| program.function_name(f));
        // nvcc names parameters after their function.
        let long = function_name.map(|f| format!("{f}_{name}")).filter(|_| name.starts_with("param_"));
        let name = long.as_deref().unwrap_or(name);
        // Of several that have the name, the one in scope.
        let meant = frame.as_ref().ok().and_then(|(_, f)| self.symbols.meaning(f.pc, name));
        let declared = match meant {
            Some((decl, declarator)) => Some(self.symbols.type_of(decl, declarator)),
            None => self.symbols.variable_type(function_name, name),
        };
        let space = meant.map(|(decl, _)| decl.space);
        let meant = meant.map(|(_, declarator)| declarator.span.start);
        let in_scope = |declared: Option<u32>| meant.is_none() || declared.is_none() || declared == meant;
        let of_bytes = |bytes: u64| Type::Array(Box::new(Type::Scalar(ScalarType::U8)), bytes);
        // An array without a size has that of its memory.
        let typed = |bytes: u64| match &declared {
            Some(Type::Array(of, 0)) => Type::Array(of.clone(), bytes / of.bytes().max(1)),
            Some(ty) => ty.clone(),
            None => of_bytes(bytes),
        };
        if let (Some(function), Ok((_, frame))) = (function, &frame)
            && let Some(local) =
                program.locals(function).iter().rfind(|l| &*l.name == name && in_scope(l.declared))
        {
            let address = u64::from(frame.place.stack) + u64::from(local.offset);
            return self.memory(StateSpace::Local, address, &typed(local.bytes.into()));
        }
        if let Some(view) = &self.view {
            let launch = view.launch();
            if function_name == Some(launch.kernel())
                && space.is_none_or(|space| space == StateSpace::Param)
                && let Some(param) = launch.params().iter().find(|p| p.name == name)
            {
                let (offset, bytes) = (param.offset, param.bytes);
                return self.memory(StateSpace::Param, offset.into(), &typed(bytes.into()));
            }
            let found = launch.variables().find(|v| v.name == name && in_scope(v.declared));
            let found = found.map(|v| (v.space, v.address, v.bytes));
            if let Some((space, address, bytes)) = found {
                return self.memory(space, address, &typed(bytes));
            }
        } else if declared.is_some() {
            return Err(NOT_RUNNING.into());
        }
        let of_function = function.map_or(&[][..], |f| program.registers(f));
        let near = of_function.iter().find(|r| r.name.strip_prefix('%') == Some(name)).map(|r| &*r.name);
        let hint = near.map_or_else(String::new, |near| format!("  Did you mean \"{near}\"?"));
        Err(format!("No symbol \"{name}\" in current context.{hint}"))
    }

    fn convenience_value(&mut self, name: &str) -> Result<Value, String> {
        let history = &self.memo.history;
        let nth = |n: usize| match n.checked_sub(1).and_then(|i| history.get(i)) {
            Some(value) => Ok(value.clone()),
            None => Err(format!("History has not yet reached ${n}.")),
        };
        match name {
            "" => return Ok(history.last().cloned().unwrap_or_else(|| Value::int(0))),
            "$" => return Ok(history.iter().rev().nth(1).cloned().unwrap_or_else(|| Value::int(0))),
            "pc" => {
                let (_, frame) = self.frame().map_err(|_| "No registers.")?;
                return Ok(Value::int(self.symbols.program.line(frame.pc).into()));
            }
            _ => {}
        }
        if let Some(back) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            let value = history.iter().rev().nth(back).cloned();
            return value.ok_or_else(|| format!("History has not yet reached ${name}."));
        }
        if let Ok(n) = name.parse() {
            return nth(n);
        }
        if let Some(value) = self.memo.convenience.get(name) {
            return Ok(value.clone());
        }
        Err(format!("Convenience variable ${name} has no value."))
    }
}

fn no_access(space: StateSpace, address: u64, why: &str) -> String {
    let of = if space == StateSpace::Generic { String::new() } else { format!("@{} ", space.name()) };
    format!("Cannot access memory at address {of}{address:#x}: {why}")
}
