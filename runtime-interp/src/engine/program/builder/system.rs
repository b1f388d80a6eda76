//! The functions that the engine itself has.

use super::*;

impl ProgramBuilder {
    /// Gives a declared function the body of a system call. `Err` says that it was declared with other parameters.
    pub fn define_system(&mut self, function: FuncId, call: SystemCall) -> Result<(), String> {
        let Function { name, params, results, .. } = &self.program.functions[function.0 as usize];
        let fits = |slot: &Slot, width: Width| match *slot {
            Slot::Reg(r) => r.width() == width,
            Slot::Stack { bytes, .. } => 8 * bytes == width.bits(),
        };
        let (params, results) = (params.clone(), results.clone());
        let alike = params.len() == call.params().len()
            && params.iter().zip(call.params()).all(|(slot, width)| fits(slot, *width))
            && results.len() == call.result().iter().len()
            && results.iter().zip(call.result()).all(|(slot, width)| fits(slot, width));
        if !alike {
            let bits = |widths: &[Width]| {
                let bits: Vec<String> = widths.iter().map(|w| format!(".b{}", w.bits())).collect();
                bits.join(", ")
            };
            let result = call.result().map_or("nothing".into(), |w| bits(&[w]));
            let takes = bits(call.params());
            return Err(format!("`{name}` is the system's: it takes ({takes}) and gives {result}"));
        }
        let mut body = self.body(function);
        let local = |bytes: u32| Access::unsigned(StateSpace::Local, bytes as u8);
        let mut args = Vec::with_capacity(params.len());
        for (slot, width) in params.iter().zip(call.params()) {
            args.push(match *slot {
                Slot::Reg(r) => r,
                Slot::Stack { offset, bytes } => {
                    let r = body.reg(*width);
                    body.load(local(bytes), &[r], Address::Stack(offset.into()));
                    r
                }
            });
        }
        match (results.first(), call.result()) {
            (Some(Slot::Reg(r)), _) => body.system(call, &args, Some(*r)),
            (Some(Slot::Stack { offset, bytes }), Some(width)) => {
                let r = body.reg(width);
                body.system(call, &args, Some(r));
                body.store(local(*bytes), &[r], Address::Stack((*offset).into()));
            }
            _ => body.system(call, &args, None),
        }
        body.finish();
        Ok(())
    }
}
