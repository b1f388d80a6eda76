//! What C99's annex F says of zeros, infinities, NaN and other ends, for both formats, and for `f16` by way of `f32`.

mod common;

use common::{Harness, distance};
use warpsmith_ir::Type;
use warpsmith_math::Function;

/// The name, the operands, the result: as Rust reads floats; integers after `#`.
const ROWS: &str = "
sin 0 0 | sin -0 -0 | sin inf nan | sin -inf nan | sin nan nan
cos 0 1 | cos -0 1 | cos inf nan | cos nan nan
tan 0 0 | tan -0 -0 | tan inf nan | tan nan nan
sinpi 0 0 | sinpi -0 -0 | sinpi 1 0 | sinpi -1 -0 | sinpi 2 0 | sinpi 0.5 1 | sinpi 1.5 -1 | sinpi inf nan | sinpi nan nan
cospi 0 1 | cospi 0.5 0 | cospi -0.5 0 | cospi 1.5 0 | cospi 1 -1 | cospi 2 1 | cospi inf nan | cospi nan nan
asin 0 0 | asin -0 -0 | asin 2 nan | asin -1.5 nan | asin nan nan | asin inf nan
acos 1 0 | acos 2 nan | acos -2 nan | acos nan nan | acos -inf nan
atan 0 0 | atan -0 -0 | atan inf 1.5707963267948966 | atan -inf -1.5707963267948966 | atan nan nan
atan2 0 1 0 | atan2 -0 1 -0 | atan2 0 -1 3.141592653589793 | atan2 -0 -1 -3.141592653589793 | atan2 0 0 0 | atan2 -0 0 -0
atan2 0 -0 3.141592653589793 | atan2 -0 -0 -3.141592653589793 | atan2 1 0 1.5707963267948966 | atan2 -1 -0 -1.5707963267948966
atan2 1 inf 0 | atan2 -1 inf -0 | atan2 1 -inf 3.141592653589793 | atan2 inf 1 1.5707963267948966 | atan2 -inf 1 -1.5707963267948966
atan2 inf inf 0.7853981633974483 | atan2 -inf inf -0.7853981633974483 | atan2 inf -inf 2.356194490192345 | atan2 nan 1 nan | atan2 1 nan nan
sinh 0 0 | sinh -0 -0 | sinh inf inf | sinh -inf -inf | sinh nan nan | sinh 1e30 inf | sinh -1e30 -inf
cosh 0 1 | cosh -0 1 | cosh inf inf | cosh -inf inf | cosh nan nan
tanh 0 0 | tanh -0 -0 | tanh inf 1 | tanh -inf -1 | tanh nan nan | tanh 50 1
asinh 0 0 | asinh -0 -0 | asinh inf inf | asinh -inf -inf | asinh nan nan
acosh 1 0 | acosh 0.5 nan | acosh -2 nan | acosh inf inf | acosh nan nan | acosh -inf nan
atanh 0 0 | atanh -0 -0 | atanh 1 inf | atanh -1 -inf | atanh 2 nan | atanh nan nan
exp 0 1 | exp -0 1 | exp inf inf | exp -inf 0 | exp nan nan | exp 1e30 inf | exp -1e30 0
exp2 0 1 | exp2 inf inf | exp2 -inf 0 | exp2 nan nan | exp2 10 1024 | exp2 -1 0.5
exp10 0 1 | exp10 inf inf | exp10 -inf 0 | exp10 nan nan | exp10 2 100 | exp10 3 1000
expm1 0 0 | expm1 -0 -0 | expm1 inf inf | expm1 -inf -1 | expm1 nan nan
log 1 0 | log 0 -inf | log -0 -inf | log -1 nan | log inf inf | log -inf nan | log nan nan
log2 1 0 | log2 8 3 | log2 0.5 -1 | log2 0 -inf | log2 -0 -inf | log2 -1 nan | log2 inf inf | log2 nan nan
log10 1 0 | log10 1000 3 | log10 0.125 -0.9030899869919435 | log10 0 -inf | log10 -1 nan | log10 inf inf | log10 nan nan
log1p 0 0 | log1p -0 -0 | log1p -1 -inf | log1p -2 nan | log1p inf inf | log1p nan nan | log1p -inf nan
pow 0 -1 inf | pow -0 -1 -inf | pow -0 -3 -inf | pow 0 -2 inf | pow -0 -2 inf | pow -0 -2.5 inf | pow 0 -inf inf | pow -0 3 -0 | pow 0 3 0
pow -0 2 0 | pow -0 2.5 0 | pow -1 inf 1 | pow -1 -inf 1 | pow 1 nan 1 | pow 1 inf 1 | pow nan 0 1 | pow inf 0 1 | pow -2 0.5 nan
pow 0.5 -inf inf | pow 2 -inf 0 | pow 0.5 inf 0 | pow 2 inf inf | pow -inf -3 -0 | pow -inf -2 0 | pow -inf 3 -inf | pow -inf 2 inf
pow -inf 2.5 inf | pow inf -1 0 | pow inf 2 inf | pow nan 1 nan | pow 2 nan nan | pow -2 3 -8 | pow 2 10 1024 | pow -2 -1 -0.5
pow 1e30 1e30 inf | pow 0.5 1e30 0 | pow -2 1e30 inf | pow 10 2 100
powi 2 #10 1024 | powi 2 #-2 0.25 | powi -3 #3 -27 | powi 0 #0 1 | powi nan #0 1 | powi 0 #-1 inf | powi -0 #-3 -inf | powi inf #-1 0
powi 1 #-2147483648 1 | powi inf #2 inf | powi -inf #3 -inf | powi nan #2 nan | powi -1 #2147483647 -1
cbrt 0 0 | cbrt -0 -0 | cbrt 27 3 | cbrt -8 -2 | cbrt inf inf | cbrt -inf -inf | cbrt nan nan
rcbrt 8 0.5 | rcbrt 0 inf | rcbrt -0 -inf | rcbrt inf 0 | rcbrt -inf -0 | rcbrt nan nan
rsqrt 4 0.5 | rsqrt 0 inf | rsqrt -0 -inf | rsqrt inf 0 | rsqrt -1 nan | rsqrt nan nan
hypot 3 4 5 | hypot 0 -0 0 | hypot inf nan inf | hypot nan -inf inf | hypot nan 1 nan | hypot -3 0 3
fmod 5 3 2 | fmod -5 3 -2 | fmod 0 1 0 | fmod -0 1 -0 | fmod 1 0 nan | fmod inf 1 nan | fmod 5 inf 5 | fmod nan 1 nan | fmod 1 nan nan | fmod 6 3 0 | fmod -6 3 -0 | fmod 2 5 2
remainder 5 3 -1 | remainder -5 3 1 | remainder 7 2 -1 | remainder 5 2 1 | remainder 1 0 nan | remainder inf 1 nan | remainder 5 inf 5 | remainder 6 3 0 | remainder -6 3 -0 | remainder 1 2 1 | remainder 3 2 -1
erf 0 0 | erf -0 -0 | erf inf 1 | erf -inf -1 | erf nan nan
erfc 0 1 | erfc inf 0 | erfc -inf 2 | erfc nan nan | erfc 100 0 | erfc -100 2
erfcx 0 1 | erfcx inf 0 | erfcx -inf inf | erfcx nan nan | erfcx -100 inf
erfinv 0 0 | erfinv -0 -0 | erfinv 1 inf | erfinv -1 -inf | erfinv 2 nan | erfinv nan nan
normcdf 0 0.5 | normcdf inf 1 | normcdf -inf 0 | normcdf nan nan
tgamma 1 1 | tgamma 5 24 | tgamma 0 inf | tgamma -0 -inf | tgamma -1 nan | tgamma -2 nan | tgamma inf inf | tgamma -inf nan | tgamma nan nan | tgamma 200 inf
lgamma 1 0 | lgamma 2 0 | lgamma 0 inf | lgamma -3 inf | lgamma inf inf | lgamma -inf inf | lgamma nan nan
j0 0 1 | j0 inf 0 | j0 nan nan | j1 0 0 | j1 nan nan
ldexp 1 #3 8 | ldexp 0 #5 0 | ldexp -0 #5 -0 | ldexp inf #-5 inf | ldexp nan #1 nan | ldexp 1 #100000 inf | ldexp -1 #100000 -inf | ldexp 1 #-100000 0 | ldexp 3 #-1 1.5
logb 8 3 | logb 0.4 -2 | logb 0 -inf | logb -inf inf | logb nan nan
nextafter 1 1 1 | nextafter 0 -0 -0 | nextafter nan 1 nan | nextafter 1 nan nan | nextafter inf inf inf
round 2.5 3 | round -2.5 -3 | round 0.4 0 | round -0.4 -0 | round 0 0 | round -0 -0 | round inf inf | round nan nan
rint 2.5 2 | rint 3.5 4 | rint -0.5 -0 | rint -0 -0 | rint inf inf
trunc -0.9 -0 | trunc 2.9 2 | floor -0.5 -1 | floor -0 -0 | ceil -0.5 -0 | ceil 0.5 1
fdim 3 1 2 | fdim 1 3 0 | fdim inf 1 inf | fdim nan 1 nan | fdim inf inf 0 | fdim 1 nan nan
fmin nan 1 1 | fmin 2 nan 2 | fmax nan 1 1 | fmax -1 nan -1
copysign 3 -0 -3 | fabs -0 0 | sqrt -1 nan | sqrt -0 -0 | fma 2 3 1 7
cos -inf nan | tan -inf nan | sinpi -inf nan | cospi -inf nan | asin -inf nan | acos inf nan | asin 1 1.5707963267948966
atan2 inf -5 1.5707963267948966 | atan2 -inf -5 -1.5707963267948966 | atan2 -inf -inf -2.356194490192345 | atan2 -1 -inf -3.141592653589793
atan2 -1 0 -1.5707963267948966 | atan2 1 -0 1.5707963267948966 | atan2 nan nan nan | atan2 inf nan nan | atan2 nan inf nan | atan2 0 inf 0 | atan2 -0 -inf -3.141592653589793
atanh -2 nan | atanh inf nan | atanh -inf nan | exp2 -0 1 | exp10 -0 1 | exp2 2000 inf | exp10 2000 inf | exp2 -2000 0 | exp10 -2000 0
log2 -inf nan | log10 -0 -inf | log10 -inf nan | expm1 1e30 inf | expm1 -1e30 -1
pow 1 -inf 1 | pow nan -0 1 | pow -inf 0 1 | pow 0 0 1 | pow 0 -0 1 | pow -0 -inf inf | pow -0 inf 0 | pow 0 inf 0 | pow 0 2.5 0 | pow -0 -0.5 inf
pow inf inf inf | pow inf -inf 0 | pow -inf inf inf | pow -inf -inf 0 | pow -0.5 inf 0 | pow -0.5 -inf inf | pow -2 inf inf | pow -2 -inf 0 | pow nan inf nan | pow nan -inf nan
pow inf 0.5 inf | pow inf -0.5 0 | pow -inf 0.5 inf | pow -inf -2.5 0 | pow -1 3.5 nan | pow -1 3 -1 | pow -1 4 1 | pow inf nan nan | pow 0 nan nan | pow -1 nan nan | pow 0 -2.5 inf
hypot -inf nan inf | hypot nan inf inf | hypot inf -inf inf | hypot 0 0 0 | hypot nan nan nan | hypot 5 -0 5 | hypot nan 0 nan
fmod -inf 1 nan | fmod 5 -inf 5 | fmod -0 -inf -0 | fmod 0 -1 0 | fmod 1 -0 nan | fmod nan nan nan | fmod inf 0 nan | fmod inf inf nan | fmod 0 0 nan
remainder 5 -inf 5 | remainder 0 1 0 | remainder -0 1 -0 | remainder nan 1 nan | remainder 1 nan nan | remainder -inf 1 nan | remainder 1 -0 nan | remainder inf inf nan | remainder 0 inf 0 | remainder 0 0 nan
lgamma -0 inf | lgamma -1 inf | ldexp -inf #3 -inf | ldexp 5 #0 5 | scalbn -0 #5 -0 | scalbn inf #-5 inf | scalbn nan #1 nan | scalbn 3 #-1 1.5 | logb -0 -inf | logb inf inf
nextafter -0 0 0 | nextafter -inf -inf -inf | nextafter 2 2 2 | nextafter nan nan nan
round -inf -inf | round 0.5 1 | round -0.5 -1 | rint 0 0 | rint 0.5 0 | rint -inf -inf | rint nan nan
trunc 0 0 | trunc -0 -0 | trunc inf inf | trunc -inf -inf | trunc nan nan | floor 0 0 | floor inf inf | floor -inf -inf | floor nan nan
ceil 0 0 | ceil -0 -0 | ceil inf inf | ceil -inf -inf | ceil nan nan
fdim 1 inf 0 | fdim 1 -inf inf | fdim -inf -inf 0 | fdim nan nan nan | fmin nan nan nan | fmax nan nan nan | fmin inf 1 1 | fmin -inf nan -inf | fmax inf 1 inf | fmax nan -inf -inf
erfcinv 1 0 | erfcinv 0 inf | erfcinv 2 -inf | erfcinv -1 nan | erfcinv 3 nan | erfcinv inf nan | erfcinv nan nan
normcdfinv 0.5 0 | normcdfinv 0 -inf | normcdfinv 1 inf | normcdfinv -0.1 nan | normcdfinv 2 nan | normcdfinv nan nan
y0 0 -inf | y0 -0 -inf | y0 -1 nan | y0 inf 0 | y0 -inf nan | y0 nan nan | y1 0 -inf | y1 -1 nan | y1 inf 0 | y1 -inf nan | y1 nan nan
jn #0 0 1 | jn #1 0 0 | jn #5 0 0 | jn #5 1e-70 0 | jn #2 inf 0 | jn #3 -inf 0 | jn #-1 1 nan | jn #3 nan nan
yn #0 0 -inf | yn #3 0 -inf | yn #2 -1 nan | yn #-1 1 nan | yn #2 inf 0 | yn #2 nan nan | yn #2 -inf nan
cyl_bessel_i0 0 1 | cyl_bessel_i0 inf inf | cyl_bessel_i0 -inf inf | cyl_bessel_i0 nan nan | cyl_bessel_i0 1e4 inf
cyl_bessel_i1 0 0 | cyl_bessel_i1 -0 -0 | cyl_bessel_i1 inf inf | cyl_bessel_i1 -inf -inf | cyl_bessel_i1 nan nan | cyl_bessel_i1 -1e4 -inf
rhypot 3 4 0.2 | rhypot 0 0 inf | rhypot inf nan 0 | rhypot nan 1 nan | rhypot 0 -4 0.25 | norm3d 2 3 6 7 | norm3d 0 -0 0 0 | norm3d 1 nan -inf inf | norm3d 1 nan 1 nan
rnorm3d 2 3 6 0.14285714285714285 | rnorm3d 0 0 0 inf | rnorm3d inf nan 1 0 | norm4d 1 2 2 4 5 | norm4d nan 0 0 inf inf | norm4d nan 0 0 1 nan | rnorm4d -1 2 2 4 0.2 | rnorm4d 0 0 0 0 inf
copysign inf -1 -inf | copysign 0 -1 -0 | copysign -0 1 0 | fabs -inf inf | fabs nan nan | sqrt 0 0 | sqrt inf inf | sqrt -inf nan | sqrt nan nan | sqrt 4 2
fma inf 0 1 nan | fma 0 inf nan nan | fma inf 1 -inf nan | fma inf 1 inf inf | fma nan 1 1 nan | fma 1 nan 1 nan | fma 1 1 nan nan | fma 0 0 -0 0 | fma -0 0 -0 -0 | fma inf 2 1 inf | fma 2 2 -inf -inf
";

fn bits(ty: Type, text: &str) -> u64 {
    if let Some(integer) = text.strip_prefix('#') {
        return u64::from(integer.parse::<i32>().unwrap().cast_unsigned());
    }
    match ty {
        Type::F32 => u64::from(text.parse::<f32>().unwrap().to_bits()),
        Type::F64 => text.parse::<f64>().unwrap().to_bits(),
        other => panic!("no format {other}"),
    }
}

#[test]
fn annex_f() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in ROWS.split(['|', '\n']).map(str::trim).filter(|row| !row.is_empty()) {
        let words: Vec<&str> = row.split_whitespace().collect();
        for ty in [Type::F32, Type::F64] {
            let function = Function::new(words[0], ty).unwrap_or_else(|| panic!("no function {}", words[0]));
            let operands: Vec<Vec<u64>> =
                words[1..words.len() - 1].iter().map(|w| vec![bits(ty, w)]).collect();
            let (found, expected) =
                (Harness::new(function).results(&operands)[0], bits(ty, words[words.len() - 1]));
            count += 1;
            if distance(ty, found, expected) > 0 {
                let show = if ty == Type::F32 {
                    f32::from_bits(found as u32).to_string()
                } else {
                    f64::from_bits(found).to_string()
                };
                wrong.push(format!("{row} of {ty}: {show}"));
            }
        }
    }
    assert!(count > 900, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Second results, and results that are integers.
#[test]
fn several_results() {
    for ty in [Type::F32, Type::F64] {
        let value = |x: f64| bits(ty, &x.to_string());
        let run =
            |name: &str, x: f64| Harness::new(Function::new(name, ty).unwrap()).run(&[vec![value(x)]]).0;
        let int = |n: i32| u64::from(n.cast_unsigned());
        assert_eq!(run("frexp", 12.0), [[int(4)], [value(0.75)]]);
        assert_eq!(run("frexp", -0.0), [[int(0)], [value(-0.0)]]);
        assert_eq!(run("frexp", f64::INFINITY)[1], [value(f64::INFINITY)]);
        assert_eq!(run("modf", -3.75), [[value(-3.0)], [value(-0.75)]]);
        assert_eq!(run("modf", f64::NEG_INFINITY), [[value(f64::NEG_INFINITY)], [value(-0.0)]]);
        assert_eq!(run("ilogb", 0.3), [[int(-2)]]);
        assert_eq!(run("ilogb", 0.0), [[int(i32::MIN)]]);
        assert_eq!(run("ilogb", f64::INFINITY), [[int(i32::MAX)]]);
        assert_eq!(run("sincospi", 1.5), [[value(-1.0)], [value(0.0)]]);
        let [sin, cos] = ["sin", "cos"].map(|name| run(name, 1e6)[0][0]);
        assert_eq!(run("sincos", 1e6), [[sin], [cos]]);
        let nan = bits(ty, "nan");
        assert_eq!(distance(ty, run("frexp", f64::NAN)[1][0], nan), 0);
    }
}

/// Neighbours, subnormal numbers, scaling that rounds once.
#[test]
fn ends_of_the_formats() {
    let run = |name: &str, operands: &[u64]| {
        let operands: Vec<Vec<u64>> = operands.iter().map(|bits| vec![*bits]).collect();
        Harness::new(Function::new(name, Type::F64).unwrap()).results(&operands)[0]
    };
    let f = f64::to_bits;
    assert_eq!(run("nextafter", &[f(0.0), f(1.0)]), 1);
    assert_eq!(run("nextafter", &[f(0.0), f(-1.0)]), 1 | 1 << 63);
    assert_eq!(run("nextafter", &[f(1.0), f(2.0)]), f(1.0) + 1);
    assert_eq!(run("nextafter", &[f(-1.0), f(0.0)]), f(-1.0) - 1);
    assert_eq!(run("nextafter", &[f(f64::MAX), f(f64::INFINITY)]), f(f64::INFINITY));
    assert_eq!(run("nextafter", &[1, f(0.0)]), 0);
    // 1.5 units of the least number and a little: to nearest even they are 2, rounded twice 1 or 2.
    assert_eq!(run("ldexp", &[f(1.5), u64::from((-1074i32).cast_unsigned())]), 2);
    assert_eq!(run("ldexp", &[f(1.25), u64::from((-1073i32).cast_unsigned())]), 2);
    assert_eq!(run("ldexp", &[1, 2000]), f(2f64.powi(926)));
    assert_eq!(run("fmod", &[f(f64::MAX), 1]), 0);
    assert_eq!(run("fmod", &[f(1e308), 3]), 2);
    assert_eq!(run("hypot", &[f(3e-320), f(4e-320)]), f(3e-320) / 3 * 5);
    assert_eq!(run("logb", &[1]), f(-1074.0));
    assert_eq!(run("cbrt", &[f(2f64.powi(-1074))]), f(2f64.powi(-358)));
    assert_eq!(run("exp", &[f(-745.1)]), 1);
    assert_eq!(run("pow", &[f(2.0), f(-1074.0)]), 1);
    assert_eq!(run("pow", &[f(2.0), f(1023.0)]), f(2f64.powi(1023)));
}
