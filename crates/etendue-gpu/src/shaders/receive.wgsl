// Receivers: the returns of shots, range limits, correlated noise, intensity, results. The formulas are those of
// etendue-physics (pulse/intensity.rs) and etendue-sensors (correlated_noise.rs). The function `echo_of` is in echoes.wgsl or
// phase.wgsl.

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, number of channels.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first environment (of the first shot for single sweeps), entries of `channels` per environment (0: all
    // environments share them), number of columns of an image.
    environments: vec4<u32>,
    // Seed, sweep of the environment 0, sensor in the upper twelve bits.
    key: vec4<u32>,
    // What is timed or measured; response of the intensity; whether there is noise; which echo is reported.
    kinds: vec4<u32>,
    // Distance within which returns merge, two-way extinction, reach of an echo, highest intensity (negative: none).
    light: vec4<f32>,
    // Threshold, saturation, variance without light and per power.
    receiver: vec4<f32>,
    // Jitter, standard deviation of the pulse in range, noise of the pulse or zero of the threshold, level of the edge; of
    // triangulation noise and step of the angle, and the baseline in double-single numbers; of frequency-modulated waves the
    // time of the beat of a velocity, in double-single numbers, and the noise of a beat in range at unit power.
    timing: vec4<f32>,
    // Nearest and farthest range.
    limits: vec4<f32>,
    // Step of the range and its inverse.
    step: vec4<f32>,
    // Two numbers of the response of the intensity.
    response: vec4<f32>,
    // Whether there is ambient light; change of the saturation per power of it.
    ambient: vec4<f32>,
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
// For both sides of each material: backscatter over the square root of one minus the cosine of the incidence.
@group(0) @binding(4) var<storage, read> backscatter: array<f32>;
// For each channel: range offset, errors common to all its shots, and row in images.
@group(0) @binding(5) var<storage, read> channels: array<vec4<f32>>;
// Five per shot.
@group(0) @binding(6) var<storage, read_write> echoes: array<vec4<u32>>;
// One per cell of the image of each environment; not a number, not a number and -1 without a return.
@group(0) @binding(7) var<storage, read_write> ranges: array<u32>;
@group(0) @binding(8) var<storage, read_write> intensities: array<u32>;
@group(0) @binding(9) var<storage, read_write> labels: array<u32>;

const TRIANGULATION: u32 = 3u;
const FMCW: u32 = 5u;
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
// A reason for a missing range, whose code is in bits 8 to 15 of the status.
const ERROR: u32 = 16u;
// The echo has a velocity.
const HAS_VELOCITY: u32 = 32u;
// Slots of returns that are not from surfaces: from a cell of air, and from a drop.
const CELL: u32 = 0xffffffffu;
const DROP: u32 = 0xfffffffeu;
const MOST_RETURNS: u32 = MOST_PATHS + MOST_OF_AIR;
// Power of returns whose own is below the normal numbers.
const LEAST_POWER: f32 = 1e-37;
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
    // Its kind and the code of an error; of phase receivers, bits 16 to 31 are the number of separate surfaces.
    status: u32,
    // On the axis; where most of the light of the echo is from.
    axis: Surface,
    source: Surface,
    range: vec2<f32>,
    intensity: f32,
    // Peak power; of phase receivers, power of all light, also without a range.
    power: f32,
    // Width over that of a single return.
    stretch: f32,
    // Radial velocity, m/s.
    velocity: vec2<f32>,
    // Power of the ambient light.
    ambient: f32,
    // The next echo of the shot in the list of further ones, or NONE.
    next: u32,
}

// The returns of a shot, nearest first where they are SORTED, otherwise in the order of its rays and their paths: distance, power,
// and slot of the ray. Distances are half the optical path, or half the path for receivers that triangulate.
var<private> distances: array<vec2<f32>, MOST_RETURNS>;
var<private> powers: array<f32, MOST_RETURNS>;
var<private> slots_of: array<u32, MOST_RETURNS>;
var<private> returns: u32;
// Number of returns of the rays of the beam before the current one.
var<private> returns_before: u32;
// Slot and power of the return that the lens of a receiver that triangulates does not see; NONE for none.
var<private> hidden: u32;
var<private> power_of_hidden: f32;
// Power of light that is not from surfaces, and that the receiver does not separate from theirs.
var<private> power_of_air: f32;

// Backscatter of a side: twice the number of a material, and one more for its back.
fn scattered_back(side: u32, cos_incidence: f32) -> f32 {
    let place = sqrt(1.0 - cos_incidence) * f32(TABLE - 1u);
    let first = min(u32(place), TABLE - 2u);
    let low = backscatter[side * TABLE + first];
    let high = backscatter[side * TABLE + first + 1u];
    return low + (high - low) * (place - f32(first));
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
    let cos_incidence = abs(bitcast<f32>(hits[2u * slot + 1u].x));
    let distance = arrival_at(slot, bitcast<vec2<f32>>(hit.zw)).optical;
    return Surface(hit.x, material_of(hit.x, hit.y) & NUMBER, cos_incidence, distance);
}

// The place of a path among those of one ray, depth first and reflections before passages.
fn rank_of(slot: u32) -> vec2<u32> {
    let path = path_of(slot);
    let above = countLeadingZeros(path);
    return vec2<u32>(path << above, 32u - above);
}

// Whether a return in the list is behind another one. Without order by distance, and at equal distances, the path decides: the
// order does not depend on that of the slots.
fn is_behind(place: u32, distance: vec2<f32>, slot: u32) -> bool {
    let own = distances[place];
    if SORTED && (own.x != distance.x || own.y != distance.y) {
        return own.x > distance.x || (own.x == distance.x && own.y > distance.y);
    }
    let a = rank_of(slots_of[place]);
    let b = rank_of(slot);
    return place >= returns_before && (a.x > b.x || (a.x == b.x && a.y > b.y));
}

// Inserts a return in the list, in which there is room.
fn insert_return(place: u32, distance: vec2<f32>, power: f32, slot: u32) {
    for (var last = returns; last > place; last--) {
        distances[last] = distances[last - 1u];
        powers[last] = powers[last - 1u];
        slots_of[last] = slots_of[last - 1u];
    }
    distances[place] = distance;
    powers[place] = power;
    slots_of[place] = slot;
    returns += 1u;
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
    let cos_incidence = abs(bitcast<f32>(detail.x));
    let side = 2u * (material & NUMBER) + (detail.x >> 31u);
    let one_way = arrived.throughput / arrived.range.x;
    let scattered = scattered_back(side, cos_incidence) * cos_incidence;
    if one_way * scattered * weight <= 0.0 {
        return true;
    }
    let transmission = exp(-params.light.y * arrived.range.x);
    let power = max(one_way * one_way * scattered * weight * transmission, LEAST_POWER);
    // The lens does not see it (sight.wgsl). It sees all surfaces in mirrors and behind glass.
    if params.kinds.x == TRIANGULATION && path_of(slot) == 1u && detail.z != 0u {
        hidden = slot;
        power_of_hidden = power;
        return true;
    }
    if returns == MOST_RETURNS {
        return false;
    }

    // Its place in the list.
    var distance = arrived.optical;
    if params.kinds.x == TRIANGULATION {
        distance = arrived.range;
    }
    var place = returns;
    while place > 0u && is_behind(place - 1u, distance, slot) {
        place -= 1u;
    }
    insert_return(place, distance, power, slot);
    return true;
}

// Lists the returns of a shot, whose first ray has an index. Returns false if the host simulates it.
fn list_returns(first: u32) -> bool {
    returns = 0u;
    hidden = NONE;
    for (var own = 0u; own < RAYS; own++) {
        let root = first + own;
        returns_before = returns;
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

// The axis of a shot whose first ray has an index, without a detection, and the list of its returns. The host simulates
// shots that are PLAIN.
fn undetected(first_ray: u32) -> Echo {
    var echo: Echo;
    echo.status = NO_ECHO;
    echo.source.object = NONE;
    echo.next = NONE;
    echo.axis = surface_of(first_ray + RAYS / 2u);
    if params.ambient.x != 0.0 {
        echo.ambient = bitcast<f32>(hits[2u * first_ray + 1u].y);
    }
    if !list_returns(first_ray) {
        if hits[2u * (first_ray + RAYS / 2u) + 1u].w != 0u {
            echo.axis.object = NONE;
        }
        echo.status = PLAIN;
    }
    return echo;
}

fn channel_of(shot: u32, environment: u32) -> vec4<f32> {
    return channels[environment * params.environments.z + shot % params.counts.w];
}

// Correlated noise of the range of an echo whose light is from an object, or from NONE, m.
fn correlated_error(shot: u32, environment: u32, object: u32) -> f32 {
    let stride = params.counts.w;
    let pattern_sweep = select(object, NO_SURFACE, object == NONE);
    return channel_of(shot, environment).z
        + averaged(params.neighbour, shot, stride, params.key.z + environment, NEIGHBOUR_NOISE)
        + averaged(params.pattern, shot, stride, pattern_sweep, BEAM_PATTERN);
}

// One of the five parts of an echo in a buffer.
fn part_of(echo: Echo, part: u32) -> vec4<u32> {
    let axis = echo.axis;
    let source = echo.source;
    switch part {
        case 0u: {
            return vec4<u32>(echo.status, axis.object, axis.material, bitcast<u32>(axis.cos_incidence));
        }
        case 1u: {
            return bitcast<vec4<u32>>(vec4<f32>(axis.distance, echo.range));
        }
        case 2u: {
            let light = bitcast<vec3<u32>>(vec3<f32>(echo.intensity, echo.power, echo.stretch));
            return vec4<u32>(light, source.object);
        }
        case 3u: {
            let distance = bitcast<vec2<u32>>(source.distance);
            return vec4<u32>(source.material, bitcast<u32>(source.cos_incidence), distance);
        }
        default: {
            return vec4<u32>(bitcast<vec2<u32>>(echo.velocity), bitcast<u32>(echo.ambient), echo.next);
        }
    }
}

@compute @workgroup_size(64)
fn receive(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let shot = params.environments.y + thread;
    let echo = echo_of(thread * RAYS, shot, 0u);
    for (var part = 0u; part < 5u; part++) {
        echoes[5u * shot + part] = part_of(echo, part);
    }
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
