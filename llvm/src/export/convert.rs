//! Conversions.

use super::function::{Writer, Written};
use super::types::{mangled, name};
use warpsmith_ir::{Conversion, PointerUnary, Type, Value};

impl Writer<'_> {
    pub(super) fn conversion(&mut self, result: &str, op: Conversion, arg: Value, to: Type) -> Written {
        let from = self.ty(arg);
        let (text, wide, a) = (name(from).ok_or("a type")?, name(to).ok_or("a type")?, self.value(arg));
        let wide_number =
            [from, to].iter().any(|ty| ty.element_type().is_int() && ty.element_type().bits() > 64);
        let plain = match op {
            // `llc` ends with "unsupported library call operation".
            Conversion::Sitofp | Conversion::Uitofp | Conversion::Fptosi | Conversion::Fptoui
                if wide_number =>
            {
                return Err("a conversion between a float and more than 64 bits".into());
            }
            Conversion::Trunc => "trunc",
            Conversion::Zext => "zext",
            Conversion::Sext => "sext",
            Conversion::Fptrunc => "fptrunc",
            Conversion::Fpext => "fpext",
            Conversion::Sitofp => "sitofp",
            Conversion::Uitofp => "uitofp",
            Conversion::Fptosi => return self.saturating(result, "fptosi", [from, to], &a),
            Conversion::Fptoui => return self.saturating(result, "fptoui", [from, to], &a),
            Conversion::Bitcast => "bitcast",
            Conversion::Inttoptr => "inttoptr",
            Conversion::Addrspacecast => "addrspacecast",
            Conversion::Splat => return self.spread(result, [from, to], &a),
        };
        self.put(result, format_args!("{plain} {text} {a} to {wide}"))
    }

    /// A vector of equal elements.
    pub(super) fn spread(&mut self, result: &str, [from, to]: [Type; 2], element: &str) -> Written {
        let (text, wide) = (name(from).ok_or("a type")?, name(to).ok_or("a type")?);
        let mut vector = "poison".to_owned();
        for lane in 0..to.lanes() {
            let next = if lane + 1 == to.lanes() { result.to_owned() } else { self.temporary() };
            self.put(&next, format_args!("insertelement {wide} {vector}, {text} {element}, i32 {lane}"))?;
            vector = next;
        }
        Ok(())
    }

    fn saturating(&mut self, result: &str, op: &str, [from, to]: [Type; 2], a: &str) -> Written {
        let (text, wide) = (name(from).ok_or("a type")?, name(to).ok_or("a type")?);
        let suffixes = (mangled(to).ok_or("a type")?, mangled(from).ok_or("a type")?);
        let function = format!("llvm.{op}.sat.{}.{}", suffixes.0, suffixes.1);
        self.call(result, &wide, &function, &[format!("{text} {a}")]);
        Ok(())
    }

    pub(super) fn pointer_unary(&mut self, result: &str, op: PointerUnary, arg: Value) -> Written {
        let (text, a) = (name(self.ty(arg)).ok_or("a type")?, self.value(arg));
        match op {
            PointerUnary::Ptrtoint => self.put(result, format_args!("ptrtoint {text} {a} to i64")),
        }
    }
}
