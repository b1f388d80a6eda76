//! Functions and variables are declared: names, parameters, results, attributes of kernels.

use super::shape;
use super::symbols::Site;
use super::{Importer, Out, Work};
use crate::error::{Error, Result};
use crate::module::attributes::{AttributeSet, known};
use crate::module::metadata::Metadata;
use crate::module::ops::Linkage;
use crate::module::types::{Type, TypeId};
use crate::module::{Function, GlobalValue, Module, ValueId};
use std::rc::Rc;
use warpsmith_ir::{self as ir, aggregate::Shape};

/// The calling convention of kernels.
pub(super) const PTX_KERNEL: u64 = 71;

/// How a parameter of LLVM arrives.
#[derive(Clone, Debug)]
pub(super) enum Incoming {
    /// As a value: a scalar, vector, struct or array; not at all if it has no parts.
    Value(Option<ir::Type>),
    /// As bytes that are copied, from which the scalars are loaded: aggregates and vectors of kernels. True if there are any.
    Bytes(bool),
    /// As bytes that are copied; the value is their address.
    ByValue { size: u32, align: u32 },
    /// The address of what follows the parameters: `...`.
    Variadic,
}

/// The parameters and results of a function.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub params: Vec<Incoming>,
    pub ir: Vec<ir::Param>,
    pub result: Option<ir::Type>,
}

impl<'a> Importer<'a> {
    /// True for what the host launches.
    pub(super) fn is_kernel(&self, site: Site) -> bool {
        let GlobalValue::Function(n) = site.value else { return false };
        let module = self.module(site);
        let Some(function) = module.functions.get(n) else { return false };
        function.convention == PTX_KERNEL || annotation(module, n, "kernel").is_some_and(|value| value != 0)
    }

    /// The signature of a function type. The attributes say what is passed by value.
    pub(super) fn signature(
        &mut self,
        index: usize,
        ty: TypeId,
        attributes: u32,
        kernel: bool,
        table: &mut ir::TypeTable,
    ) -> Result<Rc<Signature>> {
        let key = (index, ty, attributes, kernel);
        if let Some(known) = self.signatures.get(&key) {
            return Ok(Rc::clone(known));
        }
        let module = &self.modules[index].1;
        let Some((varargs, ret, params)) = module.signature(ty) else {
            return Err(Error::unsupported("a call of what is not a function"));
        };
        let mut signature = Signature {
            params: Vec::new(),
            ir: Vec::new(),
            result: shape::whole(&module.types, ret, table)?,
        };
        let set = module.attributes.set(attributes);
        for (n, param) in params.iter().enumerate() {
            signature.add(module, set, n as u32 + 1, *param, kernel, table)?;
        }
        if varargs {
            signature.params.push(Incoming::Variadic);
            signature.ir.push(ir::Param::new(ir::Type::PTR));
        }
        let signature = Rc::new(signature);
        self.signatures.insert(key, Rc::clone(&signature));
        Ok(signature)
    }

    /// True for a function that no module defines.
    pub(super) fn is_declared(&self, site: Site) -> bool {
        match site.value {
            GlobalValue::Function(n) => {
                self.module(site).functions.get(n).is_some_and(|function| function.is_declaration)
            }
            GlobalValue::Global(_) | GlobalValue::Alias(_) => false,
        }
    }

    /// True for what may be defined or not (`extern_weak`) and is not, and for what only C++'s run-time library looks at: its address is null.
    pub(super) fn is_absent(&self, site: Site) -> bool {
        let module = self.module(site);
        match site.value {
            GlobalValue::Function(n) => module.functions.get(n).is_some_and(|function| {
                function.is_declaration
                    && (function.linkage == Linkage::ExternWeak || is_never_called(&function.name))
            }),
            GlobalValue::Global(n) => module.globals.get(n).is_some_and(|global| {
                global.init.is_none()
                    && (global.linkage == Linkage::ExternWeak || is_of_run_time(&global.name))
            }),
            GlobalValue::Alias(_) => false,
        }
    }

    /// What is known of a function.
    fn attributes(&self, site: Site, attributes: u32) -> ir::Attrs {
        let set = self.module(site).attributes.set(attributes);
        let own = |number: u64| set.has(AttributeSet::FUNCTION, number);
        ir::Attrs {
            inline: match (own(known::ALWAYS_INLINE) || own(known::INLINE_HINT), own(known::NO_INLINE)) {
                (_, true) => ir::Inline::Never,
                (true, false) => ir::Inline::Wanted,
                (false, false) => ir::Inline::Auto,
            },
            cold: own(known::COLD),
            convergent: own(known::CONVERGENT),
            signext: set.has(0, known::SIGN_EXT),
            ..ir::Attrs::default()
        }
    }

    /// The function of a symbol, declared where it is not yet.
    pub(super) fn func_id(&mut self, site: Site, out: &mut impl Out) -> Result<ir::FuncId> {
        let site = self.resolve(site)?;
        if let Some(id) = self.functions.get(&site) {
            return Ok(*id);
        }
        let GlobalValue::Function(n) = site.value else {
            return Err(Error::link("a function in one module is a variable in another"));
        };
        let kernel = self.is_kernel(site);
        let declared = &self.module(site).functions[n];
        let (ty, attributes, linkage) = (declared.ty, declared.attributes, declared.linkage);
        let name = declared.name.clone();
        let is_declaration = declared.is_declaration;
        if is_declaration && name.starts_with("llvm.") {
            return Err(Error::unsupported(format!("the address of `{name}`")));
        }
        let signature = self
            .signature(site.module, ty, attributes, kernel, out.types()?)
            .map_err(|error| error.in_function(&name))?;
        let kind = if kernel { ir::FuncKind::Kernel } else { ir::FuncKind::Func };
        let legal = self.symbols.legal(&name, !linkage.is_local());
        let mut function =
            ir::Function::new(legal, kind, signature.ir.clone(), signature.result.into_iter().collect());
        if is_declaration {
            function.linkage = ir::Linkage::Extern;
        } else if !kernel && self.is_exported(site, linkage) {
            function.linkage = ir::Linkage::Export;
        }
        function.attrs =
            if kernel { kernel_attributes(self.module(site), n) } else { self.attributes(site, attributes) };
        if super::opencl::is_kernel_body(&name) {
            function.attrs.inline = ir::Inline::Wanted;
        }
        let known = if is_declaration { super::library::find(&function, out.types()?) } else { None };
        let id = out.function(function);
        self.functions.insert(site, id);
        match known {
            Some(known) => self.queue.push(Work::Library(site, known, id)),
            None if is_declaration => {}
            None => self.queue.push(Work::Function(site, id)),
        }
        Ok(id)
    }
}

impl Signature {
    fn add(
        &mut self,
        module: &Module<'_>,
        set: &AttributeSet,
        index: u32,
        ty: TypeId,
        kernel: bool,
        table: &mut ir::TypeTable,
    ) -> Result<()> {
        let types = &module.types;
        let small = |size: u64| {
            u32::try_from(size).map_err(|_| Error::unsupported("a parameter of more than 2^32 bytes"))
        };
        if set.has(index, known::BYVAL) {
            let inner = set.of_type(index, known::BYVAL).filter(|ty| types.has(*ty));
            let inner = inner.ok_or_else(|| Error::unsupported("`byval` without a type"))?;
            let size = small(types.alloc_size(inner)?)?;
            let align = set.number(index, known::ALIGN).unwrap_or_else(|| types.align(inner));
            if !align.is_power_of_two() {
                return Err(Error::invalid(format!("an alignment of {align}, which is not a power of two")));
            }
            let align = small(align.clamp(1, 128))?;
            self.params.push(Incoming::ByValue { size, align });
            // What has no bytes is not passed, and has an address all the same.
            if size > 0 {
                // A function is given the bytes as a struct of words, which is the same to other compilers, and which a call through
                // an address can pass; a kernel, and where they are many, a pointer to them.
                let words = bytes_type(table, size, align);
                let few = table.parts(words) <= MOST_WORDS;
                let param = ir::Param::byval(size, align);
                self.ir.push(if kernel || !few { param } else { ir::Param::new(words) });
            }
            return Ok(());
        }
        let parts = shape::parts(types, ty)?;
        if kernel
            && (parts.len() > 1
                || !matches!(
                    types.get(ty),
                    Type::Integer(_)
                        | Type::Pointer { .. }
                        | Type::Half
                        | Type::BFloat
                        | Type::Float
                        | Type::Double
                ))
        {
            let size = small(types.alloc_size(ty)?)?;
            if size > 0 {
                self.ir.push(ir::Param::byval(size, small(types.align(ty).clamp(1, 128))?));
            }
            self.params.push(Incoming::Bytes(size > 0));
            return Ok(());
        }
        let mut whole = shape::whole(types, ty, table)?;
        // What a kernel is given points to global memory.
        if kernel && whole == Some(ir::Type::PTR) {
            whole = Some(ir::Type::PTR_GLOBAL);
        }
        if let Some(ty) = whole {
            let mut param = ir::Param::new(ty);
            param.attrs = param_attributes(set, index, ty);
            self.ir.push(param);
        }
        self.params.push(Incoming::Value(whole));
        Ok(())
    }
}

/// Structs of more words than this are passed as addresses of bytes.
const MOST_WORDS: u64 = 512;

/// A type of so many bytes that nothing of is padding.
fn bytes_type(types: &mut ir::TypeTable, size: u32, align: u32) -> ir::Type {
    let unit = align.clamp(1, 8).min(1 << size.trailing_zeros().min(3));
    let element = ir::Type::int(unit * 8).unwrap_or(ir::Type::I8);
    let words = types.array(element, u64::from(size / unit));
    types.intern(Shape::Struct { fields: [words].into(), packed: false, align: Some(align) })
}

/// What a caller promises of a parameter.
fn param_attributes(set: &AttributeSet, index: u32, ty: ir::Type) -> ir::ParamAttrs {
    let small = |number: Option<u64>| number.and_then(|n| u32::try_from(n).ok());
    if ty.is_ptr() {
        return ir::ParamAttrs {
            noalias: set.has(index, known::NO_ALIAS),
            readonly: set.has(index, known::READ_ONLY) || set.has(index, known::READ_NONE),
            nonnull: set.has(index, known::NON_NULL),
            align: small(set.number(index, known::ALIGN)).filter(|align| align.is_power_of_two()),
            dereferenceable: set.number(index, known::DEREFERENCEABLE).filter(|bytes| *bytes > 0),
            signext: false,
            varargs: false,
        };
    }
    let signext = set.has(index, known::SIGN_EXT) && matches!(ty.bits(), 2..32) && ty.is_int();
    ir::ParamAttrs { signext, ..ir::ParamAttrs::NONE }
}

/// The value of an annotation of a function in `!nvvm.annotations`.
fn annotation(module: &Module<'_>, function: usize, key: &str) -> Option<u32> {
    let nodes = module.metadata.named.get("nvvm.annotations")?;
    for node in nodes {
        let Some(Metadata::Tuple(fields)) = module.metadata.field(*node) else { continue };
        let Some((of, pairs)) = fields.split_first() else { continue };
        let Some(Metadata::Value(_, value)) = module.metadata.field(*of) else { continue };
        if super::symbols::plain(module, *value) != Some(GlobalValue::Function(function)) {
            continue;
        }
        for pair in pairs.chunks_exact(2) {
            if let (Some(name), Some(Metadata::Value(_, value))) =
                (module.metadata.text(pair[0]), module.metadata.field(pair[1]))
                && name == key
            {
                return integer(module, *value);
            }
        }
    }
    None
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a number is none")]
fn integer(module: &Module<'_>, value: ValueId) -> Option<u32> {
    use crate::module::constants::ConstantKind;
    match module.constant(value)?.kind {
        ConstantKind::Integer(n) => u32::try_from(n).ok(),
        ConstantKind::Null => Some(0),
        _ => None,
    }
}

/// The limits of a kernel, from its attributes or, in older modules, from `!nvvm.annotations`.
fn kernel_attributes(module: &Module<'_>, n: usize) -> ir::Attrs {
    let function: &Function<'_> = &module.functions[n];
    let set = module.attributes.set(function.attributes);
    let list = |key: &str| -> Option<Vec<u32>> {
        let text = set.text(AttributeSet::FUNCTION, key)?;
        text.split(',').map(|part| part.trim().parse().ok()).collect()
    };
    let dimensions = |key: &str, old: &str| {
        let new = list(key).map(|list| {
            let at = |n: usize| list.get(n).copied().unwrap_or(1);
            [at(0), at(1), at(2)]
        });
        let of = |axis: &str| annotation(module, n, &format!("{old}{axis}"));
        new.or_else(|| match (of("x"), of("y"), of("z")) {
            (None, None, None) => None,
            (x, y, z) => Some([x.unwrap_or(1), y.unwrap_or(1), z.unwrap_or(1)]),
        })
    };
    let single = |key: &str, old: &str| {
        list(key).and_then(|list| list.first().copied()).or_else(|| annotation(module, n, old))
    };
    ir::Attrs {
        reqntid: dimensions("nvvm.reqntid", "reqntid"),
        maxntid: dimensions("nvvm.maxntid", "maxntid"),
        minnctapersm: single("nvvm.minctasm", "minctasm"),
        maxnreg: single("nvvm.maxnreg", "maxnreg"),
        reqnctapercluster: dimensions("nvvm.cluster_dim", "cluster_dim_"),
        ..ir::Attrs::default()
    }
}

/// What stands in tables of virtual functions in place of those that are not defined (Itanium C++ ABI, 3.2.6).
fn is_never_called(name: &str) -> bool {
    matches!(name, "__cxa_pure_virtual" | "__cxa_deleted_virtual")
}

/// What only C++'s run-time library looks at, of which there is none on a GPU: what denotes a shared library (Itanium C++ ABI, 3.3.6.3), and
/// `std::nothrow`, which chooses a form of `new`.
fn is_of_run_time(name: &str) -> bool {
    matches!(name, "__dso_handle" | "_ZSt7nothrow")
}

/// What a kernel's address is refused with: only the host starts it.
pub(super) fn address_of_kernel(name: &str) -> Error {
    Error::unsupported(format!("the address of the kernel `{name}`"))
}
