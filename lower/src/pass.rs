//! What a pass is, what it is given, and what it says of its changes. `docs/lowering.md` shows how to write one.

use crate::analysis::Analyses;
use crate::log::Log;
use bitflags::bitflags;
use cranelift_entity::PrimaryMap;
use std::sync::Arc;
use warpsmith_ir::{FuncId, FuncKind, Function, Global, GlobalId, Linkage, Module, Param, Type};
use warpsmith_isa::Target;

/// A pass over single functions.
///
/// It takes a verified function and leaves a verified one. Functions are taken several at a time, in any order: what a pass does to one
/// may depend on the function and its [`Context`] alone. The laws of [the passes here](Passes::standard) hold for all: a convergent
/// operation is neither duplicated nor made to depend on more branches, and what stays keeps its place in the source.
///
/// ```
/// use warpsmith_lower::{Changes, Context, Options, Pass, Passes, Pipeline, analysis::Loops};
/// use warpsmith_ir::{self as ir, Function, InstData};
///
/// /// Takes the promise `volatile` off loads and stores outside of loops.
/// struct Relax;
///
/// impl Pass for Relax {
///     fn name(&self) -> &'static str {
///         "relax"
///     }
///
///     fn summary(&self) -> &'static str {
///         "volatile accesses outside of loops become plain ones"
///     }
///
///     fn run(&self, func: &mut Function, cx: &mut Context<'_>) -> Changes {
///         let loops = cx.analyses.get::<Loops>(func);
///         let mut count = 0;
///         for block in func.layout.blocks().collect::<Vec<_>>() {
///             if loops.iter().any(|found| found.blocks.contains(&block)) {
///                 continue;
///             }
///             for inst in func.layout.insts(block).collect::<Vec<_>>() {
///                 let mut data = func.dfg[inst].clone();
///                 if let InstData::Load { flags, .. } | InstData::Store { flags, .. } = &mut data
///                     && flags.volatile
///                 {
///                     flags.volatile = false;
///                     func.dfg.replace_inst(inst, data);
///                     count += 1;
///                 }
///             }
///         }
///         Changes::to_instructions(count)
///     }
/// }
///
/// // It runs where it is put, and by its name among those that exist.
/// let passes = Passes::standard().with(Relax);
/// let pipeline = Pipeline::parse_with("mem2reg,relax,dce", &passes).unwrap();
/// let text = "kernel @k(%p: ptr<global>) {\nentry:\n  %x = load.i32 volatile %p\n  ret\n}\n";
/// let mut module = ir::parse_module(text).unwrap();
/// let report = pipeline.run(&mut module, &mut Options::default()).unwrap();
/// assert_eq!(report.passes[1].changes, 1);
/// assert!(!module.to_string().contains("load"), "nothing needs the load any more");
/// ```
pub trait Pass: Send + Sync {
    /// The name in the text of a pipeline.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Whether it may copy loops as a whole, the convergent operations in them included. No other copies of these are made.
    fn copies_loops(&self) -> bool {
        false
    }

    /// Whether nobody would miss it where it finds nothing to change: then it is not run again on a function in which it found nothing and which
    /// nobody has changed since.
    fn may_be_skipped(&self) -> bool {
        false
    }

    /// Changes a function.
    fn run(&self, func: &mut Function, cx: &mut Context<'_>) -> Changes;
}

/// A pass over a module as a whole: it may add, remove and change functions and variables, and look from one function into another.
pub trait ModulePass: Send + Sync {
    /// The name in the text of a pipeline.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Changes a module, and says how much.
    fn run(&self, module: &mut Module, cx: &ModuleContext) -> u32;
}

/// What a pass over functions is given beside the function.
#[non_exhaustive]
pub struct Context<'a> {
    /// What the module is compiled for, where that is known already.
    pub target: Option<Target>,
    /// The variables of the module.
    pub globals: &'a PrimaryMap<GlobalId, Global>,
    /// What can be seen of the functions of the module from outside.
    pub signatures: &'a PrimaryMap<FuncId, Signature>,
    /// What is known of the function, computed when it is asked for and kept while it holds.
    pub analyses: &'a mut Analyses,
    /// Where the pass says what it did and what it did not.
    pub log: &'a mut Log,
}

/// What a pass over modules is given beside the module. It makes [`Analyses`] of its own where it needs them, one for each function.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct ModuleContext {
    /// What the module is compiled for, where that is known already.
    pub target: Option<Target>,
}

impl ModuleContext {
    pub(crate) const fn new(target: Option<Target>) -> Self {
        ModuleContext { target }
    }
}

/// What can be seen of a function from outside.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The symbol, without `@`.
    pub name: String,
    /// Kernel or function.
    pub kind: FuncKind,
    /// Who else sees it.
    pub linkage: Linkage,
    /// The parameters.
    pub params: Vec<Param>,
    /// What is returned.
    pub ret: Vec<Type>,
}

impl Signature {
    /// The signature of a function.
    pub fn of(func: &Function) -> Self {
        Signature {
            name: func.name.clone(),
            kind: func.kind,
            linkage: func.linkage,
            params: func.params.clone(),
            ret: func.ret.clone(),
        }
    }

    /// The signatures of the functions of a module.
    pub(crate) fn all(module: &Module) -> PrimaryMap<FuncId, Signature> {
        module.functions.values().map(Signature::of).collect()
    }
}

bitflags! {
    /// Parts of a function that analyses read and passes change.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Aspects: u8 {
        /// The blocks, and the edges between them.
        const CONTROL_FLOW = 1;
        /// Instructions, values and block parameters.
        const INSTRUCTIONS = 2;
    }
}

impl Aspects {
    /// Nothing.
    pub const NONE: Aspects = Aspects::empty();
    /// Everything.
    pub const ALL: Aspects = Aspects::all();
}

/// What a pass changed. Analyses that read nothing of the changed aspects are kept.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// How many changes, in the unit of the pass: values replaced, instructions removed...
    pub count: u32,
    /// Of what.
    pub aspects: Aspects,
}

impl Changes {
    /// Nothing was changed.
    pub const NONE: Changes = Changes { count: 0, aspects: Aspects::NONE };

    /// So many changes, none of which made or removed a block or an edge.
    pub const fn to_instructions(count: u32) -> Changes {
        Changes::to(count, Aspects::INSTRUCTIONS)
    }

    /// So many changes of all kinds.
    pub const fn to_all(count: u32) -> Changes {
        Changes::to(count, Aspects::ALL)
    }

    const fn to(count: u32, aspects: Aspects) -> Changes {
        if count == 0 { Changes::NONE } else { Changes { count, aspects } }
    }
}

/// A pass of either kind.
#[derive(Clone)]
pub(crate) enum AnyPass {
    Function(Arc<dyn Pass>),
    Module(Arc<dyn ModulePass>),
}

impl AnyPass {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            AnyPass::Function(pass) => pass.name(),
            AnyPass::Module(pass) => pass.name(),
        }
    }

    fn summary(&self) -> &'static str {
        match self {
            AnyPass::Function(pass) => pass.summary(),
            AnyPass::Module(pass) => pass.summary(),
        }
    }
}

/// Passes by name: what the text of a pipeline can say.
#[derive(Clone, Default)]
pub struct Passes {
    all: Vec<AnyPass>,
}

impl Passes {
    /// The passes of this crate.
    pub fn standard() -> Self {
        crate::passes::standard()
    }

    /// These passes and another one, which takes the place of one of the same name.
    #[must_use]
    pub fn with(self, pass: impl Pass + 'static) -> Self {
        self.add(AnyPass::Function(Arc::new(pass)))
    }

    /// These passes and another one over modules, which takes the place of one of the same name.
    #[must_use]
    pub fn with_module(self, pass: impl ModulePass + 'static) -> Self {
        self.add(AnyPass::Module(Arc::new(pass)))
    }

    fn add(mut self, pass: AnyPass) -> Self {
        self.all.retain(|known| known.name() != pass.name());
        self.all.push(pass);
        self
    }

    /// The names and summaries, in order of the names.
    pub fn list(&self) -> Vec<(&'static str, &'static str)> {
        let mut list: Vec<_> = self.all.iter().map(|pass| (pass.name(), pass.summary())).collect();
        list.sort_unstable();
        list
    }

    pub(crate) fn find(&self, name: &str) -> Option<&AnyPass> {
        self.all.iter().find(|pass| pass.name() == name)
    }
}
