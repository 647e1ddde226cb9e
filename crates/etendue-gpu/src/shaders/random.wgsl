// Random numbers by address: those of the host (etendue-physics, random/), the normal ones up to the rounding of f32.

// The product of two words: upper and lower word.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let across = a_high * b_low + (low >> 16u);
    let other = a_low * b_high + (across & 0xffffu);
    return vec2<u32>(a_high * b_high + (across >> 16u) + (other >> 16u), a * b);
}

// Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405).
fn philox(counter: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
    var words = counter;
    var key = seed;
    for (var i = 0u; i < 10u; i++) {
        let first = wide_product(words.x, 0xd2511f53u);
        let second = wide_product(words.z, 0xcd9e8d57u);
        words = vec4<u32>(second.x ^ words.y ^ key.x, second.y, first.x ^ words.w ^ key.y, first.y);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return words;
}

// Twice the area tangent of x, |x| below 0.18.
fn twice_artanh(x: f32) -> f32 {
    let y = x * x;
    return 2.0 * x * (1.0 + y * (1.0 / 3.0 + y * (0.2 + y * (1.0 / 7.0 + y * (1.0 / 9.0 + y / 11.0)))));
}

// Natural logarithm of a positive normal number. The built-in one may have an absolute error of 2^-21.
fn logarithm(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    var exponent = f32(bits >> 23u) - 127.0;
    var part = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
    if part > 1.41421356 {
        part *= 0.5;
        exponent += 1.0;
    }
    return exponent * 0.69314718056 + twice_artanh((part - 1.0) / (part + 1.0));
}

// ln(1 - u) of a uniform number u of 53 bits, the upper 32 and the lower 21.
fn log_of_complement(upper: u32, lower: u32) -> f32 {
    let u = f32(upper) * 0x1p-32 + f32(lower) * 0x1p-53;
    if u < 0.25 {
        return -twice_artanh(u / (2.0 - u));
    }
    return logarithm(f32(~upper) * 0x1p-32 + f32(0x200000u - lower) * 0x1p-53);
}

// Cosine and sine of a number of quarter turns and a rest, at most an eighth of a turn, rad. The built-in ones may have an
// absolute error of 2^-11.
fn turned(quarter: u32, x: f32) -> vec2<f32> {
    let y = x * x;
    let sine = x * (1.0 - y / 6.0 * (1.0 - y / 20.0 * (1.0 - y / 42.0 * (1.0 - y / 72.0))));
    let cosine = 1.0 - y / 2.0 * (1.0 - y / 12.0 * (1.0 - y / 30.0 * (1.0 - y / 56.0 * (1.0 - y / 90.0))));
    let turned = select(vec2<f32>(cosine, sine), vec2<f32>(-sine, cosine), (quarter & 1u) != 0u);
    return select(turned, -turned, (quarter & 2u) != 0u);
}

// Cosine and sine of a uniform number of turns, of 53 bits: the upper 32 and the lower 21.
fn turn(upper: u32, lower: u32) -> vec2<f32> {
    let quarter = (upper + 0x20000000u) >> 30u;
    let rest = f32(bitcast<i32>(upper - (quarter << 30u))) + f32(lower) * 0x1p-21;
    return turned(quarter, rest * (6.28318530718 * 0x1p-32));
}

// Two standard normal draws from a block of random words (Box and Muller 1958, doi:10.1214/aoms/1177706645).
fn normal_pair(words: vec4<u32>) -> vec2<f32> {
    return sqrt(-2.0 * log_of_complement(words.x, words.y >> 11u)) * turn(words.z, words.w >> 11u);
}
