//! The kernel round a statement: memory is filled, inputs are set, and what it writes is stored.

use super::inputs::Inputs;
use super::{MEMORY, POOL, SOURCE, TILES, WHOLE};
use warpsmith::ptx::ValidatedModule;

/// A kernel of one block.
pub(super) struct Kernel {
    pub ptx: String,
    pub threads: usize,
    /// The size of the buffer for what it leaves.
    pub bytes: usize,
}

impl Kernel {
    pub fn new(inputs: &Inputs<'_>, version: &str, target: &str, module: &str, statement: &str) -> Kernel {
        let (wide, threads) = (inputs.wide, if inputs.wide { 128 } else { 32 });
        let place = Place::new(inputs, module);
        let mut ptx = format!(
            ".version {version}\n.target {target}\n.address_size 64\n{module}.visible .entry k(.param .u64 pools, .param .u64 memory, .param .u64 to, .param .u64 scratch)\n{{\n{}\n",
            inputs.decls
        );
        line!(ptx, ".shared .align 1024 .b8 w_mem[{}];", place.own_bytes);
        ptx += ".reg .b64 %w_pool_a, %w_pool_c, %w_pool_m, %w_off, %w_from, %w_to, %w_mem;\n.reg .b32 %w_tid, %w_at, %w_word, %w_sum, %w_hi, %w_block;\n.reg .pred %w_more;\n.reg .b64 %w_long;\n.reg .b16 %w_short;\n";
        ptx += "ld.param.u64 %w_pool_a, [pools];\n";
        line!(
            ptx,
            "add.u64 %w_pool_c, %w_pool_a, {};\nadd.u64 %w_pool_m, %w_pool_a, {};",
            POOL * 4,
            POOL * 8
        );
        ptx += "mov.u32 %w_tid, %ctaid.x;\nmov.u32 %w_at, %ntid.x;\nmov.u32 %w_block, %w_tid;\nmov.u32 %w_word, %tid.x;\nmad.lo.u32 %w_tid, %w_tid, %w_at, %w_word;\n";
        place.fill(&mut ptx, threads);
        if wide {
            ptx += "fence.proxy.async;\nbar.sync 0;\n";
        }
        ptx += &inputs.body;
        if wide {
            ptx += "wgmma.fence.sync.aligned;\n";
        }
        line!(ptx, "{statement}");
        if wide {
            ptx += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
        }
        let of_thread = store_results(&mut ptx, inputs);
        let kept = if inputs.stored && (place.is_global || !inputs.is_global()) { place.bytes } else { 0 };
        if kept > 0 {
            place.keep(&mut ptx, threads, of_thread, kept);
        }
        ptx += "ret;\n}\n";
        // The row's target may be later than its form needs.
        let earlier = ptx.replacen(&format!(".target {target}\n"), ".target sm_90\n", 1);
        let ptx = if ValidatedModule::parse(&earlier).is_ok() { earlier } else { ptx };
        // What a thread finds in memory is recorded as one number.
        let found = if kept > 0 { threads * 4 } else { 0 };
        Kernel { ptx, threads, bytes: threads * of_thread + found }
    }
}

/// The variable that matrices lie in.
struct Place {
    name: &'static str,
    bytes: usize,
    /// It is the row's, in global memory.
    is_global: bool,
    /// Bytes of the kernel's own variable, be it that one or not.
    own_bytes: usize,
    filled: usize,
}

impl Place {
    fn new(inputs: &Inputs<'_>, module: &str) -> Place {
        let (is_global, is_shared) = (module.contains(".global"), module.contains(".shared"));
        let (bytes, name) = match () {
            () if is_global => (MEMORY, "gv"),
            () if is_shared => (MEMORY, "sv"),
            () if inputs.wide => (TILES, "w_mem"),
            () => (MEMORY, "w_mem"),
        };
        let own = !is_global && !is_shared;
        let own_bytes = if own || inputs.is_shared() && !is_shared { bytes } else { 16 };
        let filled = if own || name != "w_mem" { bytes } else { 16 };
        Place { name, bytes, is_global, own_bytes, filled }
    }

    fn space(&self) -> &'static str {
        if self.is_global { "global" } else { "shared" }
    }

    /// Fills it from the buffer `memory`.
    fn fill(&self, ptx: &mut String, threads: usize) {
        line!(
            ptx,
            "ld.param.u64 %w_from, [memory];\nmov.u64 %w_mem, {};\nmov.u32 %w_at, %tid.x;\nmul.lo.u32 %w_at, %w_at, 4;\nFILL:\ncvt.u64.u32 %w_off, %w_at;\nadd.u64 %w_to, %w_off, %w_mem;\nshr.u64 %w_long, %w_off, 10;\nmad.lo.u64 %w_off, %w_long, 68, %w_off;\nand.b64 %w_off, %w_off, {};\nadd.u64 %w_off, %w_off, %w_from;\nld.global.b32 %w_word, [%w_off];\nst.{}.b32 [%w_to], %w_word;\nadd.u32 %w_at, %w_at, {};\nsetp.lt.u32 %w_more, %w_at, {};\n@%w_more bra FILL;\nbar.sync 0;",
            self.name,
            SOURCE - 4,
            self.space(),
            threads * 4,
            self.filled,
        );
    }

    /// Stores what `kept` bytes of it hold, behind the results of all threads.
    fn keep(&self, ptx: &mut String, threads: usize, of_thread: usize, kept: usize) {
        line!(
            ptx,
            "bar.sync 0;\nmov.u32 %w_sum, 0x811c9dc5;\nmov.u32 %w_at, %tid.x;\nmul.lo.u32 %w_at, %w_at, 4;\nKEEP:\ncvt.u64.u32 %w_off, %w_at;\nadd.u64 %w_off, %w_off, %w_mem;\nld.{}.b32 %w_word, [%w_off];\nxor.b32 %w_sum, %w_sum, %w_word;\nmul.lo.u32 %w_sum, %w_sum, 0x01000193;\nadd.u32 %w_at, %w_at, {};\nsetp.lt.u32 %w_more, %w_at, {kept};\n@%w_more bra KEEP;\nld.param.u64 %w_to, [to];\nmad.wide.u32 %w_to, %w_tid, 4, %w_to;\nst.global.b32 [%w_to+{}], %w_sum;",
            self.space(),
            threads * 4,
            threads * of_thread,
        );
    }
}

/// Stores the results of each thread, as one number if there are many; returns how many bytes that takes.
fn store_results(ptx: &mut String, inputs: &Inputs<'_>) -> usize {
    let digested = inputs.results.len() > WHOLE;
    let of_thread = if digested { 8 } else { inputs.results.len() * 8 };
    line!(
        ptx,
        "ld.param.u64 %w_to, [to];\nmad.wide.u32 %w_to, %w_tid, {of_thread}, %w_to;\nmov.u32 %w_sum, 0x811c9dc5;"
    );
    for (i, (register, ty)) in inputs.results.iter().enumerate() {
        let bits = ty.bits();
        if !digested {
            line!(ptx, "st.global.b{bits} [%w_to+{}], {register};", i * 8);
            continue;
        }
        match bits {
            64 => line!(
                ptx,
                "mov.b64 {{%w_word, %w_hi}}, {register};\nxor.b32 %w_sum, %w_sum, %w_word;\nmul.lo.u32 %w_sum, %w_sum, 0x01000193;\nmov.b32 %w_word, %w_hi;"
            ),
            _ => line!(ptx, "mov.b32 %w_word, {register};"),
        };
        *ptx += "xor.b32 %w_sum, %w_sum, %w_word;\nmul.lo.u32 %w_sum, %w_sum, 0x01000193;\n";
    }
    if digested {
        *ptx += "st.global.b32 [%w_to], %w_sum;\n";
    }
    of_thread
}
