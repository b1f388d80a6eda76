//! The tree of a module: globals, prototypes, and functions with their headers.

use crate::body::Body;
use crate::debug::{self, Debug, lines::Strings};
use crate::globals;
use crate::names::Names;
use crate::output;
use crate::regs::{Assignment, Registers, Unwritten, assign};
use warpsmith_base::FxHashSet;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir as ir;
use warpsmith_ir::debug::DebugStatistics;
use warpsmith_ir::entity::EntityRef;
use warpsmith_ir::{FuncId, FuncKind, parallel};
use warpsmith_isa::{ScalarType, StateSpace, Target, Version};
use warpsmith_lower::abi::Passing;
use warpsmith_lower::mach::{self, Op, RegClass};
use warpsmith_ptx::{
    Decl, Dims, Directive, File, Function, FunctionKind, Item, Linkage, List, Module, Ptr, PtrTo, Symbol,
};

/// What to build, beside the code.
pub struct Plan<'a> {
    pub module: &'a ir::Module,
    pub code: &'a mach::Module,
    pub target: Target,
    pub version: Version,
    pub registers: Registers,
    pub debug: Debug,
    /// `.loc` may name inlined functions: the version has that, or may rise until it has.
    pub inlined: bool,
}

/// A function, and the operation that each statement of its body was made for.
pub type Origins = (FuncId, Vec<Option<ir::Inst>>);

/// A module that was built.
pub struct Built {
    pub tree: Module,
    /// The registers of each class that its functions declare.
    pub registers: [u32; RegClass::COUNT],
    /// For each function with a body, in the order of the tree.
    pub origins: Vec<Origins>,
    /// How much debug information is emitted about variables and lines.
    pub statistics: DebugStatistics,
}

/// Builds the tree of a module.
pub fn build(plan: &Plan<'_>) -> Result<Built, Box<Diagnostic>> {
    let mut origins = Vec::with_capacity(plan.code.functions.len());
    let mut tree = Module::default();
    tree.push_prologue(plan.version, plan.target);
    let mut names = Names::new(plan.module, &mut tree);
    if plan.debug == Debug::Full {
        tree.add_target_option("debug");
        names.keep_spellings();
    }
    let (mut described, mut strings, mut statistics) =
        (Vec::new(), Strings::default(), DebugStatistics::default());
    if plan.debug != Debug::None {
        for (id, name) in plan.module.files.iter() {
            let name = tree.name(&in_string(name));
            let stamp = plan.module.stamps[id];
            let file = File {
                index: id.index() as u32 + 1,
                name,
                timestamp: stamp.map(|stamp| stamp.time),
                size: stamp.map(|stamp| stamp.size),
            };
            tree.push_item(Item::File(file));
        }
    }
    // What initialisers hold the address of is declared before them.
    for id in forward_declarations(plan) {
        let function = header(&mut tree, &mut names, id, &plan.module.functions[id], &plan.module.types).0;
        let function = tree.push_function(function);
        tree.push_item(Item::Function(function));
    }
    globals::declare_all(&mut tree, &names, plan.module);
    reserve(&mut tree, plan.code);
    let mut counts = [0; RegClass::COUNT];
    let threads = parallel::pays(plan.module.functions.values());
    let assigned =
        parallel::map(plan.code.functions.iter().collect(), threads, |code| assign(code, plan.registers));
    let assigned: Result<Vec<Assignment>, Box<Diagnostic>> = (plan.code.functions.iter().zip(assigned))
        .map(|(code, assigned)| assigned.map_err(|unwritten| broken(plan, code.id, unwritten)))
        .collect();
    let assignments = assigned?;
    let registers = |of: &Assignment| of.counts.iter().map(|count| *count as usize).sum::<usize>();
    let named = plan.code.functions.iter().zip(&assignments);
    let named = named.map(|(code, assignment)| registers(assignment) + code.blocks.len());
    tree.reserve_names(named.max().unwrap_or(0));
    for (code, assignment) in plan.code.functions.iter().zip(assignments) {
        let func = &plan.module.functions[code.id];
        let (mut function, params, result) = header(&mut tree, &mut names, code.id, func, &plan.module.types);
        counts.iter_mut().zip(assignment.counts).for_each(|(sum, count)| *sum += count);
        let body = Body {
            module: plan.module,
            func,
            mach: code,
            assignment,
            tree: &mut tree,
            names: &mut names,
            params: &params,
            result,
            debug: plan.debug,
            inlined: plan.inlined,
            strings: &mut strings,
        };
        let written = body.write();
        function.body = Some(written.stmts);
        origins.push((code.id, written.origins));
        described.extend(written.described);
        statistics += written.statistics;
        let function = tree.push_function(function);
        tree.push_item(Item::Function(function));
    }
    for (id, func) in plan.module.functions.iter() {
        if let Some(target) = func.alias {
            let (alias, aliasee) = (names.functions[id], names.functions[target]);
            tree.push_item(Item::Alias { alias, aliasee });
        }
    }
    debug::dwarf::sections(&mut tree, plan, &described, &names, &strings)?;
    Ok(Built { tree, registers: counts, origins, statistics })
}

/// The error about a function that reads what it has not written.
#[cold]
fn broken(plan: &Plan<'_>, id: FuncId, unwritten: Unwritten) -> Box<Diagnostic> {
    let func = &plan.module.functions[id];
    let span = unwritten.origin.map_or(func.span, |inst| func.operation_span(inst));
    let error =
        Diagnostic::error("L0003", span, format!("the code of `@{}` is broken: {unwritten}", func.name));
    Box::new(output::located(error, plan.module, func, unwritten.origin))
}

/// Makes room for what the code will be if each argument of a block is moved.
fn reserve(tree: &mut Module, code: &mach::Module) {
    let (mut stmts, mut operands) = (0, 0);
    for function in &code.functions {
        // A block has a label and ends with a branch, which has an operand.
        stmts += RegClass::COUNT + function.insts.len() + 2 * function.blocks.len() + function.args.len();
        operands += function.operands.len() + function.blocks.len() + 2 * function.args.len();
    }
    tree.reserve(stmts, operands);
}

/// The text of a string literal. PTX is ASCII and has no escapes: what cannot stand in a string becomes `_`.
fn in_string(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') && c != '"' { c } else { '_' }).collect()
}

/// Functions that are called before they are defined, and those of other modules.
fn forward_declarations(plan: &Plan<'_>) -> Vec<FuncId> {
    let mut defined: FxHashSet<FuncId> = FxHashSet::default();
    let mut declared: FxHashSet<FuncId> = FxHashSet::default();
    let mut order = Vec::new();
    for (id, func) in plan.module.functions.iter() {
        if func.is_declaration() && declared.insert(id) {
            order.push(id);
        }
    }
    for reloc in plan.module.globals.values().flat_map(|global| &global.relocs) {
        if let ir::Symbol::Func(id) = reloc.target
            && declared.insert(id)
        {
            order.push(id);
        }
    }
    for code in &plan.code.functions {
        defined.insert(code.id);
        for inst in &code.insts {
            let named = code.inst_operands(inst).iter().filter_map(|operand| {
                let mach::Operand::Symbol(mach::Base::Func(callee), _) = *operand else { return None };
                Some(callee)
            });
            let called = match inst.op {
                Op::Call(callee, _) => Some(callee),
                Op::Ptx(_) | Op::CallIndirect(_) | Op::Unset => None,
            };
            called.into_iter().chain(named).for_each(|callee| {
                if !defined.contains(&callee) && declared.insert(callee) {
                    order.push(callee);
                }
            });
        }
    }
    order
}

/// The header of a function without a body, the names of its parameters, and that of its return value.
fn header(
    tree: &mut Module,
    names: &mut Names,
    id: FuncId,
    func: &ir::Function,
    types: &ir::TypeTable,
) -> (Function, Vec<Symbol>, Option<Symbol>) {
    names.begin_function();
    let kernel = func.kind == FuncKind::Kernel;
    let mut params = Vec::with_capacity(func.params.len());
    let mut decls = Vec::with_capacity(func.params.len());
    let mut name = [&*func.name, "_param_"].concat();
    let stem = name.len();
    for (i, param) in func.params.iter().enumerate() {
        name.truncate(stem);
        name += i.to_string().as_str();
        let name = names.unique(tree, &name);
        let passing = Passing::of_param(types, param, func.kind);
        let mut decl = param_decl(tree, name, &passing);
        if kernel && param.byval.is_none() {
            decl.ptr = pointer(param);
        }
        params.push(name);
        decls.push(decl);
    }
    let result = func.ret.first().map(|&ty| {
        let name = names.unique(tree, &[&*func.name, "_retval_0"].concat());
        (name, param_decl(tree, name, &Passing::in_call(types, ty)))
    });
    let returns: Vec<Decl> = result.iter().map(|(_, decl)| *decl).collect();
    let linkage = globals::linkage(func.linkage);
    let linkage = if kernel && linkage == Linkage::Local { Linkage::Visible } else { linkage };
    let function = Function {
        kind: if kernel { FunctionKind::Entry } else { FunctionKind::Func },
        linkage,
        unified: None,
        name: names.functions[id],
        returns: tree.decl_list(&returns),
        params: tree.decl_list(&decls),
        directives: tree.directive_list(&directives(&func.attrs)),
        body: None,
        span: Span::NONE,
        name_span: Span::NONE,
    };
    (function, params, result.map(|(name, _)| name))
}

/// `.ptr .space .align n`, with the alignment that is promised. Without one PTX would assume 4.
fn pointer(param: &ir::Param) -> Option<Ptr> {
    let space = param.ty.space().filter(|space| *space != StateSpace::Param)?;
    Some(Ptr { to: PtrTo::Space(space), align: Some(param.attrs.align.unwrap_or(1)) })
}

fn directives(attrs: &ir::Attrs) -> Vec<Directive> {
    let dims = |size: [u32; 3]| Dims::new(&size);
    let all = [
        attrs.reqntid.map(|size| Directive::ReqNTid(dims(size))),
        attrs.maxntid.map(|size| Directive::MaxNTid(dims(size))),
        attrs.minnctapersm.map(Directive::MinNCtaPerSm),
        attrs.maxnreg.map(Directive::MaxNReg),
        attrs.reqnctapercluster.map(|size| Directive::ReqNCtaPerCluster(dims(size))),
        attrs.maxclusterrank.map(Directive::MaxClusterRank),
        attrs.explicitcluster.then_some(Directive::ExplicitCluster),
        attrs.noreturn.then_some(Directive::NoReturn),
        attrs.abi_preserve.map(Directive::AbiPreserve),
        attrs.abi_preserve_control.map(Directive::AbiPreserveControl),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn decl(
    tree: &mut Module,
    space: StateSpace,
    ty: ScalarType,
    name: Symbol,
    dim: Option<Option<u64>>,
) -> Decl {
    let dims = match dim {
        Some(dim) => tree.dim_list(&[dim]),
        None => List::default(),
    };
    tree.decl_of(space, ty, name, dims)
}

/// `.param .b32 name` or `.param .align 8 .b8 name[64]`
pub fn param_decl(tree: &mut Module, name: Symbol, passing: &Passing) -> Decl {
    // Variable arguments are of any size.
    let dim = passing.array.map(|size| (size > 0).then_some(u64::from(size)));
    Decl { align: passing.align, ..decl(tree, StateSpace::Param, passing.ty, name, dim) }
}

/// `.local .align 8 .b8 name[64]`
pub fn bytes_decl(tree: &mut Module, space: StateSpace, name: Symbol, size: u32, align: u32) -> Decl {
    // PTX has no empty arrays.
    let size = Some(u64::from(size.max(1)));
    Decl { align: Some(align), ..decl(tree, space, ScalarType::B8, name, Some(size)) }
}
