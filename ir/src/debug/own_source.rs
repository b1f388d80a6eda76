//! A text of the IR as its own source: authors of compilers step through what they have made.

use super::*;
use crate::aggregate::{Shape, TypeTable};
use crate::dfg::ValueDef;
use crate::entities::{DebugTypeId, ScopeId, Value};
use crate::function::{Function, LocData};
use crate::module::Module;
use crate::types::{Scalar, Type};
use cranelift_entity::EntityRef;
use warpsmith_base::FxHashMap;
use warpsmith_isa::StateSpace;

/// True for a module that was read from text and says nothing of another source.
pub fn lacks_source(module: &Module) -> bool {
    !module.source.is_none() && module.files.is_empty() && module.debug.is_none()
}

/// A copy of a module whose source is the text that it was read from: lines of instructions, and a variable for each value that has a name.
pub fn with_own_source(module: &Module) -> Module {
    let mut module = module.clone();
    let text = module.source.clone();
    let mut debug = DebugBuilder::new(&mut module);
    let file = debug.file(text.name());
    let unit = debug.unit(file, "", 0x8001, "");
    let line = |span: warpsmith_diag::Span| if span.is_none() { 0 } else { text.position(span.start).line };
    let declared: Vec<_> =
        module.functions.iter().map(|(id, f)| (id, f.name.clone(), line(f.span))).collect();
    let mut types = FxHashMap::default();
    for (id, name, begins) in declared {
        if module.functions[id].is_declaration() {
            continue;
        }
        let mut debug = DebugBuilder::new(&mut module);
        let declared = Declared { file, line: begins };
        let subprogram = debug.subprogram(unit, &name, declared, None);
        let (func, info) = (&mut module.functions[id], &mut module.debug);
        func.debug = Some(Box::new(FunctionDebug::new(subprogram, declared)));
        for block in func.layout.blocks().collect::<Vec<_>>() {
            for inst in func.layout.insts(block).collect::<Vec<_>>() {
                if func.spans[inst].is_none() {
                    continue;
                }
                let at = text.position(func.spans[inst].start);
                let data = LocData { scope: Some(ScopeId::new(0)), ..LocData::new(file, at.line, at.column) };
                func.inst_locs[inst] = func.locs.push(data).into();
            }
        }
        let mut number = 0;
        for value in func.dfg.values().collect::<Vec<_>>() {
            let ty = func.dfg.ty(value);
            let Some(name) = func.names.get(value).map(str::to_owned).filter(|_| !ty.is_invalid()) else {
                continue;
            };
            let ty = type_of(info.get_or_insert_default(), &module.types, &mut types, ty);
            variable(func, value, &name, ty, file, &mut number, &line);
        }
    }
    for id in module.globals.keys().collect::<Vec<_>>() {
        let global = &module.globals[id];
        if global.handle.is_some() {
            continue;
        }
        let (name, extent, at) = (global.name.clone(), global.extent, line(global.span));
        let info = module.debug.get_or_insert_default();
        let mut ty = type_of(info, &module.types, &mut types, global.ty);
        if let crate::Extent::Array(_) | crate::Extent::Dynamic = extent {
            let dimensions = vec![if let crate::Extent::Array(len) = extent { len } else { 0 }];
            ty = info.types.push(DebugType::Array { element: ty, dimensions });
        }
        let declared = Declared { file, line: at };
        DebugBuilder::new(&mut module).global(unit, &name, id, ty, declared);
    }
    module
}

/// Makes a variable of a value, bound where the value is there.
fn variable(
    func: &mut Function,
    value: Value,
    name: &str,
    ty: DebugTypeId,
    file: crate::FileId,
    number: &mut u32,
    line: &dyn Fn(warpsmith_diag::Span) -> u32,
) {
    let (block, inst) = match func.dfg.def(value) {
        ValueDef::Result(inst, _) => match func.layout.block_of(inst) {
            Some(block) => (block, Some(inst)),
            None => return,
        },
        ValueDef::Param(block, _) if func.layout.is_block_inserted(block) => (block, None),
        ValueDef::Param(..) | ValueDef::Alias(_) | ValueDef::Detached => return,
    };
    let is_param = inst.is_none() && func.layout.entry() == Some(block);
    let at = match inst {
        Some(inst) => func.spans[inst],
        None if is_param => func.span,
        None => func.block_spans[block],
    };
    let kind = match is_param {
        true => {
            *number += 1;
            VariableKind::Parameter(*number)
        }
        false => VariableKind::Local,
    };
    let Some(debug) = &mut func.debug else { return };
    let (declared, scope) = (Declared { file, line: line(at) }, debug.root());
    let variable = debug.variables.push(DebugVariable { name: name.to_owned(), kind, ty, scope, declared });
    let binding = debug.bindings.push(Binding { variable, piece: None, storage: Storage::Value(value) });
    match inst.map(|inst| func.layout.next_inst(inst)) {
        Some(Some(next)) => func.layout.bind_before(next, binding),
        Some(None) => {}
        None => func.layout.bind_at_start(block, binding),
    }
}

/// The type of the source that a type of the IR is.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "formats that debuggers do not know are shown as their bits"
)]
fn type_of(
    info: &mut DebugInfo,
    table: &TypeTable,
    known: &mut FxHashMap<Type, DebugTypeId>,
    ty: Type,
) -> DebugTypeId {
    if let Some(id) = known.get(&ty) {
        return *id;
    }
    let made = if let Some(aggregate) = table.get(ty) {
        match &aggregate.shape {
            Shape::Array { element, len } => {
                DebugType::Array { element: type_of(info, table, known, *element), dimensions: vec![*len] }
            }
            Shape::Struct { fields, .. } => {
                let mut members = Vec::with_capacity(fields.len());
                for (n, (field, offset)) in (0..).map_while(|n| table.field(ty, n)).enumerate() {
                    let ty = type_of(info, table, known, field);
                    members.push(Member { name: format!("f{n}"), ty, offset, bits: None });
                }
                let name = aggregate.name.clone().unwrap_or_default();
                DebugType::Composite {
                    kind: Composite::Struct,
                    name,
                    size: aggregate.size(),
                    declared: None,
                    members,
                }
            }
        }
    } else if ty.is_vector() {
        DebugType::Vector { element: type_of(info, table, known, ty.element_type()), lanes: ty.lanes() }
    } else if ty.is_ptr() {
        DebugType::Pointer { to: None, space: ty.space().unwrap_or(StateSpace::Generic) }
    } else {
        let encoding = match ty.element() {
            Scalar::I1 => Encoding::Boolean,
            Scalar::F16 | Scalar::F32 | Scalar::F64 => Encoding::Float,
            _ if ty.is_int() => Encoding::Signed,
            // Formats that debuggers do not know: their bits.
            _ => Encoding::Unsigned,
        };
        DebugType::Base { name: ty.to_string(), size: ty.bits().div_ceil(8).max(1), encoding }
    };
    let id = info.types.push(made);
    known.insert(ty, id);
    id
}
