//! Numbers as text.

/// The digits of a number in base 10, in a part of `digits`: `write!` takes several times as long, and output is full of numbers.
pub fn decimal(digits: &mut [u8; 20], value: u64) -> &[u8] {
    let (mut first, mut rest) = (digits.len(), value);
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    &digits[first..]
}

#[test]
fn numbers_are_as_they_are_displayed() {
    for value in [0, 9, 10, 4_294_967_295, u64::MAX] {
        assert_eq!(decimal(&mut [0; 20], value), value.to_string().as_bytes());
    }
}
