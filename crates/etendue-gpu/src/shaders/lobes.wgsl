// Light that a surface scatters from one direction in another. The formulas are those of etendue-physics (surface/lobe/, ggx.rs,
// fresnel.rs, cosine.rs).

// Two directions away from a surface, with their cosines and the vector products of the normal with each and with their sum.
struct Directions {
    cos_in: f32,
    cos_out: f32,
    across_in: vec3<f32>,
    across_out: vec3<f32>,
    // Of the sum: square of its length, and of the sine of its angle to the normal.
    square: f32,
    sine_of_half: f32,
    // One less the cosine of the angle between both.
    apart: f32,
    is_back: bool,
}

// Kinds of lobes.
const DIFFUSE: u32 = 0u;
const FACETS: u32 = 1u;
const BETWEEN_FACETS: u32 = 3u;
const OUTSIDE: u32 = 4u;
const INSIDE: u32 = 5u;
// Reflectance of facets.
const DIELECTRIC: u32 = 0u;
const CONDUCTOR: u32 = 1u;
// The surface of a clear solid, whose index is inverse from its back.
const SOLID: u32 = 3u;
// Masking of facets.
const SMITH_CORRELATED: u32 = 0u;
const SMITH_SEPARABLE: u32 = 1u;
const LEAST_COSINE: f32 = 1e-6;
const PI: f32 = 3.14159265359;

fn directions_of(normal: Ds3, incoming: Ds3, outgoing: Ds3, is_back: bool) -> Directions {
    let sum = ds3_add(incoming, outgoing);
    let difference = ds3_rounded(ds3_sub(incoming, outgoing));
    let rounded_sum = ds3_rounded(sum);
    let square = dot(rounded_sum, rounded_sum);
    let across = ds3_rounded(ds3_cross(normal, sum));
    return Directions(
        ds3_dot(normal, incoming).x,
        ds3_dot(normal, outgoing).x,
        ds3_rounded(ds3_cross(normal, incoming)),
        ds3_rounded(ds3_cross(normal, outgoing)),
        square,
        dot(across, across) / square,
        0.5 * dot(difference, difference),
        is_back,
    );
}

// The square of twice an angle over pi, from its cosine and sine.
fn quarter_turn_squared(cosine: f32, sine: f32) -> f32 {
    let is_small = sine < 0.70710678;
    let angle = select(1.57079633 - asin_of(cosine), asin_of(min(sine, 0.7071068)), is_small);
    return angle * angle * 0.405284735;
}

fn dielectric_reflectance(cos_incidence: f32, index: f32) -> f32 {
    let cosine = max(cos_incidence, LEAST_COSINE);
    let squared = 1.0 - (1.0 - cosine * cosine) / (index * index);
    if squared <= 1e-14 {
        return 1.0;
    }
    let behind = sqrt(squared);
    let s = (cosine - index * behind) / (cosine + index * behind);
    let p = (index * cosine - behind) / (index * cosine + behind);
    return 0.5 * (s * s + p * p);
}

fn conductor_reflectance(cos_incidence: f32, n: f32, k: f32) -> f32 {
    let cosine = max(cos_incidence, LEAST_COSINE);
    let cos2 = cosine * cosine;
    let sin2 = 1.0 - cos2;
    let real = n * n - k * k - sin2;
    let imaginary = 2.0 * n * k;
    let modulus = sqrt(real * real + imaginary * imaginary);
    var a = sqrt(max(0.5 * (modulus + real), 0.0));
    if real <= 0.0 {
        a = imaginary / sqrt(2.0 * (modulus - real));
    }
    let even_s = modulus + cos2;
    let odd_s = 2.0 * a * cosine;
    let even_p = cos2 * modulus + sin2 * sin2;
    let odd_p = odd_s * sin2;
    let s = (even_s - odd_s) / (even_s + odd_s);
    return 0.5 * (s + s * (even_p - odd_p) / (even_p + odd_p));
}

fn smith_root(cosine: f32, alpha: f32) -> f32 {
    return sqrt(alpha * alpha + (1.0 - alpha * alpha) * cosine * cosine);
}

// A diffuse lobe: constant, tangent, both grazing, second; whether the full form applies, index of a coat (0: none), factor of the
// coat. Constant and others have the reflectance over pi.
fn diffuse(one: vec4<f32>, two: vec4<f32>, both: Directions) -> f32 {
    let cos_in = max(both.cos_in, LEAST_COSINE);
    let cos_out = max(both.cos_out, LEAST_COSINE);
    let cos_alpha = min(cos_in, cos_out);
    let cos_beta = max(cos_in, cos_out);
    let aligned = dot(both.across_in, both.across_out);
    var shape = one.x;
    if two.x == 0.0 {
        shape += one.y * max(aligned, 0.0) / cos_beta;
    } else {
        let sines = vec2<f32>(length(both.across_in), length(both.across_out));
        let sin_alpha = max(sines.x, sines.y);
        let sin_beta = min(sines.x, sines.y);
        let product = sines.x * sines.y;
        let azimuth = select(aligned / max(product, 1e-30), 0.0, product < 1e-12);
        let beta = quarter_turn_squared(cos_beta, sin_beta);
        let turns = quarter_turn_squared(cos_alpha, sin_alpha) * beta;
        let grazing = one.z * turns * (sin_alpha + sin_beta) / (cos_alpha + cos_beta);
        if azimuth >= 0.0 {
            shape += one.y * aligned / cos_beta + (1.0 - azimuth) * grazing;
        } else {
            let away = one.y * (sin_alpha - beta * sqrt(beta)) * sin_beta / cos_beta;
            shape += min(away, one.x) * azimuth + (1.0 + azimuth) * grazing;
        }
        shape += one.w * (1.0 - azimuth * beta);
    }
    if two.y > 0.0 {
        let passed = 1.0 - dielectric_reflectance(both.cos_in, two.y);
        shape *= two.z * passed * (1.0 - dielectric_reflectance(both.cos_out, two.y));
    }
    return shape;
}

// A lobe of facets: weight, roughness, kind of masking, kind of reflectance; its two numbers.
fn facets(one: vec4<f32>, two: vec4<f32>, both: Directions) -> f32 {
    // Distribution of the facets.
    let alpha = one.y * one.y;
    let spread = (1.0 - both.sine_of_half) * alpha * alpha + both.sine_of_half;
    let distribution = alpha / spread * (alpha / spread) / PI;

    // Masking.
    let cos_in = max(both.cos_in, LEAST_COSINE);
    let cos_out = max(both.cos_out, LEAST_COSINE);
    let masking = u32(one.z);
    var visibility = 0.5 / (cos_in * smith_root(cos_out, alpha) + cos_out * smith_root(cos_in, alpha));
    if masking == SMITH_SEPARABLE {
        visibility = 1.0 / ((cos_in + smith_root(cos_in, alpha)) * (cos_out + smith_root(cos_out, alpha)));
    } else if masking != SMITH_CORRELATED {
        let k = (one.y + 1.0) * (one.y + 1.0) / 8.0;
        visibility = 0.25 / ((cos_in * (1.0 - k) + k) * (cos_out * (1.0 - k) + k));
    }

    // Reflectance of a facet.
    let toward = 0.5 * sqrt(both.square);
    let kind = u32(one.w);
    var reflected = 0.0;
    if kind == DIELECTRIC {
        reflected = dielectric_reflectance(toward, two.x);
    } else if kind == CONDUCTOR {
        reflected = conductor_reflectance(toward, two.x, two.y);
    } else if kind == SOLID {
        reflected = dielectric_reflectance(toward, select(two.x, 1.0 / two.x, both.is_back));
    } else {
        let away = 1.0 - toward;
        reflected = two.x + (1.0 - two.x) * away * away * away * away * away;
    }
    return one.x * distribution * visibility * reflected;
}

// Root of the light that white facets do not reflect out of the surface at once; width and knee, coefficients of the polynomial.
fn root_of_lost(cos_incidence: f32, kind: vec4<f32>, one: vec4<f32>, two: vec4<f32>) -> f32 {
    let cosine = max(cos_incidence, LEAST_COSINE);
    let w = cosine * (1.0 + kind.z) / (cosine + kind.z);
    let u = 2.0 * w - 1.0;
    let shape = ((((two.y * u + two.x) * u + one.w) * u + one.z) * u + one.y) * u + one.x;
    return sqrt(w) * (1.0 - w + kind.y * w) * shape;
}

// Light between facets: width and knee, coefficients of the polynomial, factor.
fn between_facets(kind: vec4<f32>, one: vec4<f32>, two: vec4<f32>, both: Directions) -> f32 {
    let roots = root_of_lost(both.cos_in, kind, one, two) * root_of_lost(both.cos_out, kind, one, two);
    return two.z * roots * roots;
}

// Root of the light that leaves in no direction after the first facet of a clear solid; width and knee, coefficients of Chebyshev
// polynomials with the fourth root of a factor.
fn root_of_lost_in_clear(cos_incidence: f32, kind: vec4<f32>, one: vec4<f32>, two: vec4<f32>) -> f32 {
    let cosine = max(cos_incidence, LEAST_COSINE);
    let w = cosine * (1.0 + kind.z) / (cosine + kind.z);
    let u = 2.0 * w - 1.0;
    let shape = array<f32, 8>(one.x, one.y, one.z, one.w, two.x, two.y, two.z, two.w);
    var current = 0.0;
    var last = 0.0;
    for (var order = 8u; order > 0u; order--) {
        let next = 2.0 * u * current - last + shape[order - 1u];
        last = current;
        current = next;
    }
    return sqrt(max(1.0 - w + kind.y * w, 0.0)) * (u * current - last + kind.w);
}

// Light that several facets of a clear solid reflect on the side of the light.
fn between_clear(kind: vec4<f32>, one: vec4<f32>, two: vec4<f32>, both: Directions) -> f32 {
    if (u32(kind.x) == INSIDE) != both.is_back {
        return 0.0;
    }
    let roots = root_of_lost_in_clear(both.cos_in, kind, one, two) * root_of_lost_in_clear(both.cos_out, kind, one, two);

    // Poisson's kernel of the azimuths.
    let cosines = max(vec2<f32>(both.cos_in, both.cos_out), vec2<f32>(LEAST_COSINE));
    let squares = cosines * cosines;
    let product = squares.x * squares.y;
    let forwards = (squares.x + squares.y - product) / (both.sine_of_half * both.square + product);
    return roots * roots * forwards;
}

// A lobe back to where the light is from: its value at normal incidence, inverse variance, and fall per squared tangent.
fn returned(one: vec4<f32>, both: Directions) -> f32 {
    let cos_in = max(both.cos_in, LEAST_COSINE);
    let cos_out = max(both.cos_out, LEAST_COSINE);
    let tangents = 0.5 * (1.0 / (cos_in * cos_in) + 1.0 / (cos_out * cos_out)) - 1.0;
    let fall = exponential(-one.z * tangents - one.y * both.apart);
    return one.x * fall / max(cos_in, cos_out);
}

// Light that a number of lobes scatter, 1/sr; three numbers of four each.
fn scattered(first: u32, count: u32, both: Directions) -> f32 {
    var sum = 0.0;
    for (var number = 0u; number < count; number++) {
        let at = first + 3u * number;
        let kind = u32(lit[at].x);
        if kind == DIFFUSE {
            sum += diffuse(lit[at + 1u], lit[at + 2u], both);
        } else if kind == FACETS {
            sum += facets(lit[at + 1u], lit[at + 2u], both);
        } else if kind == BETWEEN_FACETS {
            sum += between_facets(lit[at], lit[at + 1u], lit[at + 2u], both);
        } else if kind == OUTSIDE || kind == INSIDE {
            sum += between_clear(lit[at], lit[at + 1u], lit[at + 2u], both);
        } else {
            sum += returned(lit[at + 1u], both);
        }
    }
    return sum;
}
