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
