// Noise profiles of materials: ranges, drop-outs and intensities are drawn from them instead of the noise of the receiver. The
// formulas are those of etendue-physics (profile/) and etendue-sensors (calibrated.rs).

// Three per slot (surfaces.wgsl).
@group(0) @binding(12) var<storage, read> surfaces: array<vec4<f32>>;
// Seven per shot (aim.wgsl).
@group(0) @binding(13) var<storage, read> shots: array<vec4<f32>>;
// Six per environment: rotation by rows, then translation.
@group(0) @binding(14) var<storage, read> poses: array<vec4<f32>>;
// Index of the head of each material, or NONE as bits; the heads; knots, glares, steps and tables.
@group(0) @binding(15) var<storage, read> profiles: array<vec4<f32>>;

const PROFILE_NOISE: u32 = 50u;
const PROFILE_INTENSITY: u32 = 51u;
// Sweep of the numbers that are the same in all sweeps.
const EVERY_SWEEP: u32 = 0xffffffffu;
// Least share of the power of a beam from one material for its profile to apply.
const LEAST_SHARE: f32 = 0.9;
const TRIANGULATION_LAW: f32 = 0.0;
const SIGNAL_TO_NOISE_LAW: f32 = 1.0;
const NO_INTENSITY: f32 = 0.0;
const CONSTANT_INTENSITY: f32 = 1.0;
const TWO_INTENSITIES: f32 = 2.0;

// The surface of the dominant material of a beam.
struct Incident {
    material: u32,
    power: f32,
    // Power of all light.
    total: f32,
    range: vec2<f32>,
    // One less the cosine of the incidence.
    versine: f32,
    // The normal away from the sensor, and its cross product with the direction of the light, times the power.
    normal: vec3<f32>,
    cross: vec3<f32>,
}

// The distribution of a return.
struct Expected {
    bias: f32,
    spread: f32,
    // Share of the variance that is the same in all sweeps.
    fixed_pattern: f32,
    drop_out: f32,
    intensity: f32,
    intensity_spread: f32,
}

// The place of a slot in the list of returns; NONE if no light returns from there.
fn place_of(slot: u32) -> u32 {
    for (var place = 0u; place < returns; place++) {
        if slots_of[place] == slot {
            return place;
        }
    }
    return NONE;
}

// The dominant material of a beam, of the direct returns in the order of its rays.
fn incident_of(first_ray: u32) -> Incident {
    var all: Incident;
    all.material = NONE;
    all.total = power_of_air;
    for (var place = 0u; place < returns; place++) {
        if slots_of[place] < DROP && path_of(slots_of[place]) != 1u {
            all.total += powers[place];
        }
    }
    for (var slot = first_ray; slot < first_ray + RAYS; slot++) {
        let place = place_of(slot);
        if place == NONE && slot != hidden {
            continue;
        }
        let hit = hits[2u * slot];
        var power = power_of_hidden;
        var distance = bitcast<vec2<f32>>(hit.zw);
        if slot != hidden {
            power = powers[place];
            distance = distances[place];
        }
        let material = material_of(hit.x, hit.y) & NUMBER;
        all.total += power;
        if all.material != material {
            if all.power > power {
                continue;
            }
            let total = all.total;
            all = Incident(material, 0.0, total, vec2<f32>(0.0), 0.0, vec3<f32>(0.0), vec3<f32>(0.0));
        }
        all.power += power;
        let share = power / all.power;
        let last = surfaces[3u * slot + 2u];
        let normal = vec3<f32>(surfaces[3u * slot].x, surfaces[3u * slot].z, surfaces[3u * slot + 1u].x);
        all.range = ds_add(all.range, vec2<f32>(share * ds_sub(distance, all.range).x, 0.0));
        if all.power == power {
            all.range = distance;
        }
        all.versine += share * (last.w - all.versine);
        all.normal -= normal * power;
        all.cross -= last.xyz * power;
    }
    return all;
}

// Signed side of the normal at which the light arrives, from -1 to 1.
fn side_of(all: Incident, sine: f32, shot: u32, environment: u32) -> f32 {
    // The z axis of the sensor, in the world.
    var up: vec3<f32>;
    if params.environments.w == 0u {
        up = shots[7u * (shot - params.environments.y) + 6u].yzw;
    } else {
        let pose = 6u * environment;
        up = vec3<f32>(poses[pose + 1u].x, poses[pose + 2u].z, poses[pose + 4u].x);
    }
    let scale = length(cross(up, all.normal / all.power)) * sine;
    if scale <= 1e-9 {
        return 0.0;
    }
    return clamp(dot(up, all.cross / all.power) / scale, -1.0, 1.0);
}

fn logistic(x: f32) -> f32 {
    return 1.0 / (1.0 + exp(-x));
}

fn logit(p: f32) -> f32 {
    if p <= 0.0 {
        return -30.0;
    }
    if p >= 1.0 {
        return 30.0;
    }
    return clamp(logarithm(p / (1.0 - p)), -30.0, 30.0);
}

fn probability_below(z: f32) -> f32 {
    if z > 0.0 {
        return 1.0 - upper_tail(z);
    }
    return upper_tail(-z);
}

// The distribution between the knots at the distance of the recording.
fn between(head: u32, incidence: f32) -> Expected {
    // Find the adjacent knots.
    let first = bitcast<u32>(profiles[head].y);
    let count = bitcast<u32>(profiles[head].x);
    var next = 1u;
    while next + 1u < count && profiles[first + 2u * next].x < incidence {
        next += 1u;
    }
    let a = profiles[first + 2u * (next - 1u)];
    let b = profiles[first + 2u * next];
    let more_of_a = profiles[first + 2u * (next - 1u) + 1u];
    let more_of_b = profiles[first + 2u * next + 1u];
    let t = clamp((incidence - a.x) / (b.x - a.x), 0.0, 1.0);

    // Interpolate.
    var here: Expected;
    here.bias = a.y + t * (b.y - a.y);
    if a.z > 0.0 && b.z > 0.0 {
        here.spread = a.z * exp(t * logarithm(b.z / a.z));
    } else {
        here.spread = a.z + t * (b.z - a.z);
    }
    here.drop_out = a.w;
    if a.w != b.w {
        let low = logit(a.w);
        here.drop_out = logistic(low + t * (logit(b.w) - low));
    }
    here.intensity = more_of_a.x + t * (more_of_b.x - more_of_a.x);
    here.intensity_spread = more_of_a.y + t * (more_of_b.y - more_of_a.y);
    return here;
}

// The distribution beyond the last knot.
fn beyond(head: u32, cosine: f32) -> Expected {
    // The logarithm of the fall of the power since the last knot.
    let last = bitcast<u32>(profiles[head].y) + 2u * (bitcast<u32>(profiles[head].x) - 1u);
    let knot = profiles[last];
    let more = profiles[last + 1u];
    let table = bitcast<u32>(profiles[head + 4u].w);
    let cosine_of_last = profiles[head + 5u].z;
    let place = clamp(cosine / cosine_of_last, 0.0, 1.0) * f32(FALLS - 1u);
    let below = min(u32(place), FALLS - 2u);
    let low = profiles[table + below].x;
    let high = profiles[table + below + 1u].x;
    let backscatter = low + (high - low) * (place - f32(below));
    let fall = -backscatter - 3.0 * logarithm(max(cosine, 1e-6) / cosine_of_last);

    var here: Expected;
    here.bias = knot.y;
    here.spread = knot.z * min(exp(0.5 * fall), 1e3);
    here.drop_out = logistic(logit(knot.w) + profiles[head + 2u].y * fall);
    here.intensity = more.x;
    here.intensity_spread = more.y;
    return here;
}

// The correction of a glare at a signed incidence: bias, ratio of the spread, drop-out, intensity.
fn glare_at(head: u32, incidence: f32) -> vec4<f32> {
    let first = bitcast<u32>(profiles[head].w);
    let count = bitcast<u32>(profiles[head].z);
    var next = 0u;
    while next < count && profiles[first + 2u * next].x <= incidence {
        next += 1u;
    }
    if next == 0u || next == count {
        return vec4<f32>(0.0, 1.0, 0.0, 0.0);
    }
    let a = profiles[first + 2u * (next - 1u)];
    let b = profiles[first + 2u * next];
    let share = (incidence - a.x) / (b.x - a.x);
    let low = vec4<f32>(a.yzw, profiles[first + 2u * (next - 1u) + 1u].x);
    let high = vec4<f32>(b.yzw, profiles[first + 2u * next + 1u].x);
    return low + share * (high - low);
}

// The distribution of the return of a surface.
fn expected_at(head: u32, all: Incident, shot: u32, environment: u32) -> Expected {
    // At the distance of the recording.
    let half = sqrt(clamp(0.5 * all.versine, 0.0, 0.5));
    let incidence = 2.0 * asin_of(half);
    let cosine = max(1.0 - all.versine, 0.0);
    var here: Expected;
    if incidence > profiles[head + 5u].w {
        here = beyond(head, cosine);
    } else {
        here = between(head, incidence);
    }
    here.fixed_pattern = profiles[head + 3u].x;
    let ratio = all.range.x * cosine / profiles[head + 2u].x;

    // Glare.
    let law = profiles[head + 1u];
    let kind = profiles[head + 3u].z;
    if bitcast<u32>(profiles[head].z) > 0u {
        var shift = 0.0;
        if law.x == TRIANGULATION_LAW {
            shift = profiles[head + 2u].z * (1.0 / max(ratio, 1e-3) - 1.0);
        }
        if incidence <= profiles[head + 2u].w + abs(shift) {
            let sine = 2.0 * half * sqrt(1.0 - half * half);
            let share = 0.5 * (1.0 + side_of(all, sine, shot, environment));
            let right = glare_at(head, -incidence - shift);
            let excess = right + share * (glare_at(head, incidence - shift) - right);
            here.bias += excess.x;
            here.spread *= excess.y;
            here.fixed_pattern /= max(excess.y * excess.y, 1.0);
            here.drop_out += (1.0 - here.drop_out) * excess.z;
            here.intensity = max(here.intensity + excess.w, 0.0);
            if kind == TWO_INTENSITIES {
                here.intensity = min(here.intensity, 1.0);
            }
        }
    }

    // At this distance.
    if law.x == TRIANGULATION_LAW {
        here.bias *= ratio;
        here.spread *= ratio * ratio;
    } else if law.x == SIGNAL_TO_NOISE_LAW {
        let floor_of = min(law.y, here.spread);
        let square = ratio * ratio;
        let rest = (here.spread * here.spread - floor_of * floor_of) * square * square;
        here.spread = sqrt(floor_of * floor_of + rest);
    } else {
        let log_ratio = logarithm(max(ratio, 1e-30));
        here.spread *= exp(law.y * log_ratio);
        here.bias *= exp(law.z * log_ratio);
    }
    if law.w != 0.0 && here.drop_out < 1.0 {
        let shift = profiles[head + 2u].y * law.w * logarithm(max(ratio, 1e-6));
        here.drop_out = logistic(logit(here.drop_out) + shift);
    }
    return here;
}

// Two moving averages of normal draws over a beam and its predecessors.
fn averaged_pair(weights: vec4<f32>, shot: u32, sweep: u32) -> vec2<f32> {
    var sums = vec2<f32>(0.0);
    for (var back = 0u; back < 4u; back++) {
        if weights[back] != 0.0 {
            sums += weights[back] * draws(0u, shot - back * params.counts.w, sweep, PROFILE_NOISE);
        }
    }
    return sums;
}

// A range rounded to the steps of the recorded device.
fn recorded_step(head: u32, range: vec2<f32>) -> vec2<f32> {
    let first = bitcast<u32>(profiles[head + 4u].z);
    let count = bitcast<u32>(profiles[head + 3u].w);
    if count == 0u {
        return range;
    }
    var own = profiles[first].zw;
    for (var next = 1u; next < count; next++) {
        if ds_sub(range, profiles[first + 2u * next].xy).x >= 0.0 {
            own = profiles[first + 2u * next].zw;
        }
    }
    let per_step = ds_div(range, own);
    let whole = floor(per_step.x);
    return ds_mul(two_sum(whole, floor((per_step.x - whole) + per_step.y + 0.5)), own);
}

// Draws the return of a shot from the profile of its surface. Returns false if no profile applies.
fn draw_from_profile(first_ray: u32, shot: u32, environment: u32, echo: ptr<function, Echo>) -> bool {
    // The surface and its profile.
    if params.kinds.z == 0u || (returns == 0u && hidden == NONE) {
        return false;
    }
    let all = incident_of(first_ray);
    if all.material == NONE || all.power < LEAST_SHARE * all.total {
        return false;
    }
    let head = bitcast<u32>(profiles[all.material].x);
    if head == NONE {
        return false;
    }

    // Drop-out.
    (*echo).power = all.total;
    let here = expected_at(head, all, shot, environment);
    let sweep = params.key.z + environment;
    let fixed_drop = profiles[head + 3u].y;
    let own = averaged_pair(profiles[head + 6u], shot, sweep);
    let share = vec2<f32>(here.fixed_pattern, fixed_drop);
    var normals = own * sqrt(1.0 - share);
    if share.x > 0.0 || share.y > 0.0 {
        normals += averaged_pair(profiles[head + 7u], shot, EVERY_SWEEP) * sqrt(share);
    }
    if here.drop_out >= 1.0 || probability_below(normals.y) < here.drop_out {
        return true;
    }

    // Range and intensity.
    let error = here.bias + here.spread * normals.x;
    let range = recorded_step(head, ds_add(all.range, vec2<f32>(error, 0.0)));
    let kind = profiles[head + 3u].z;
    var intensity = profiles[head + 4u].x;
    if kind == TWO_INTENSITIES {
        let words = philox(vec4<u32>(0u, shot, sweep, params.key.w | PROFILE_INTENSITY), params.key.xy);
        let uniform = f32(words.x) * 0x1p-32 + f32(words.y >> 11u) * 0x1p-53;
        intensity = select(profiles[head + 4u].x, profiles[head + 4u].y, uniform < here.intensity);
    } else if kind > TWO_INTENSITIES {
        intensity = max(here.intensity + here.intensity_spread * draws(0u, shot, sweep, PROFILE_INTENSITY).x, 0.0);
    }
    (*echo).stretch = 0.0;
    report(echo, range, shot, environment);
    if kind != NO_INTENSITY {
        (*echo).intensity = intensity;
    }
    find_source(echo, range);
    return true;
}
