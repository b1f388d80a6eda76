//! The tree of a module: globals, prototypes, and functions with their headers.

use crate::body::Body;
use crate::debug::{self, Debug, Described, lines::Strings};
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

/// What to build of the code.
pub struct Plan<'a> {
    pub module: &'a ir::Module,
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

/// Builds the tree of a module from its code.
pub fn build(plan: &Plan<'_>, code: mach::Module) -> Result<Built, Box<Diagnostic>> {
    let mut tree = Module::default();
    tree.push_prologue(plan.version, plan.target);
    let mut names = Names::new(plan.module, &mut tree);
    if plan.debug == Debug::Full {
        tree.add_target_option("debug");
        names.keep_spellings();
    }
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
    for id in forward_declarations(plan, &code) {
        let function = header(&mut tree, &mut names, id, &plan.module.functions[id], &plan.module.types).0;
        let function = tree.push_function(function);
        tree.push_item(Item::Function(function));
    }
    globals::declare_all(&mut tree, &names, plan.module);
    // Labels of debug information are numbered from the first function to the last.
    let threads = plan.debug == Debug::None && parallel::pays(plan.module.functions.values());
    let size = |function: &mach::Function| function.insts.len() + function.blocks.len();
    let shares = parallel::shares(code.functions, if threads { MOST_SHARES } else { 1 }, size);
    let parts: Vec<Bodies> = shares.iter().skip(1).map(|_| Bodies::new(tree.part(), names.clone())).collect();
    let bodies = std::iter::once(Bodies::new(tree, names)).chain(parts);
    let written = parallel::map(bodies.zip(shares).collect(), threads, |(bodies, functions)| {
        bodies.written(plan, functions)
    });
    let written: Vec<Bodies> = written.into_iter().collect::<Result<_, _>>()?;
    let Bodies { mut tree, names, registers, origins, described, strings, statistics } =
        written.into_iter().reduce(Bodies::followed_by).unwrap_or_else(|| unreachable!("there is a share"));
    for (id, func) in plan.module.functions.iter() {
        if let Some(target) = func.alias {
            let (alias, aliasee) = (names.functions[id], names.functions[target]);
            tree.push_item(Item::Alias { alias, aliasee });
        }
    }
    debug::dwarf::sections(&mut tree, plan, &described, &names, &strings)?;
    Ok(Built { tree, registers, origins, statistics })
}

/// What more threads wrote would take longer to put together.
const MOST_SHARES: usize = 4;

/// Functions that are written one behind the other into a tree.
struct Bodies {
    tree: Module,
    names: Names,
    registers: [u32; RegClass::COUNT],
    origins: Vec<Origins>,
    described: Vec<Described>,
    strings: Strings,
    statistics: DebugStatistics,
}

impl Bodies {
    fn new(tree: Module, names: Names) -> Self {
        Bodies {
            tree,
            names,
            registers: [0; RegClass::COUNT],
            origins: Vec::new(),
            described: Vec::new(),
            strings: Strings::default(),
            statistics: DebugStatistics::default(),
        }
    }

    /// These with so many functions more, of which each is dropped when it has been written.
    fn written(mut self, plan: &Plan<'_>, functions: Vec<mach::Function>) -> Result<Self, Box<Diagnostic>> {
        self.reserve(&functions);
        for code in functions {
            let assignment = assign(&code, plan.registers).map_err(|error| broken(plan, code.id, error))?;
            self.function(plan, &code, assignment);
        }
        Ok(self)
    }

    /// These, and behind them others that have no debug information.
    fn followed_by(mut self, others: Bodies) -> Self {
        self.tree.append(others.tree);
        self.origins.extend(others.origins);
        self.registers.iter_mut().zip(others.registers).for_each(|(sum, count)| *sum += count);
        self
    }

    fn function(&mut self, plan: &Plan<'_>, code: &mach::Function, assignment: Assignment) {
        let Bodies { tree, names, .. } = self;
        let registers = assignment.counts.iter().map(|count| *count as usize).sum::<usize>();
        tree.reserve_names(registers + code.blocks.len());
        let func = &plan.module.functions[code.id];
        let (mut function, params, result) = header(tree, names, code.id, func, &plan.module.types);
        self.registers.iter_mut().zip(assignment.counts).for_each(|(sum, count)| *sum += count);
        let body = Body {
            module: plan.module,
            func,
            mach: code,
            assignment,
            tree,
            names,
            params: &params,
            result,
            debug: plan.debug,
            inlined: plan.inlined,
            strings: &mut self.strings,
        };
        let written = body.write();
        function.body = Some(written.stmts);
        self.origins.push((code.id, written.origins));
        self.described.extend(written.described);
        self.statistics += written.statistics;
        let function = tree.push_function(function);
        tree.push_item(Item::Function(function));
    }

    /// Makes room for what the code will be if each argument of a block is moved.
    fn reserve(&mut self, functions: &[mach::Function]) {
        let (mut stmts, mut operands) = (0, 0);
        for function in functions {
            // A block has a label and ends with a branch, which has an operand.
            stmts += RegClass::COUNT + function.insts.len() + 2 * function.blocks.len() + function.args.len();
            operands += function.operands.len() + function.blocks.len() + 2 * function.args.len();
        }
        self.tree.reserve(stmts, operands);
        self.origins.reserve(functions.len());
    }
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

/// The text of a string literal. PTX is ASCII and has no escapes: what cannot stand in a string becomes `_`.
fn in_string(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') && c != '"' { c } else { '_' }).collect()
}

/// Functions that are called before they are defined, and those of other modules.
fn forward_declarations(plan: &Plan<'_>, code: &mach::Module) -> Vec<FuncId> {
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
    for code in &code.functions {
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
