//! Names of functions as their authors wrote them.

use std::borrow::Cow;

/// Longer names are shown as they are: what is written short may mean something very long.
const MOST_BYTES: usize = 1 << 12;

/// The name that a symbol of C++ (Itanium's ABI, which nvcc and clang follow) or of Rust was made of, without types of parameters and hashes;
/// other names as they are.
pub(crate) fn demangled(name: &str) -> Cow<'_, str> {
    if name.len() > MOST_BYTES || !name.starts_with(['_', '$']) {
        return Cow::Borrowed(name);
    }
    let of_rust = || rustc_demangle::try_demangle(name).ok().map(|found| bounded(format_args!("{found:#}")));
    // Rust's older symbols are C++'s too, with a hash for the innermost name.
    let found = match name.starts_with("_Z") && !is_rust(name) {
        true => of_cpp(name),
        false => of_rust().flatten(),
    };
    found.filter(|found| !found.is_empty()).map_or(Cow::Borrowed(name), Cow::Owned)
}

fn is_rust(name: &str) -> bool {
    let hash = name.strip_suffix('E').and_then(|name| name.get(name.len().checked_sub(19)?..));
    let digits = hash.and_then(|hash| hash.strip_prefix("17h"));
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn of_cpp(name: &str) -> Option<String> {
    let options = cpp_demangle::ParseOptions::default().recursion_limit(64);
    let symbol = cpp_demangle::Symbol::new_with_options(name, &options).ok()?;
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type()
        .hide_expression_literal_types()
        .recursion_limit(64);
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

fn bounded(args: std::fmt::Arguments<'_>) -> Option<String> {
    let mut text = Bounded(String::new());
    std::fmt::Write::write_fmt(&mut text, args).ok()?;
    Some(text.0)
}

/// A text that does not become longer than a name may be.
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MOST_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The name without the modules and classes around it, and without what a template is made for.
pub(crate) fn last(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_or_left_alone() {
        for (name, expected) in [
            ("_Z6kernelPfi", "kernel"),
            ("_ZN3foo3barEv", "foo::bar"),
            ("_ZN4math4maddIfEET_S1_S1_", "math::madd<float>"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZN7mycrate3foo17h0123456789abcdefE", "mycrate::foo"),
            ("_Z", "_Z"),
            ("_Znonsense", "_Znonsense"),
            ("", ""),
            ("$L__func", "$L__func"),
        ] {
            assert_eq!(demangled(name), expected);
        }
        assert_eq!(last("math::madd<float>"), "madd");
        assert_eq!(last("madd"), "madd");
    }

    #[test]
    fn names_that_would_be_huge_are_left_alone() {
        // Each template argument is the one before twice.
        let mut name = String::from("_Z1fI1aI");
        for n in 0..200 {
            name.push_str(&format!("S{}_S{}_", n % 10, n % 10));
        }
        name.push_str("EEvv");
        assert!(demangled(&name).len() <= MOST_BYTES);
        assert_eq!(demangled(&"_Z".repeat(5000)).len(), 10_000);
    }
}
