//! PTX text: syntax tree, parser, printer, validator, diagnostics.
