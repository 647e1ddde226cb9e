// The echoes of shots: returned power, closed form of the pulsed receiver, noise, range limits, intensity. The formulas
// are those of etendue-physics (pulse/echo_form.rs, pulse/intensity.rs) and etendue-sensors (correlated_noise.rs).

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, number of channels.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first environment (of the first shot for single sweeps), entries of `channels` per environment (0: all
    // environments share them), number of columns of an image.
    environments: vec4<u32>,
    // Seed, sweep of the environment 0, sensor in the upper twelve bits.
    key: vec4<u32>,
    // What is timed; response of the intensity; whether there is noise; which echo is reported.
    kinds: vec4<u32>,
    // Distance within which returns merge, two-way extinction, reach of an echo, highest intensity (negative: none).
    light: vec4<f32>,
    // Threshold, saturation, variance without light and per power.
    receiver: vec4<f32>,
    // Jitter, standard deviation of the pulse in range, noise of the pulse or zero of the threshold, level of the edge; of
    // triangulation noise and step of the angle, and the baseline in double-single numbers.
    timing: vec4<f32>,
    // Nearest and farthest range.
    limits: vec4<f32>,
    // Step of the range and its inverse.
    step: vec4<f32>,
    // Two numbers of the response of the intensity.
    response: vec4<f32>,
    // Weights of the noise that neighbouring beams share, and of the fixed pattern of beams, m.
    neighbour: vec4<f32>,
    pattern: vec4<f32>,
    // Share of the power in each ray of a beam.
    weights: array<vec4<f32>, MOST_BEAM_RAYS / 4>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Two per slot (links.wgsl).
@group(0) @binding(1) var<storage, read> hits: array<vec4<u32>>;
// For each object: index of its first triangle in `triangle_materials`, or NONE; its material.
@group(0) @binding(2) var<storage, read> object_materials: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> triangle_materials: array<u32>;
// For each material: backscatter over the square root of one minus the cosine of the incidence.
@group(0) @binding(4) var<storage, read> backscatter: array<f32>;
// For each channel: range offset, errors common to all its shots, and row in images.
@group(0) @binding(5) var<storage, read> channels: array<vec4<f32>>;
// Four per shot.
@group(0) @binding(6) var<storage, read_write> echoes: array<vec4<u32>>;
// One per cell of the image of each environment; not a number, not a number and -1 without a return.
@group(0) @binding(7) var<storage, read_write> ranges: array<u32>;
@group(0) @binding(8) var<storage, read_write> intensities: array<u32>;
@group(0) @binding(9) var<storage, read_write> labels: array<u32>;

const PULSE_TIMING: u32 = 0u;
const EDGE_TIMING: u32 = 1u;
const TRIANGULATION: u32 = 3u;
// Returns are one spot up to this share of their distance.
const ONE_SPOT: f32 = 0.02;
const STRONGEST: u32 = 0u;
const FIRST: u32 = 1u;
const LAST: u32 = 2u;
const POWER_RESPONSE: u32 = 0u;
const LOG_RESPONSE: u32 = 1u;
const PERCENT_RESPONSE: u32 = 2u;
const RECEIVER_NOISE: u32 = 1u;
const NEIGHBOUR_NOISE: u32 = 10u;
const BEAM_PATTERN: u32 = 12u;
// Sweep of the fixed pattern of echoes without a surface.
const NO_SURFACE: u32 = 0xfffffffeu;
const NO_ECHO: u32 = 0u;
const TOO_NEAR: u32 = 1u;
const RETURN: u32 = 2u;
// The host simulates the shot.
const PLAIN: u32 = 8u;
const NOT_A_NUMBER: u32 = 0x7fc00000u;

// A surface on a ray.
struct Surface {
    object: u32,
    material: u32,
    cos_incidence: f32,
    distance: vec2<f32>,
}

// The echo of a shot.
struct Echo {
    status: u32,
    // On the axis; where most of the light of the echo is from.
    axis: Surface,
    source: Surface,
    range: vec2<f32>,
    intensity: f32,
    power: f32,
    // Width over that of a single return.
    stretch: f32,
}

// The returns of a shot, nearest first: distance, power, and slot of the ray. Distances are half the optical path, or half the
// path for receivers that triangulate.
var<private> distances: array<vec2<f32>, MOST_RETURNS>;
var<private> powers: array<f32, MOST_RETURNS>;
var<private> slots_of: array<u32, MOST_RETURNS>;
var<private> returns: u32;
// Slot and power of the return that the lens of a receiver that triangulates does not see; NONE for none.
var<private> hidden: u32;
var<private> power_of_hidden: f32;

fn draws(pair: u32, shot: u32, sweep: u32, purpose: u32) -> vec2<f32> {
    return normal_pair(philox(vec4<u32>(pair, shot, sweep, params.key.w | purpose), params.key.xy));
}

fn scattered_back(material: u32, cos_incidence: f32) -> f32 {
    let place = sqrt(1.0 - cos_incidence) * f32(TABLE - 1u);
    let first = min(u32(place), TABLE - 2u);
    let low = backscatter[material * TABLE + first];
    let high = backscatter[material * TABLE + first + 1u];
    return low + (high - low) * (place - f32(first));
}

// A moving average over a beam and its predecessors in the same channel.
fn averaged(weights: vec4<f32>, shot: u32, sweep: u32, purpose: u32) -> f32 {
    var sum = 0.0;
    for (var back = 0u; back < 4u; back++) {
        if weights[back] != 0.0 {
            sum += weights[back] * draws(0u, shot - back * params.counts.w, sweep, purpose).x;
        }
    }
    return sum;
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

// Intensity before rounding.
fn counts_of(power: f32, range: f32) -> f32 {
    if params.kinds.y == POWER_RESPONSE {
        return power * params.response.x;
    }
    if params.kinds.y == LOG_RESPONSE {
        if power <= params.response.x {
            return 0.0;
        }
        return logarithm(power / params.response.x) * (params.response.y * 0.4342944819);
    }
    let percent = range * range * 314.159265359 * power;
    if params.kinds.y == PERCENT_RESPONSE || percent <= 100.0 {
        return percent;
    }
    return logarithm(percent / 100.0) * params.response.x + 100.0;
}

fn intensity_of(power: f32, range: f32) -> f32 {
    let counts = counts_of(power, range);
    if params.light.w < 0.0 {
        return max(counts, 0.0);
    }
    return clamp(floor(counts + 0.5), 0.0, params.light.w);
}

// A range rounded to the step of the device.
fn stepped(range: vec2<f32>) -> vec2<f32> {
    if params.step.x == 0.0 {
        return range;
    }
    let steps = ds_mul(range, params.step.zw);
    let whole = floor(steps.x);
    let rest = floor((steps.x - whole) + steps.y + 0.5);
    return ds_mul(two_sum(whole, rest), params.step.xy);
}

// The surface that a slot hit, at the optical length of the path.
fn surface_of(slot: u32) -> Surface {
    let hit = hits[2u * slot];
    if hit.x == NONE {
        return Surface(NONE, 0u, 0.0, vec2<f32>(0.0));
    }
    let cos_incidence = bitcast<f32>(hits[2u * slot + 1u].x);
    let distance = arrival_at(slot, bitcast<vec2<f32>>(hit.zw)).optical;
    return Surface(hit.x, material_of(hit.x, hit.y) & NUMBER, cos_incidence, distance);
}

// Whether a return is behind another one. Of those at the same distance from a ray of a beam, the path decides, so that the
// order does not depend on that of the slots.
fn is_behind(a: vec2<f32>, slot_of_a: u32, b: vec2<f32>, slot_of_b: u32) -> bool {
    if a.x != b.x || a.y != b.y {
        return a.x > b.x || (a.x == b.x && a.y > b.y);
    }
    return path_of(slot_of_a) > path_of(slot_of_b);
}

// Adds the return of the surface that a slot hit, with a share of the power of the beam. Returns false if the host simulates
// the shot.
fn add_return(slot: u32, weight: f32) -> bool {
    let hit = hits[2u * slot];
    let detail = hits[2u * slot + 1u];
    if detail.w != 0u {
        return false;
    }
    if hit.x == NONE {
        return true;
    }
    let material = material_of(hit.x, hit.y);
    if (material & ON_HOST) != 0u {
        return false;
    }

    // Power that returns.
    let arrived = arrival_at(slot, bitcast<vec2<f32>>(hit.zw));
    let cos_incidence = bitcast<f32>(detail.x);
    let one_way = arrived.throughput / arrived.range.x;
    let scattered = scattered_back(material & NUMBER, cos_incidence) * cos_incidence;
    let transmission = exp(-params.light.y * arrived.range.x);
    let power = one_way * one_way * scattered * weight * transmission;
    if power <= 0.0 {
        return true;
    }
    // The lens does not see it (sight.wgsl). It sees all surfaces in mirrors and behind glass.
    if params.kinds.x == TRIANGULATION && path_of(slot) == 1u && detail.z != 0u {
        hidden = slot;
        power_of_hidden = power;
        return true;
    }
    if returns == MOST_RETURNS {
        return false;
    }

    // Its place in the order of distances.
    var distance = arrived.optical;
    if params.kinds.x == TRIANGULATION {
        distance = arrived.range;
    }
    var place = returns;
    while place > 0u && is_behind(distances[place - 1u], slots_of[place - 1u], distance, slot) {
        distances[place] = distances[place - 1u];
        powers[place] = powers[place - 1u];
        slots_of[place] = slots_of[place - 1u];
        place -= 1u;
    }
    distances[place] = distance;
    powers[place] = power;
    slots_of[place] = slot;
    returns += 1u;
    return true;
}

// Lists the returns of a shot, whose first ray has an index, nearest first. Returns false if the host simulates it.
fn list_returns(first: u32) -> bool {
    returns = 0u;
    hidden = NONE;
    for (var own = 0u; own < RAYS; own++) {
        let root = first + own;
        let weight = params.weights[own / 4u][own % 4u];
        if is_overfull(root) || !add_return(root, weight) {
            return false;
        }
        for (var slot = last_branch(root); slot != NONE; slot = branch_before(slot)) {
            if !add_return(slot, weight) {
                return false;
            }
        }
    }
    return true;
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
    let channel = channels[environment * params.environments.z + shot % params.counts.w];
    (*echo).range = stepped(ds_add(range, channel.xy));
    (*echo).intensity = intensity_of((*echo).power, ds_sub((*echo).range, channel.xy).x);
    let is_near = ds_sub((*echo).range, params.limits.xy).x < 0.0;
    let is_far = ds_sub((*echo).range, params.limits.zw).x > 0.0;
    (*echo).status = select(select(RETURN, NO_ECHO, is_far), TOO_NEAR, is_near);
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    // Returns.
    var echo: Echo;
    echo.status = NO_ECHO;
    echo.source.object = NONE;
    echo.axis = surface_of(first_ray + RAYS / 2u);
    if !list_returns(first_ray) {
        if hits[2u * (first_ray + RAYS / 2u) + 1u].w != 0u {
            echo.axis.object = NONE;
        }
        echo.status = PLAIN;
        return echo;
    }
    if draw_from_profile(first_ray, shot, environment, &echo) {
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
    let channel = channels[environment * params.environments.z + shot % params.counts.w];
    let before = source_at(range);
    var pattern_sweep = NO_SURFACE;
    if before != NONE {
        pattern_sweep = hits[2u * before].x;
    }
    let error = channel.z + averaged(params.neighbour, shot, of_environment, NEIGHBOUR_NOISE)
        + averaged(params.pattern, shot, pattern_sweep, BEAM_PATTERN);
    range = ds_add(range, vec2<f32>(error, 0.0));
    find_source(&echo, range);
    report(&echo, range, shot, environment);
    return echo;
}

@compute @workgroup_size(64)
fn receive(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let shot = params.environments.y + thread;
    let echo = echo_of(thread * RAYS, shot, 0u);
    let axis = echo.axis;
    let source = echo.source;
    echoes[4u * shot] = vec4<u32>(echo.status, axis.object, axis.material, bitcast<u32>(axis.cos_incidence));
    echoes[4u * shot + 1u] = bitcast<vec4<u32>>(vec4<f32>(axis.distance, echo.range));
    echoes[4u * shot + 2u] = vec4<u32>(bitcast<vec3<u32>>(vec3<f32>(echo.intensity, echo.power, echo.stretch)), source.object);
    echoes[4u * shot + 3u] = vec4<u32>(
        source.material,
        bitcast<u32>(source.cos_incidence),
        bitcast<vec2<u32>>(source.distance),
    );
}

@compute @workgroup_size(64)
fn receive_images(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let shots = params.environments.x;
    let shot = thread % shots;
    let environment = params.environments.y + thread / shots;
    let echo = echo_of(thread * RAYS, shot, environment);

    // Cell of the image: shots are ordered by columns.
    let row = bitcast<u32>(channels[shot % params.counts.w].w);
    let cell = (environment * params.counts.w + row) * params.environments.w + shot / params.counts.w;
    let is_return = (echo.status & RETURN) != 0u;
    ranges[cell] = select(NOT_A_NUMBER, bitcast<u32>(echo.range.x), is_return);
    intensities[cell] = select(NOT_A_NUMBER, bitcast<u32>(echo.intensity), is_return);
    labels[cell] = select(select(NONE, echo.source.object, is_return), ON_HOST, echo.status == PLAIN);
}
