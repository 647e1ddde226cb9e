// Echoes of pulses in closed form. The formulas are those of etendue-physics (pulse/echo_form.rs).

const PULSE_TIMING: u32 = 0u;
const EDGE_TIMING: u32 = 1u;

// Returns that merge: total power, mean range beyond the nearest, and variance of the range.
struct Merged {
    power: f32,
    beyond: f32,
    variance: f32,
}

// Number of standard deviations before its peak at which a pulse is 1/ratio of the peak.
fn level(ratio: f32) -> f32 {
    return sqrt(2.0 * logarithm(max(ratio, 1.0)));
}

// Range error of an echo of a mean peak and a peak, with the ratio of its width to that of a single return, m.
fn timing_error(mean: f32, noise: f32, peak: f32, stretch: f32, draw: f32) -> f32 {
    var bias = 0.0;
    var slope = params.timing.z;
    if params.kinds.x == PULSE_TIMING {
        slope *= sqrt(stretch);
    } else if params.kinds.x == EDGE_TIMING {
        bias = params.timing.w * params.timing.y * (1.0 - stretch);
        slope *= stretch;
    } else {
        let sd = params.timing.y * stretch;
        let fraction = clamp(params.receiver.x / mean, 1e-6, 0.98);
        bias = params.timing.z - sd * level(peak / params.receiver.x);
        slope = sd / (fraction * sqrt(-2.0 * logarithm(fraction)));
    }
    let spread = slope * noise / mean;
    return bias + draw * sqrt(spread * spread + params.timing.x * params.timing.x);
}

// The returns from a place in the list up to before another one.
fn merged(first: u32, until: u32) -> Merged {
    var all: Merged;
    for (var one = first; one < until; one++) {
        all.power += powers[one];
        all.beyond += powers[one] * ds_sub(distances[one], distances[first]).x;
    }
    all.beyond /= all.power;
    for (var one = first; one < until && first + 1u < until; one++) {
        let beyond = ds_sub(distances[one], distances[first]).x - all.beyond;
        all.variance += powers[one] / all.power * beyond * beyond;
    }
    return all;
}

// The echo of returns that merge, the nearest of which has a range, with two normal draws. Returns whether it is found.
fn found_merged(all: Merged, nearest: vec2<f32>, normals: vec2<f32>, ambient: f32, found: ptr<function, Detection>) -> bool {
    let sd = params.timing.y;
    let stretch = select(sqrt(1.0 + all.variance / (sd * sd)), 1.0, all.variance == 0.0);
    let mean = all.power / stretch;
    let noise = sqrt(params.receiver.z + params.receiver.w * (max(mean, 0.0) + ambient));
    let peak = min(mean + noise * normals.x, params.receiver.y + params.ambient.y * ambient);
    if mean <= 0.0 || peak < params.receiver.x {
        return false;
    }
    let shift = all.beyond + timing_error(mean, noise, peak, stretch, normals.y);
    *found = Detection(ds_add(nearest, vec2<f32>(shift, 0.0)), peak, stretch, vec2<f32>(0.0));
    return true;
}
