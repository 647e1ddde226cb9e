// Numbers of the streams of a shot, one after the other, in double-single arithmetic.

// The uniform number of a place in a stream, of 53 bits: the upper 32 and the lower 21.
fn uniform_at(place: u32, purpose: u32) -> vec2<u32> {
    let words = philox(vec4<u32>(place / 2u, own_shot, own_sweep, params.key.w | purpose), params.key.xy);
    let own = select(words.xy, words.zw, (place & 1u) != 0u);
    return vec2<u32>(own.x, own.y >> 11u);
}

fn ds_of_uniform(upper: u32, lower: u32) -> vec2<f32> {
    return two_sum(f32(upper >> 8u) * 0x1p-24, f32(upper & 0xffu) * 0x1p-32 + f32(lower) * 0x1p-53);
}

// Twice the area tangent of x, |x| below 0.18; relative error 1e-9.
fn ds_twice_artanh(x: vec2<f32>) -> vec2<f32> {
    let y = x.x * x.x;
    let series = 1.0 / 3.0 + y * (0.2 + y * (1.0 / 7.0 + y * (1.0 / 9.0 + y / 11.0)));
    return ds_add(2.0 * x, vec2<f32>(2.0 * x.x * y * series, 0.0));
}

// ln(1 - u) of a uniform number u.
fn ds_log_of_complement(upper: u32, lower: u32) -> vec2<f32> {
    let u = ds_of_uniform(upper, lower);
    if u.x < 0.25 {
        return -ds_twice_artanh(ds_div(u, ds_sub(vec2<f32>(2.0, 0.0), u)));
    }
    let rest = two_sum(f32(~upper >> 8u) * 0x1p-24, f32(~upper & 0xffu) * 0x1p-32 + f32(0x200000u - lower) * 0x1p-53);

    // The rest is a number near one times a power of two.
    var exponent = f32(bitcast<u32>(rest.x) >> 23u) - 127.0;
    if bitcast<f32>((bitcast<u32>(rest.x) & 0x7fffffu) | 0x3f800000u) > 1.41421356 {
        exponent += 1.0;
    }
    let part = rest * bitcast<f32>(u32(127.0 - exponent) << 23u);
    let one = vec2<f32>(1.0, 0.0);
    let of_part = ds_twice_artanh(ds_div(ds_sub(part, one), ds_add(part, one)));
    return ds_add(ds_mul(vec2<f32>(exponent, 0.0), vec2<f32>(0.693147182, -1.904654323e-9)), of_part);
}

// ln k! less its leading terms k ln k - k, for k of at least 10 (Stirling's series).
fn stirling_rest(k: f32) -> f32 {
    return 0.5 * logarithm(6.28318530718 * k) + (1.0 / 12.0 - 1.0 / (360.0 * k * k)) / k;
}

// Logarithm of the probability of a count, for means of at least 12.
fn log_of_count(k: f32, mean: vec2<f32>) -> f32 {
    if k < 10.0 {
        var product = 1.0;
        for (var factor = 2.0; factor <= k; factor += 1.0) {
            product *= factor;
        }
        return k * logarithm(mean.x) - mean.x - logarithm(product);
    }
    let apart = ds_sub(mean, vec2<f32>(k, 0.0)).x / k;
    let z = apart / (2.0 + apart);
    var excess = logarithm(mean.x / k) - apart;
    if abs(z) < 0.17 {
        let y = z * z;
        let series = 1.0 / 3.0 + y * (0.2 + y * (1.0 / 7.0 + y * (1.0 / 9.0 + y / 11.0)));
        excess = 2.0 * z * y * series - z * apart;
    }
    return k * excess - stirling_rest(k);
}

// A count, and the place of the next number of the stream.
struct Count {
    number: f32,
    next: u32,
}

// A draw from the Poisson distribution of a mean, as etendue-physics, pulse/poisson.rs; `place` is that of the next number of the
// stream.
fn poisson(mean: vec2<f32>, place: u32, purpose: u32) -> Count {
    // Few events: their gaps.
    var count = 0.0;
    var next = place;
    if mean.x < 12.0 {
        var left = mean;
        loop {
            let u = uniform_at(next, purpose);
            next += 1u;
            left = ds_add(left, ds_log_of_complement(u.x, u.y));
            if left.x < 0.0 {
                break;
            }
            count += 1.0;
        }
        return Count(count, next);
    }

    // Rejection, with the names of Hormann 1993 (doi:10.1016/0167-6687(93)90997-4).
    let b = ds_add(vec2<f32>(0.931, 0.0), ds_mul(vec2<f32>(2.53, 0.0), ds_sqrt(mean)));
    let a = ds_add(vec2<f32>(-0.059, 0.0), ds_mul(vec2<f32>(0.02483, 0.0), b));
    let inverse_alpha = 1.1239 + 1.1328 / (b.x - 3.4);
    let quick = 0.9277 - 3.6224 / (b.x - 2.0);
    loop {
        let first = uniform_at(next, purpose);
        let second = uniform_at(next + 1u, purpose);
        next += 2u;
        let u = ds_sub(ds_of_uniform(first.x, first.y), vec2<f32>(0.5, 0.0));
        let v = ds_of_uniform(second.x, second.y).x;
        let us = ds_sub(vec2<f32>(0.5, 0.0), select(u, -u, u.x < 0.0));
        let shifted = ds_mul(ds_add(ds_div(2.0 * a, us), b), u);
        count = ds_floor(ds_add(ds_add(shifted, mean), vec2<f32>(0.43, 0.0)));
        if us.x >= 0.07 && v <= quick {
            break;
        }
        if count < 0.0 || (us.x < 0.013 && v > us.x) {
            continue;
        }
        let height = logarithm(max(v * inverse_alpha / (a.x / (us.x * us.x) + b.x), 1e-37));
        if height <= log_of_count(count, mean) {
            break;
        }
    }
    return Count(count, next);
}
