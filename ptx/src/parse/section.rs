//! Sections of debug information: data directives, labels and numbers (11.5.2).

use super::lexer::{Kind, Token};
use super::{Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::Diagnostic;

/// Digits of a number that is read without a token, fewer than 64 bits have room for.
const MOST_DIGITS: usize = 10;

impl Parser<'_> {
    /// `.section .debug_info { .. }`
    pub(super) fn section(&mut self) -> Parse<Item> {
        self.bump();
        if self.token.kind != Kind::Dot {
            return Err(self.expected("the name of the section, such as `.debug_info`"));
        }
        let span = self.span();
        let name = self.intern(span);
        self.bump();
        self.expect(b'{', "`{` and the contents of the section")?;
        let first_byte = self.module.bytes.len();
        let mut data: Vec<Data> = Vec::new();
        let mut spans = Vec::new();
        let mut bytes_from = first_byte;
        loop {
            let start = self.token.start;
            // Runs of bytes are one piece, so close the run before anything else begins.
            let at_bytes = self.token.kind == Kind::Dot && matches!(self.text(), b".b8" | b".byte");
            if !at_bytes && self.module.bytes.len() > bytes_from {
                data.push(Data::Bytes(List::new(bytes_from, self.module.bytes.len())));
                spans.push(self.since(start.min(self.last_end)));
                bytes_from = self.module.bytes.len();
            }
            match self.token.kind {
                Kind::Punct(b'}') => {
                    self.bump();
                    break;
                }
                Kind::Name => {
                    let (label, _) = self.name("a label")?;
                    self.expect(b':', "`:` after the label")?;
                    data.push(Data::Label(label));
                    spans.push(self.since(start));
                }
                Kind::Dot => {
                    if let Some(piece) = self.data()? {
                        data.push(piece);
                        spans.push(self.since(start));
                    }
                }
                _ => return Err(self.expected("`.b8`, `.b16`, `.b32`, `.b64`, a label or `}`")),
            }
        }
        let start = self.module.data.len();
        self.module.data.extend(data);
        self.module.data_spans.extend(spans);
        Ok(Item::Section(Section { name, data: List::new(start, self.module.data.len()) }))
    }

    /// One data directive. Bytes go straight to their arena.
    fn data(&mut self) -> Parse<Option<Data>> {
        let bits = match self.text() {
            b".b8" | b".byte" => 8,
            b".b16" => 16,
            b".b32" | b".4byte" => 32,
            b".b64" | b".quad" => 64,
            _ => return Err(self.expected("`.b8`, `.b16`, `.b32` or `.b64`")),
        };
        self.bump();
        let first = self.module.values.len();
        if self.token.kind == Kind::Name || (self.token.kind == Kind::Dot && !self.at_data_directive()) {
            let value = self.data_address(bits)?;
            self.module.values.push(value);
        } else {
            self.plain_numbers(bits);
            loop {
                let value = self.data_int(bits)?;
                self.push_number(bits, value);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        let values = List::new(first, self.module.values.len());
        Ok((bits != 8).then_some(Data::Values { bits, values }))
    }

    fn push_number(&mut self, bits: u8, value: u64) {
        match bits {
            8 => self.module.bytes.push(value as u8),
            _ => self.module.values.push(DataValue::Int(value)),
        }
    }

    /// The first numbers of a list, as far as each is decimal, fits and has its comma right behind it: nearly all there is of debug information,
    /// read without a token for each.
    fn plain_numbers(&mut self, bits: u8) {
        if self.token.kind != Kind::Int || self.gave_up {
            return;
        }
        let text = self.lexer.text;
        let mut at = self.token.start as usize;
        let mut comma = None;
        loop {
            let (mut end, mut value) = (at, 0);
            while let Some(&byte) = text.get(end) {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 || end - at == MOST_DIGITS {
                    break;
                }
                value = 10 * value + u64::from(digit);
                end += 1;
            }
            // A 0 in front makes it octal.
            let decimal = end == at + 1 || (end > at && text[at] != b'0');
            if !decimal || text.get(end) != Some(&b',') || (bits < 64 && value >> bits != 0) {
                break;
            }
            self.push_number(bits, value);
            comma = Some(end);
            at = end + 1 + usize::from(text.get(end + 1) == Some(&b' '));
        }
        if let Some(comma) = comma {
            self.token = Token { kind: Kind::Punct(b','), start: comma as u32, end: comma as u32 + 1 };
            self.lexer.pos = comma + 1;
            self.bump();
        }
    }

    fn at_data_directive(&self) -> bool {
        matches!(self.text(), b".b8" | b".byte" | b".b16" | b".b32" | b".4byte" | b".b64" | b".quad")
    }

    /// An integer in range of a data directive. Past 16 bits ptxas checks the lower end only.
    fn data_int(&mut self, bits: u8) -> Parse<u64> {
        let start = self.token.start;
        let negative = self.eat(b'-');
        if self.token.kind != Kind::Int {
            return Err(self.expected("an integer"));
        }
        let magnitude = self.wide_count("an integer")?;
        let in_range = match (bits, negative) {
            (64, false) => true,
            (64, true) => magnitude <= i64::MAX as u64,
            (_, true) => magnitude <= 1 << (bits - 1),
            (32, false) => true,
            (_, false) => magnitude < 1 << bits,
        };
        if !in_range {
            let span = self.since(start);
            let sign = if negative { "-" } else { "" };
            return Err(self.error(
                codes::DATA_RANGE,
                span,
                format!("{sign}{magnitude} does not fit `.b{bits}`"),
            ));
        }
        if negative {
            self.negative_data(start);
        }
        let value = if negative { magnitude.wrapping_neg() } else { magnitude };
        Ok(value & (u64::MAX >> (64 - bits)))
    }

    /// Old versions have no negative numbers here. The tree has their bits only, so it is reported now.
    fn negative_data(&mut self, start: u32) {
        let row = warpsmith_isa::Directive::from_name(".section.negative");
        let since = row.and_then(|row| row.gates.first()?.any.first()?.since);
        if let (Some(since), Some(version)) = (since, self.module.version())
            && version < since
        {
            let message = format!("a negative number in a `.section` is not in PTX {version}");
            let note = format!("it needs `.version {since}`, or write the number modulo the width");
            let span = self.since(start);
            self.report(Diagnostic::error(codes::GATE, span, message).note(note));
        }
    }

    /// `label`, `label+4` or `end-start`, which only 32 and 64 bits can hold.
    fn data_address(&mut self, bits: u8) -> Parse<DataValue> {
        let start = self.token.start;
        let label = self.token.kind == Kind::Name;
        let name = self.label_or_section()?;
        let value = if self.eat(b'+') {
            let offset = self.wide_count("an offset")? as i64;
            DataValue::Address { name, offset }
        } else if label && self.eat(b'-') {
            DataValue::Difference { end: name, start: self.name("a label")?.0 }
        } else {
            DataValue::Address { name, offset: 0 }
        };
        if bits < 32 {
            let span = self.since(start);
            return Err(self.error(codes::DATA_RANGE, span, format!("an address does not fit `.b{bits}`")));
        }
        Ok(value)
    }

    fn label_or_section(&mut self) -> Parse<Symbol> {
        if self.token.kind == Kind::Dot {
            let span = self.span();
            let symbol = self.intern(span);
            self.bump();
            return Ok(symbol);
        }
        Ok(self.name("a label")?.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse, print};

    /// A blank in front of a comma keeps a number from being read without a token.
    #[test]
    fn lists_are_the_same_with_tokens_and_without() {
        let lists = [
            ".b8 1, 2,3, 0, 255, 017, 0x1f, 9, -1, 10, 11",
            ".b16 1, 65535, 2,0,3",
            ".b32 4294967295, 1, 4294967296, 2, 99999999999, 3",
            ".b64 9999999999, 12345678901234, 1, 2147483647",
            ".b8 1, 256, 3",
            ".b16 1, 65536, 3",
            ".b8 1, 2,",
            ".b8 1,, 2",
            ".b32 1, 2, name",
        ];
        for list in lists {
            let text =
                |list: &str| format!(".version 7.0\n.target sm_70\n.section .debug_info {{\n{list}\n}}\n");
            let [fast, slow] = [text(list), text(&list.replace(',', " ,"))].map(|text| {
                let parsed = parse(&text);
                let messages: Vec<String> = parsed.diagnostics.iter().map(|d| d.message.clone()).collect();
                (print(&parsed.module), messages)
            });
            assert_eq!(fast, slow, "{list}");
        }
    }
}
