// Echoes of receivers that separate surfaces, in closed form: pulses and triangulation. The formulas are those of etendue-physics
// (pulse/echo_form.rs).

// The returns are needed nearest first.
const SORTED: bool = true;
const PULSE_TIMING: u32 = 0u;
const EDGE_TIMING: u32 = 1u;
// Returns are one spot up to this share of their distance.
const ONE_SPOT: f32 = 0.02;
const STRONGEST: u32 = 0u;
const FIRST: u32 = 1u;
const LAST: u32 = 2u;

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

// Share of a return in an echo at a range: a weight of their distance apart times the power; negative beyond reach.
fn share_in_echo(distance: vec2<f32>, power: f32, range: vec2<f32>) -> f32 {
    let apart = ds_sub(distance, range).x / params.light.z;
    if abs(apart) > 1.0 {
        return -1.0;
    }
    var affinity = max(1.0 - apart * apart, 0.0);
    for (var i = 0u; i < 5u; i++) {
        affinity *= affinity;
    }
    return power * affinity;
}

// The slot of the return that contributed most of the light of an echo at a range; NONE for none within reach.
fn source_at(range: vec2<f32>) -> u32 {
    var source = NONE;
    var most = 0.0;
    for (var place = 0u; place < returns; place++) {
        let share = share_in_echo(distances[place], powers[place], range);
        if share >= most {
            most = share;
            source = slots_of[place];
        }
    }
    if hidden != NONE && share_in_echo(bitcast<vec2<f32>>(hits[2u * hidden].zw), power_of_hidden, range) >= most {
        source = hidden;
    }
    return source;
}

// Sets the surface that contributed most of the light of an echo at a range.
fn find_source(echo: ptr<function, Echo>, range: vec2<f32>) {
    let source = source_at(range);
    if source != NONE {
        (*echo).source = surface_of(source);
    }
}

// Sets what the lidar reports of an echo at a range: range, intensity, and whether it is within the limits.
fn report(echo: ptr<function, Echo>, range: vec2<f32>, shot: u32, environment: u32) {
    let channel = channel_of(shot, environment);
    (*echo).range = stepped(ds_add(range, channel.xy));
    (*echo).intensity = intensity_of((*echo).power, ds_sub((*echo).range, channel.xy).x);
    let is_near = ds_sub((*echo).range, params.limits.xy).x < 0.0;
    let is_far = ds_sub((*echo).range, params.limits.zw).x > 0.0;
    (*echo).status = select(select(RETURN, NO_ECHO, is_far), TOO_NEAR, is_near);
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN || draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }

    // The echo that is reported, of those of merged returns; the brightest spot of a receiver that triangulates.
    let of_environment = params.key.z + environment;
    var range = vec2<f32>(0.0);
    var groups = 0u;
    var echoes_found = 0u;
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
            if power >= echo.power {
                echo.power = power;
                range = ds_add(nearest, vec2<f32>(mean_beyond, 0.0));
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
        let noise = sqrt(params.receiver.z + params.receiver.w * max(mean, 0.0));
        let peak = min(mean + noise * normals.x, params.receiver.y);
        if mean <= 0.0 || peak < params.receiver.x {
            continue;
        }
        echoes_found += 1u;
        let is_first = echoes_found == 1u;
        let is_chosen = is_first || params.kinds.w == LAST || (params.kinds.w == STRONGEST && peak > echo.power);
        if is_chosen {
            let shift = mean_beyond + timing_error(mean, noise, peak, stretch, normals.y);
            range = ds_add(nearest, vec2<f32>(shift, 0.0));
            echo.power = peak;
            echo.stretch = stretch;
        }
    }
    if params.kinds.x == TRIANGULATION && returns > 0u && echo.power >= params.receiver.x {
        var normal = 0.0;
        if params.kinds.z != 0u {
            normal = draws(0u, shot, of_environment, RECEIVER_NOISE).x;
        }
        echoes_found = 1u;
        range = triangulated(range, normal);
        echo.stretch = 1.0;
    }
    if echoes_found == 0u {
        return echo;
    }
    if echoes_found > 1u && params.kinds.w > LAST {
        // Several echoes are reported.
        echo.status = PLAIN;
        return echo;
    }

    // Correlated noise; where most of the light is from.
    let before = source_at(range);
    var object = NONE;
    if before != NONE {
        object = hits[2u * before].x;
    }
    range = ds_add(range, vec2<f32>(correlated_error(shot, environment, object), 0.0));
    find_source(&echo, range);
    report(&echo, range, shot, environment);
    return echo;
}
