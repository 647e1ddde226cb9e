// Echoes of receivers that separate surfaces, in closed form: pulses and triangulation. The formulas are those of etendue-physics
// (pulse/echo_form.rs).

const PULSE_TIMING: u32 = 0u;
const EDGE_TIMING: u32 = 1u;
// Returns are one spot up to this share of their distance.
const ONE_SPOT: f32 = 0.02;

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

// The range of a spot at a distance.
fn triangulated(distance: vec2<f32>, draw: f32) -> vec2<f32> {
    var angle = ds_add(ds_div(params.timing.zw, distance), vec2<f32>(params.timing.x * draw, 0.0));
    if params.timing.y > 0.0 {
        let step = vec2<f32>(params.timing.y, 0.0);
        let steps = ds_div(angle, step);
        let whole = floor(steps.x);
        angle = ds_mul(step, two_sum(whole, floor((steps.x - whole) + steps.y + 0.5)));
    }
    if angle.x < 1e-12 {
        angle = vec2<f32>(1e-12, 0.0);
    }
    return ds_div(params.timing.zw, angle);
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN || draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }

    // The echoes of merged returns; the brightest spot of a receiver that triangulates.
    let of_environment = params.key.z + environment;
    var brightest: Detection;
    var groups = 0u;
    var first = 0u;
    for (var place = 0u; place < returns; place++) {
        var reach = params.light.x;
        if params.kinds.x == TRIANGULATION {
            reach = ONE_SPOT * distances[place].x;
        }
        if place + 1u < returns && ds_sub(distances[place + 1u], distances[place]).x < reach {
            continue;
        }

        // Total power, mean and variance of the range of the group.
        var power = 0.0;
        var mean_beyond = 0.0;
        for (var one = first; one <= place; one++) {
            power += powers[one];
            mean_beyond += powers[one] * ds_sub(distances[one], distances[first]).x;
        }
        mean_beyond /= power;
        var variance = 0.0;
        for (var one = first; one <= place && first < place; one++) {
            let beyond = ds_sub(distances[one], distances[first]).x - mean_beyond;
            variance += powers[one] / power * beyond * beyond;
        }
        let nearest = distances[first];
        first = place + 1u;
        if params.kinds.x == TRIANGULATION {
            if power >= brightest.power {
                brightest.power = power;
                brightest.range = ds_add(nearest, vec2<f32>(mean_beyond, 0.0));
            }
            continue;
        }

        // Its echo, with noise.
        var normals = vec2<f32>(0.0);
        if params.kinds.z != 0u {
            normals = draws(groups, shot, of_environment, RECEIVER_NOISE);
        }
        groups += 1u;
        let sd = params.timing.y;
        let stretch = select(sqrt(1.0 + variance / (sd * sd)), 1.0, variance == 0.0);
        let mean = power / stretch;
        let noise = sqrt(params.receiver.z + params.receiver.w * (max(mean, 0.0) + echo.ambient));
        let peak = min(mean + noise * normals.x, params.receiver.y + params.ambient.y * echo.ambient);
        if mean <= 0.0 || peak < params.receiver.x {
            continue;
        }
        let shift = mean_beyond + timing_error(mean, noise, peak, stretch, normals.y);
        let range = ds_add(nearest, vec2<f32>(shift, 0.0));
        if !keep(Detection(range, peak, stretch, vec2<f32>(0.0))) {
            echo.status = PLAIN;
            return echo;
        }
    }
    if params.kinds.x == TRIANGULATION && returns > 0u && brightest.power >= params.receiver.x {
        var normal = 0.0;
        if params.kinds.z != 0u {
            normal = draws(0u, shot, of_environment, RECEIVER_NOISE).x;
        }
        brightest.range = triangulated(brightest.range, normal);
        brightest.stretch = 1.0;
        _ = keep(brightest);
    }
    report_kept(&echo, shot, environment);
    return echo;
}
