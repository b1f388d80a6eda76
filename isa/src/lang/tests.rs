//! The language, by its meaning and by its errors.

use super::{Error, Position, compile};

fn errors(text: &str) -> Vec<(u32, String)> {
    let files = [("t.isa".to_string(), text.to_string())];
    match compile(&files) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            errors.into_iter().map(|Error { at: Position { line, .. }, message }| (line, message)).collect()
        }
    }
}

#[test]
fn every_faulty_line_is_reported_with_its_number() {
    let found = errors("family x 1.2\nx .q32 d\nx .u32 d:bogus\n\nx .u32 d @sm 99\n  .a = \n");
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [6, 2, 3, 5], "{found:?}");
}

#[test]
fn fragments_need_a_matrix_shape_and_a_known_type() {
    let found = errors(
        "area t\nfamily x 1.2\nx .m16n8k16 .f16 d<mk .f16>:b32\nx .f16 d<mk f16>:b32\nx .m16n8k16 d<mn .f16>:b32\n",
    );
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 5], "{found:?}");
}
