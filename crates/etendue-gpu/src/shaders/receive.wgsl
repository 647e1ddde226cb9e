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
// Two per ray.
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

const NONE: u32 = 0xffffffffu;
const TRIANGULATION: u32 = 3u;
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
// Bit of a material whose shots the host simulates, and label of these.
const ON_HOST: u32 = 0x80000000u;
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
}

// The returns of a shot, nearest first where they are SORTED, otherwise in the order of its rays: distance, power, and index
// of the ray.
var<private> distances: array<vec2<f32>, RAYS>;
var<private> powers: array<f32, RAYS>;
var<private> rays_of: array<u32, RAYS>;
var<private> returns: u32;

fn material_of(object: u32, triangle: u32) -> u32 {
    let own = object_materials[object];
    if own.x == NONE {
        return own.y;
    }
    return triangle_materials[own.x + triangle];
}

fn scattered_back(material: u32, cos_incidence: f32) -> f32 {
    let place = sqrt(1.0 - cos_incidence) * f32(TABLE - 1u);
    let first = min(u32(place), TABLE - 2u);
    let low = backscatter[material * TABLE + first];
    let high = backscatter[material * TABLE + first + 1u];
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

// The surface that a ray hit.
fn surface_of(ray: u32) -> Surface {
    let hit = hits[2u * ray];
    if hit.x == NONE {
        return Surface(NONE, 0u, 0.0, vec2<f32>(0.0));
    }
    let cos_incidence = bitcast<f32>(hits[2u * ray + 1u].x);
    return Surface(hit.x, material_of(hit.x, hit.y) & ~ON_HOST, cos_incidence, bitcast<vec2<f32>>(hit.zw));
}

fn is_beyond(a: vec2<f32>, b: vec2<f32>) -> bool {
    return a.x > b.x || (a.x == b.x && a.y > b.y);
}

// Lists the returns of a shot, whose first ray has an index. Returns false if the host simulates it.
fn list_returns(first: u32) -> bool {
    returns = 0u;
    for (var own = 0u; own < RAYS; own++) {
        let hit = hits[2u * (first + own)];
        let detail = hits[2u * (first + own) + 1u];
        if detail.w != 0u {
            return false;
        }
        if hit.x == NONE {
            continue;
        }
        // The lens does not see it (sight.wgsl).
        if params.kinds.x == TRIANGULATION && detail.z != 0u {
            continue;
        }
        let material = material_of(hit.x, hit.y);
        if (material & ON_HOST) != 0u {
            return false;
        }

        // Power that returns.
        let distance = bitcast<vec2<f32>>(hit.zw);
        let cos_incidence = bitcast<f32>(detail.x);
        let one_way = 1.0 / distance.x;
        let scattered = scattered_back(material, cos_incidence) * cos_incidence;
        let transmission = exp(-params.light.y * distance.x);
        let power = one_way * one_way * scattered * params.weights[own / 4u][own % 4u] * transmission;
        if power <= 0.0 {
            continue;
        }

        // Its place in the order of distances.
        var place = returns;
        while SORTED && place > 0u && is_beyond(distances[place - 1u], distance) {
            distances[place] = distances[place - 1u];
            powers[place] = powers[place - 1u];
            rays_of[place] = rays_of[place - 1u];
            place -= 1u;
        }
        distances[place] = distance;
        powers[place] = power;
        rays_of[place] = own;
        returns += 1u;
    }
    return true;
}

// The axis of a shot whose first ray has an index, without a detection, and the list of its returns. The host simulates
// shots that are PLAIN.
fn undetected(first_ray: u32) -> Echo {
    var echo: Echo;
    echo.status = NO_ECHO;
    echo.source.object = NONE;
    echo.axis = surface_of(first_ray + RAYS / 2u);
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
