// The echoes of shots: returned power, closed form of the pulsed receiver, noise, range limits, intensity. The formulas
// are those of etendue-physics (pulse/single_echo.rs, pulse/intensity.rs) and etendue-sensors (correlated_noise.rs).

struct Params {
    // Number of rays, zero (see `opaque_f32`), threads per row of the dispatch, number of channels.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first environment, entries of `channels` per environment (0: all
    // environments share them), number of columns of an image.
    environments: vec4<u32>,
    // Seed, sweep of the environment 0, sensor in the upper twelve bits.
    key: vec4<u32>,
    // Whether a crossing of the threshold is timed; response of the intensity; whether there is noise; 0.
    kinds: vec4<u32>,
    // Share of the power in the ray, two-way extinction, reach of an echo, highest intensity (negative: none).
    light: vec4<f32>,
    // Threshold, saturation, variance without light and per power.
    receiver: vec4<f32>,
    // Jitter, standard deviation of the pulse in range, noise of the pulse or zero of the threshold.
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
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hits: array<vec4<u32>>;
// For each object: index of its first triangle in `triangle_materials`, or NONE; its material.
@group(0) @binding(2) var<storage, read> object_materials: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> triangle_materials: array<u32>;
// For each material: backscatter over the square root of one minus the cosine of the incidence.
@group(0) @binding(4) var<storage, read> backscatter: array<f32>;
// For each channel: range offset, errors common to all its shots, and row in images.
@group(0) @binding(5) var<storage, read> channels: array<vec4<f32>>;
// Three per shot.
@group(0) @binding(6) var<storage, read_write> echoes: array<vec4<u32>>;
// One per cell of the image of each environment; not a number, not a number and -1 without a return.
@group(0) @binding(7) var<storage, read_write> ranges: array<u32>;
@group(0) @binding(8) var<storage, read_write> intensities: array<u32>;
@group(0) @binding(9) var<storage, read_write> labels: array<u32>;

const NONE: u32 = 0xffffffffu;
const PULSE_TIMING: u32 = 0u;
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
const OF_SURFACE: u32 = 4u;
// The host simulates the shot.
const PLAIN: u32 = 8u;
// Bit of a material whose shots the host simulates, and label of these.
const ON_HOST: u32 = 0x80000000u;
const NOT_A_NUMBER: u32 = 0x7fc00000u;

// The echo of a ray.
struct Echo {
    status: u32,
    object: u32,
    material: u32,
    cos_incidence: f32,
    distance: vec2<f32>,
    range: vec2<f32>,
    intensity: f32,
    power: f32,
}

fn draws(shot: u32, sweep: u32, purpose: u32) -> vec2<f32> {
    return normal_pair(philox(vec4<u32>(0u, shot, sweep, params.key.w | purpose), params.key.xy));
}

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

// A moving average over a beam and its predecessors in the same channel.
fn averaged(weights: vec4<f32>, shot: u32, sweep: u32, purpose: u32) -> f32 {
    var sum = 0.0;
    for (var back = 0u; back < 4u; back++) {
        if weights[back] != 0.0 {
            sum += weights[back] * draws(shot - back * params.counts.w, sweep, purpose).x;
        }
    }
    return sum;
}

// Number of standard deviations before its peak at which a pulse is 1/ratio of the peak.
fn level(ratio: f32) -> f32 {
    return sqrt(2.0 * logarithm(max(ratio, 1.0)));
}

// Range error of an echo of a power and a peak, m.
fn timing_error(power: f32, noise: f32, peak: f32, draw: f32) -> f32 {
    var bias = 0.0;
    var slope = params.timing.z;
    if params.kinds.x != PULSE_TIMING {
        let fraction = clamp(params.receiver.x / power, 1e-6, 0.98);
        bias = params.timing.z - params.timing.y * level(peak / params.receiver.x);
        slope = params.timing.y / (fraction * sqrt(-2.0 * logarithm(fraction)));
    }
    let spread = slope * noise / power;
    return bias + draw * sqrt(spread * spread + params.timing.x * params.timing.x);
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

// The echo of a shot in an environment.
fn echo_of(ray: u32, shot: u32, environment: u32) -> Echo {
    let hit = hits[2u * ray];
    var echo: Echo;
    let detail = hits[2u * ray + 1u];
    echo.status = NO_ECHO;
    echo.object = hit.x;
    if detail.w != 0u {
        // The host casts the ray.
        echo.object = NONE;
        echo.status = PLAIN;
        return echo;
    }
    if hit.x == NONE {
        return echo;
    }

    // Power that returns.
    echo.distance = bitcast<vec2<f32>>(hit.zw);
    echo.cos_incidence = bitcast<f32>(detail.x);
    let marked = material_of(hit.x, hit.y);
    echo.material = marked & ~ON_HOST;
    if marked != echo.material {
        echo.status = PLAIN;
        return echo;
    }
    let one_way = 1.0 / echo.distance.x;
    let scattered = scattered_back(echo.material, echo.cos_incidence) * echo.cos_incidence;
    let transmission = exp(-params.light.y * echo.distance.x);
    let power = one_way * one_way * scattered * params.light.x * transmission;

    // Echo, with its noise.
    let of_environment = params.key.z + environment;
    var normals = vec2<f32>(0.0);
    if params.kinds.z != 0u {
        normals = draws(shot, of_environment, RECEIVER_NOISE);
    }
    let noise = sqrt(params.receiver.z + params.receiver.w * max(power, 0.0));
    echo.power = min(power + noise * normals.x, params.receiver.y);
    if power <= 0.0 || echo.power < params.receiver.x {
        return echo;
    }
    let channel = channels[environment * params.environments.z + shot % params.counts.w];
    var shift = timing_error(power, noise, echo.power, normals.y);
    let is_of_surface = abs(shift) <= params.light.z;
    let sweep = select(NO_SURFACE, hit.x, is_of_surface);
    shift += channel.z + averaged(params.neighbour, shot, of_environment, NEIGHBOUR_NOISE)
        + averaged(params.pattern, shot, sweep, BEAM_PATTERN);

    // Range limits and intensity.
    echo.range = stepped(ds_add(ds_add(echo.distance, vec2<f32>(shift, 0.0)), channel.xy));
    echo.intensity = intensity_of(echo.power, ds_sub(echo.range, channel.xy).x);
    let is_near = ds_sub(echo.range, params.limits.xy).x < 0.0;
    let is_far = ds_sub(echo.range, params.limits.zw).x > 0.0;
    echo.status = select(select(RETURN, NO_ECHO, is_far), TOO_NEAR, is_near);
    echo.status |= select(0u, OF_SURFACE, is_of_surface);
    return echo;
}

@compute @workgroup_size(64)
fn receive(@builtin(global_invocation_id) id: vec3<u32>) {
    let shot = id.y * params.counts.z + id.x;
    if shot >= params.counts.x {
        return;
    }
    let echo = echo_of(shot, shot, 0u);
    echoes[3u * shot] = vec4<u32>(echo.status, echo.object, echo.material, bitcast<u32>(echo.cos_incidence));
    echoes[3u * shot + 1u] = bitcast<vec4<u32>>(vec4<f32>(echo.distance, echo.range));
    echoes[3u * shot + 2u] = bitcast<vec4<u32>>(vec4<f32>(echo.intensity, echo.power, 0.0, 0.0));
}

@compute @workgroup_size(64)
fn receive_images(@builtin(global_invocation_id) id: vec3<u32>) {
    let ray = id.y * params.counts.z + id.x;
    if ray >= params.counts.x {
        return;
    }
    let shots = params.environments.x;
    let shot = ray % shots;
    let environment = params.environments.y + ray / shots;
    let echo = echo_of(ray, shot, environment);

    // Cell of the image: shots are ordered by columns.
    let row = bitcast<u32>(channels[shot % params.counts.w].w);
    let cell = (environment * params.counts.w + row) * params.environments.w + shot / params.counts.w;
    let is_return = (echo.status & RETURN) != 0u;
    let label = select(NONE, echo.object, (echo.status & OF_SURFACE) != 0u);
    ranges[cell] = select(NOT_A_NUMBER, bitcast<u32>(echo.range.x), is_return);
    intensities[cell] = select(NOT_A_NUMBER, bitcast<u32>(echo.intensity), is_return);
    labels[cell] = select(select(NONE, label, is_return), ON_HOST, echo.status == PLAIN);
}
