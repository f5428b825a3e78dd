//! Decimal arithmetic for Sprig's float functions: a float's shortest digits, exact sums and products,
//! quotients to 16 places.

/// A decimal number: an integer and a power of ten, as digits of any length.
#[derive(Clone, Debug)]
pub struct Decimal {
    negative: bool,
    /// Decimal digits, the most significant first, no leading zeros.
    digits: Vec<u8>,
    exponent: i64,
}

/// Decimal places of a quotient.
const DIVISION_PLACES: i64 = 16;

/// Further digits are cut; floats have 17.
const MAX_DIGITS: usize = 1200;

impl Decimal {
    /// The decimal of a float's shortest text.
    pub fn of(number: f64) -> Self {
        if !number.is_finite() {
            return Self { negative: false, digits: vec![0], exponent: 0 };
        }
        let (digits, point) = crate::number::shortest(number);
        let digits: Vec<u8> = digits.iter().map(|d| d - b'0').collect();
        let exponent = i64::from(point) - digits.len() as i64;
        Self { negative: number < 0.0, digits, exponent }.trimmed()
    }

    fn trimmed(mut self) -> Self {
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros.min(self.digits.len().saturating_sub(1)));
        if self.digits.len() > MAX_DIGITS {
            self.exponent += (self.digits.len() - MAX_DIGITS) as i64;
            self.digits.truncate(MAX_DIGITS);
        }
        self
    }

    /// The digits at a lower exponent.
    fn scaled(&self, exponent: i64) -> Vec<u8> {
        let mut digits = self.digits.clone();
        let zeros = (self.exponent - exponent).clamp(0, MAX_DIGITS as i64) as usize;
        digits.extend(std::iter::repeat_n(0, zeros));
        digits
    }

    /// The sum.
    pub fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.scaled(exponent), other.scaled(exponent));
        if self.negative == other.negative {
            return Self { negative: self.negative, digits: add_digits(&a, &b), exponent }.trimmed();
        }
        let (larger, smaller, negative) = if less(&a, &b) { (&b, &a, other.negative) } else { (&a, &b, self.negative) };
        Self { negative, digits: sub_digits(larger, smaller), exponent }.trimmed()
    }

    /// The difference.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&Self { negative: !other.negative, ..other.clone() })
    }

    /// The product.
    pub fn mul(&self, other: &Self) -> Self {
        let mut cells = vec![0u32; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().rev().enumerate() {
            for (j, b) in other.digits.iter().rev().enumerate() {
                if let Some(cell) = cells.get_mut(i + j) {
                    *cell += u32::from(*a) * u32::from(*b);
                }
            }
        }
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::with_capacity(cells.len());
        for cell in cells {
            let sum = cell + carry;
            digits.push((sum % 10) as u8);
            carry = sum / 10;
        }
        digits.reverse();
        let negative = self.negative != other.negative;
        Self { negative, digits, exponent: self.exponent + other.exponent }.trimmed()
    }

    /// The quotient to 16 places, rounded half up; `None` by zero.
    pub fn div(&self, other: &Self) -> Option<Self> {
        if other.digits.iter().all(|d| *d == 0) {
            return None;
        }
        // Scale so that the integer quotient has one extra place, then round.
        let shift = DIVISION_PLACES + 1 + self.exponent - other.exponent;
        let mut dividend = self.digits.clone();
        let mut divisor = other.digits.clone();
        if shift >= 0 {
            dividend.extend(std::iter::repeat_n(0, shift.min(MAX_DIGITS as i64) as usize));
        } else {
            divisor.extend(std::iter::repeat_n(0, (-shift).min(MAX_DIGITS as i64) as usize));
        }
        let mut quotient = divide_digits(&dividend, &divisor);
        let last = quotient.pop().unwrap_or(0);
        if last >= 5 {
            quotient = add_digits(&quotient, &[1]);
        }
        let negative = self.negative != other.negative;
        Some(Self { negative, digits: quotient, exponent: -DIVISION_PLACES }.trimmed())
    }

    /// The nearest float.
    pub fn to_f64(&self) -> f64 {
        let digits: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        let sign = if self.negative { "-" } else { "" };
        let number = format!("{sign}{digits}e{}", self.exponent).parse().unwrap_or(0.0);
        if number == 0.0 { 0.0 } else { number }
    }
}

fn less(a: &[u8], b: &[u8]) -> bool {
    let strip = |d: &[u8]| -> Vec<u8> { d.iter().copied().skip_while(|x| *x == 0).collect() };
    let (a, b) = (strip(a), strip(b));
    a.len() < b.len() || a.len() == b.len() && a < b
}

fn add_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len().max(b.len()) + 1);
    let (mut a, mut b) = (a.iter().rev(), b.iter().rev());
    let mut carry = 0;
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() {
            break;
        }
        let sum = x.copied().unwrap_or(0) + y.copied().unwrap_or(0) + carry;
        out.push(sum % 10);
        carry = sum / 10;
    }
    out.push(carry);
    out.reverse();
    out
}

fn sub_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len());
    let mut b = b.iter().rev();
    let mut borrow = 0i8;
    for x in a.iter().rev() {
        let mut digit = *x as i8 - borrow - b.next().copied().unwrap_or(0) as i8;
        borrow = i8::from(digit < 0);
        if digit < 0 {
            digit += 10;
        }
        out.push(digit as u8);
    }
    out.reverse();
    out
}

fn divide_digits(dividend: &[u8], divisor: &[u8]) -> Vec<u8> {
    let mut quotient = Vec::with_capacity(dividend.len());
    let mut remainder: Vec<u8> = Vec::new();
    for digit in dividend {
        remainder.push(*digit);
        let mut count = 0;
        while !less(&remainder, divisor) {
            let width = remainder.len();
            let padded: Vec<u8> =
                std::iter::repeat_n(0, width.saturating_sub(divisor.len())).chain(divisor.iter().copied()).collect();
            remainder = sub_digits(&remainder, padded.get(padded.len().saturating_sub(width)..).unwrap_or_default());
            count += 1;
        }
        quotient.push(count);
    }
    quotient
}
