//! What the formatters of PTX and of the IR share.

/// Comments behind code stand in one column, if the code ends before this one.
const COMMENT_COLUMN: usize = 70;

/// Brings the comments behind neighbouring lines of the same indentation into one column.
///
/// `comments` has, in order, where each line with such a comment begins and where its code ends; a blank and the comment follow there.
pub fn align_comments(text: &str, comments: &[(usize, usize)]) -> String {
    let mut aligned = String::with_capacity(text.len() + comments.len() * 8);
    let mut done = 0;
    let next_line = |(_, end): (usize, usize)| text[end..].find('\n').map(|n| end + n + 1);
    let indent = |(line, _): (usize, usize)| text[line..].bytes().take_while(|b| *b == b' ').count();
    let width = |(line, end): (usize, usize)| end - line;
    let mut rest = comments;
    while !rest.is_empty() {
        let mut group = 1;
        while group < rest.len()
            && next_line(rest[group - 1]) == Some(rest[group].0)
            && indent(rest[group]) == indent(rest[0])
        {
            group += 1;
        }
        let narrow = rest[..group].iter().map(|&place| width(place)).filter(|w| *w < COMMENT_COLUMN);
        let column = narrow.max().unwrap_or(0);
        for &place in &rest[..group] {
            aligned += &text[done..place.1];
            aligned.extend(std::iter::repeat_n(' ', column.saturating_sub(width(place))));
            done = place.1;
        }
        rest = &rest[group..];
    }
    aligned += &text[done..];
    aligned
}
