// Double-single arithmetic: a number is the unevaluated sum of two f32, high part first, with about 45 bits.
// Sources: Dekker (1971), doi:10.1007/BF01397083; Knuth, The Art of Computer Programming, vol. 2, 4.2.2.
//
// Shader compilers may contract products and sums and may simplify (a + b) - a. `opaque_f32` keeps intermediate
// results as they are rounded: it combines their bits with a zero that only the host knows.

fn opaque_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.counts.y);
}

// The sum and its rounding error.
fn two_sum(a: f32, b: f32) -> vec2<f32> {
    let s = opaque_f32(a + b);
    let t = opaque_f32(s - a);
    return vec2<f32>(s, (a - opaque_f32(s - t)) + (b - t));
}

// The sum and its rounding error, for |a| >= |b|.
fn quick_two_sum(a: f32, b: f32) -> vec2<f32> {
    let s = opaque_f32(a + b);
    return vec2<f32>(s, b - opaque_f32(s - a));
}

// The upper twelve bits of the significand.
fn upper_half(a: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
}

// The product and its rounding error. Products of halves are exact, contracted or not.
fn two_product(a: f32, b: f32) -> vec2<f32> {
    let p = opaque_f32(a * b);
    let a_high = upper_half(a);
    let a_low = a - a_high;
    let b_high = upper_half(b);
    let b_low = b - b_high;
    return vec2<f32>(p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low);
}

fn ds_add(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let s = two_sum(a.x, b.x);
    return quick_two_sum(s.x, s.y + (a.y + b.y));
}

fn ds_sub(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return ds_add(a, -b);
}

fn ds_mul(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let p = two_product(a.x, b.x);
    return quick_two_sum(p.x, p.y + opaque_f32(a.x * b.y + a.y * b.x));
}

fn ds_div(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let first = opaque_f32(a.x / b.x);
    let rest = ds_sub(a, ds_mul(b, vec2<f32>(first, 0.0)));
    return quick_two_sum(first, rest.x / b.x);
}

// The root of a positive number: a step of Newton's method from that in f32.
fn ds_sqrt(a: vec2<f32>) -> vec2<f32> {
    let root = sqrt(a.x);
    return quick_two_sum(root, ds_sub(a, two_product(root, root)).x / (2.0 * root));
}

struct Ds3 {
    x: vec2<f32>,
    y: vec2<f32>,
    z: vec2<f32>,
}

fn ds3_add(a: Ds3, b: Ds3) -> Ds3 {
    return Ds3(ds_add(a.x, b.x), ds_add(a.y, b.y), ds_add(a.z, b.z));
}

fn ds3_scaled(a: Ds3, factor: vec2<f32>) -> Ds3 {
    return Ds3(ds_mul(a.x, factor), ds_mul(a.y, factor), ds_mul(a.z, factor));
}

fn ds3_sub(a: Ds3, b: Ds3) -> Ds3 {
    return Ds3(ds_sub(a.x, b.x), ds_sub(a.y, b.y), ds_sub(a.z, b.z));
}

fn ds3_dot(a: Ds3, b: Ds3) -> vec2<f32> {
    return ds_add(ds_add(ds_mul(a.x, b.x), ds_mul(a.y, b.y)), ds_mul(a.z, b.z));
}

fn ds3_cross(a: Ds3, b: Ds3) -> Ds3 {
    return Ds3(
        ds_sub(ds_mul(a.y, b.z), ds_mul(a.z, b.y)),
        ds_sub(ds_mul(a.z, b.x), ds_mul(a.x, b.z)),
        ds_sub(ds_mul(a.x, b.y), ds_mul(a.y, b.x)),
    );
}

// The vector over its length.
fn ds3_unit(a: Ds3) -> Ds3 {
    return ds3_scaled(a, ds_div(vec2<f32>(1.0, 0.0), ds_sqrt(ds3_dot(a, a))));
}

// The vector in f32.
fn ds3_rounded(a: Ds3) -> vec3<f32> {
    return vec3<f32>(a.x.x, a.y.x, a.z.x);
}

// The coordinates in cyclic order, the major axis last.
fn ds3_permuted(a: Ds3, major: u32) -> Ds3 {
    if major == 0u {
        return Ds3(a.y, a.z, a.x);
    }
    if major == 1u {
        return Ds3(a.z, a.x, a.y);
    }
    return a;
}
