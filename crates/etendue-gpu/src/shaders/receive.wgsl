// The echoes of shots: returned power, closed form of the pulsed receiver, noise, range limits, intensity. The formulas
// are those of etendue-physics (pulse/single_echo.rs, pulse/intensity.rs) and etendue-sensors (correlated_noise.rs).

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, number of channels.
    counts: vec4<u32>,
    // Seed, sweep, sensor in the upper twelve bits.
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
// For each channel: range offset, and errors common to all its shots.
@group(0) @binding(5) var<storage, read> channels: array<vec4<f32>>;
// Three per shot.
@group(0) @binding(6) var<storage, read_write> echoes: array<vec4<u32>>;

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
// Bit of a material whose shots the host simulates.
const ON_HOST: u32 = 0x80000000u;

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

@compute @workgroup_size(64)
fn receive(@builtin(global_invocation_id) id: vec3<u32>) {
    let shot = id.y * params.counts.z + id.x;
    if shot >= params.counts.x {
        return;
    }
    let hit = hits[2u * shot];
    echoes[3u * shot] = vec4<u32>(NO_ECHO, hit.x, 0u, 0u);
    if hit.x == NONE {
        return;
    }

    // Power that returns.
    let distance = bitcast<vec2<f32>>(hit.zw);
    let cos_incidence = bitcast<f32>(hits[2u * shot + 1u].x);
    let marked = material_of(hit.x, hit.y);
    let material = marked & ~ON_HOST;
    if marked != material {
        echoes[3u * shot] = vec4<u32>(PLAIN, hit.x, material, bitcast<u32>(cos_incidence));
        echoes[3u * shot + 1u] = bitcast<vec4<u32>>(vec4<f32>(distance, 0.0, 0.0));
        return;
    }
    let one_way = 1.0 / distance.x;
    let scattered = scattered_back(material, cos_incidence) * cos_incidence;
    let transmission = exp(-params.light.y * distance.x);
    let power = one_way * one_way * scattered * params.light.x * transmission;

    // Echo, with its noise.
    var normals = vec2<f32>(0.0);
    if params.kinds.z != 0u {
        normals = draws(shot, params.key.z, RECEIVER_NOISE);
    }
    let noise = sqrt(params.receiver.z + params.receiver.w * max(power, 0.0));
    let peak = min(power + noise * normals.x, params.receiver.y);
    var status = NO_ECHO;
    var range = vec2<f32>(0.0);
    var intensity = 0.0;
    if power > 0.0 && peak >= params.receiver.x {
        let channel = channels[shot % params.counts.w];
        var shift = timing_error(power, noise, peak, normals.y);
        let sweep = select(NO_SURFACE, hit.x, abs(shift) <= params.light.z);
        shift += channel.z + averaged(params.neighbour, shot, params.key.z, NEIGHBOUR_NOISE)
            + averaged(params.pattern, shot, sweep, BEAM_PATTERN);

        // Range limits and intensity.
        range = stepped(ds_add(ds_add(distance, vec2<f32>(shift, 0.0)), channel.xy));
        intensity = intensity_of(peak, ds_sub(range, channel.xy).x);
        let is_near = ds_sub(range, params.limits.xy).x < 0.0;
        let is_far = ds_sub(range, params.limits.zw).x > 0.0;
        status = select(select(RETURN, NO_ECHO, is_far), TOO_NEAR, is_near);
        status |= select(0u, OF_SURFACE, abs(shift) <= params.light.z);
    }
    echoes[3u * shot] = vec4<u32>(status, hit.x, material, bitcast<u32>(cos_incidence));
    echoes[3u * shot + 1u] = bitcast<vec4<u32>>(vec4<f32>(distance, range));
    echoes[3u * shot + 2u] = bitcast<vec4<u32>>(vec4<f32>(intensity, peak, 0.0, 0.0));
}
