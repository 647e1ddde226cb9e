// Noise of shots. The parameters have the seed, the sweep of the first environment, and the sensor in the upper twelve bits:
// `params.key`.

fn draws(pair: u32, shot: u32, sweep: u32, purpose: u32) -> vec2<f32> {
    return normal_pair(philox(vec4<u32>(pair, shot, sweep, params.key.w | purpose), params.key.xy));
}

// A moving average over a beam and its predecessors in the same channel, `stride` shots apart.
fn averaged(weights: vec4<f32>, shot: u32, stride: u32, sweep: u32, purpose: u32) -> f32 {
    var sum = 0.0;
    for (var back = 0u; back < 4u; back++) {
        if weights[back] != 0.0 {
            sum += weights[back] * draws(0u, shot - back * stride, sweep, purpose).x;
        }
    }
    return sum;
}

// Probability that a standard normal draw is above a number of at least zero (Press et al. 1992, section 6.2).
fn upper_tail(z: f32) -> f32 {
    let x = z * 0.70710678;
    let t = 1.0 / (1.0 + 0.5 * x);
    let high = -1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277));
    let middle = 0.09678418 + t * (-0.18628806 + t * (0.27886807 + t * high));
    let series = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * middle));
    return 0.5 * t * exp(series - x * x);
}
