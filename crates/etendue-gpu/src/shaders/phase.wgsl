// The range of a phase receiver in closed form. The formulas are those of etendue-sensors (receiver/phase.rs) and
// etendue-physics (phase/).
//
// Phases are relative to that of the strongest return, whose range has 45 bits: what is left are the noise and the phases of
// other surfaces, in f32.

struct Phase {
    // Range at which the phase of each frequency repeats, m, and its inverse; double-single.
    ambiguities: vec4<f32>,
    turns_per_metre: vec4<f32>,
    // Weight of the second frequency in the range; multiple of which the differences between both wrapped ranges of a
    // surface are, m; double-single.
    combination: vec4<f32>,
    // Ratio of each frequency to the base frequency; inverse of the second modulo the first; 0.
    multiples: vec4<u32>,
    // Target of the gain, weakest power that reaches it, and strongest power; half the divergence of the beam, rad.
    gain: vec4<f32>,
    // Variance of a sample before the gain; its share per power; ambient power; variance after the gain.
    noise: vec4<f32>,
    // Amplitudes of a detection and of a range; largest difference of both ranges; slack of the limits of the range, m.
    limits: vec4<f32>,
    // Polynomials in the power, constant first: bias of the phase, turns, and of the range, m.
    phase_bias: vec4<f32>,
    range_bias: vec4<f32>,
    // Where the cells of air begin, m, and their length, m; double-single.
    cells: vec4<f32>,
    // Backscatter of the air, 1/(m sr); its two-way extinction, 1/m; least range with full overlap, m; number of cells.
    air: vec4<f32>,
}

// A range with the difference between those of both frequencies.
struct Resolved {
    range: vec2<f32>,
    disagreement: f32,
}

@group(0) @binding(16) var<uniform> phase: Phase;
// Two per number of whole cells of air: their waves at both frequencies, and their power.
@group(0) @binding(18) var<storage, read> air_cells: array<vec4<f32>>;

// Sums have the order of the rays, and so has the count of surfaces.
const SORTED: bool = false;
const LOW_INTENSITY: u32 = 1u;
const DISAGREEMENT: u32 = 8u;
const STRONG_REFLECTOR: u32 = 18u;
const MOST_SURFACES: u32 = 8u;
const INFINITE: f32 = 3e38;
// Difference of two differences that count as equal, m.
const TIE: f32 = 1e-9;

fn polynomial(coefficients: vec4<f32>, x: f32) -> f32 {
    return (coefficients.z * x + coefficients.y) * x + coefficients.x;
}

// Cosine and sine of a number of turns.
fn wave(turns: vec2<f32>) -> vec2<f32> {
    let part = turns.x - floor(turns.x);
    let quarter = floor(4.0 * part + 0.5);
    return turned(u32(quarter), ((part - 0.25 * quarter) + turns.y) * 6.28318530718);
}

// The angle of a wave, turns from -1/2 to 1/2: etendue-physics, series.rs. The built-in one may have an error of 2^-12.
fn turns_of(wave: vec2<f32>) -> f32 {
    // Reduce the angle to an eighth of a turn or less.
    let size = abs(wave);
    let least = min(size.x, size.y);
    let most = max(size.x, size.y);
    let is_beyond = least > 0.41421356 * most;
    let ratio = select(least, least - most, is_beyond) / max(select(most, least + most, is_beyond), 1e-37);
    let z = ratio * ratio;
    let series = z * (-0.33333332 + z * (0.19999550 + z * (-0.14264233 + z * (0.10746298 - z * 0.06459376))));
    let octant = select(0.0, 0.125, is_beyond) + (ratio + ratio * series) * 0.15915494309;

    // Undo the reduction.
    let quarter = select(octant, 0.25 - octant, size.y > size.x);
    let half = select(quarter, 0.5 - quarter, wave.x < 0.0);
    return select(half, -half, wave.y < 0.0);
}

// Number of separate surfaces that returned light.
fn surface_count() -> u32 {
    var counted: array<vec2<f32>, MOST_SURFACES>;
    var count = 0u;
    for (var place = 0u; place < returns; place++) {
        let slot = slots_of[place];
        let cos_incidence = abs(bitcast<f32>(hits[2u * slot + 1u].x));
        let range = arrival_at(slot, bitcast<vec2<f32>>(hits[2u * slot].zw)).range;
        let apart = 0.01 + 2.0 * phase.gain.w * range.x / max(cos_incidence, 1e-3);
        var is_new = count < MOST_SURFACES;
        for (var other = 0u; other < count; other++) {
            is_new = is_new && abs(ds_sub(range, counted[other]).x) > apart;
        }
        if is_new {
            counted[count] = range;
            count += 1u;
        }
    }
    return count;
}

// The wave of all light at a frequency, relative to the phase of a range, with noise of a standard deviation.
fn wave_at(frequency: u32, start: vec2<f32>, air: Air, sd: f32, shot: u32, sweep: u32) -> vec2<f32> {
    let per_metre = select(phase.turns_per_metre.xy, phase.turns_per_metre.zw, frequency == 1u);
    var sum = vec2<f32>(0.0);
    for (var place = 0u; place < returns; place++) {
        sum += powers[place] * wave(ds_mul(ds_sub(distances[place], start), per_metre));
    }
    var rest = vec2<f32>(0.0);
    if phase.air.w > 0.0 {
        let cells = air_cells[2u * air.whole];
        rest = select(cells.xy, cells.zw, frequency == 1u);
        sum += air.power * wave(ds_mul(ds_sub(air.range, start), per_metre));
    }
    if sd > 0.0 {
        rest += sd * draws(frequency, shot, sweep, RECEIVER_NOISE);
    }
    if rest.x != 0.0 || rest.y != 0.0 {
        let own = wave(ds_mul(start, per_metre));
        sum += vec2<f32>(rest.x * own.x + rest.y * own.y, rest.y * own.x - rest.x * own.y);
    }
    return sum;
}

// A range modulo the ambiguity of a frequency.
fn wrapped(range: vec2<f32>, ambiguity: vec2<f32>) -> vec2<f32> {
    let periods = ds_floor(ds_div(range, ambiguity));
    let rest = ds_sub(range, ds_mul(ambiguity, vec2<f32>(periods, 0.0)));
    if rest.x < 0.0 {
        return ds_add(rest, ambiguity);
    }
    if ds_sub(rest, ambiguity).x >= 0.0 {
        return ds_sub(rest, ambiguity);
    }
    return rest;
}

fn combined(first: vec2<f32>, second: vec2<f32>) -> Resolved {
    let difference = ds_sub(second, first);
    return Resolved(ds_add(first, ds_mul(difference, phase.combination.xy)), abs(difference.x));
}

// Least and greatest number of whole periods that put a wrapped range within the limits.
fn period_limits(wrapped: vec2<f32>, ambiguity: vec2<f32>) -> vec2<f32> {
    let slack = vec2<f32>(phase.limits.w, 0.0);
    let nearest = select(params.limits.xy, vec2<f32>(0.0), params.limits.x > 0.0);
    let least = ds_div(ds_sub(ds_sub(nearest, slack), wrapped), ambiguity);
    let greatest = ds_div(ds_sub(ds_add(params.limits.zw, slack), wrapped), ambiguity);
    return vec2<f32>(-ds_floor(-least), ds_floor(greatest));
}

// The range within the limits for which both wrapped ranges differ least, the nearest of equal ones; an infinite difference without one.
fn searched(first: vec2<f32>, second: vec2<f32>) -> Resolved {
    let of_first = period_limits(first, phase.ambiguities.xy);
    let of_second = period_limits(second, phase.ambiguities.zw);
    var best = Resolved(vec2<f32>(0.0), INFINITE);
    if of_second.x > of_second.y {
        return best;
    }
    let count = u32(max(of_first.y - of_first.x + 1.0, 0.0));
    for (var i = 0u; i < count; i++) {
        // The second range next to the first one.
        let periods = vec2<f32>(of_first.x + f32(i), 0.0);
        let one = ds_add(first, ds_mul(phase.ambiguities.xy, periods));
        let apart = ds_div(ds_sub(one, second), phase.ambiguities.zw);
        let nearest = clamp(ds_floor(ds_add(apart, vec2<f32>(0.5, 0.0))), of_second.x, of_second.y);
        let other = ds_add(second, ds_mul(phase.ambiguities.zw, vec2<f32>(nearest, 0.0)));
        let both = combined(one, other);
        if both.disagreement < best.disagreement - TIE {
            best = both;
        }
    }
    return best;
}

// The range in the whole combined ambiguity.
fn searched_everywhere(first: vec2<f32>, second: vec2<f32>) -> Resolved {
    let m = vec2<i32>(phase.multiples.xy);
    let q = i32(ds_floor(ds_add(ds_div(ds_sub(second, first), phase.combination.zw), vec2<f32>(0.5, 0.0))));
    let rest = (q % m.x + m.x) % m.x;
    let n = rest * i32(phase.multiples.z) % m.x;
    let one = ds_add(first, ds_mul(phase.ambiguities.xy, vec2<f32>(f32(n), 0.0)));
    let other = f32((m.y * n - q) / m.x);
    return combined(one, ds_add(second, ds_mul(phase.ambiguities.zw, vec2<f32>(other, 0.0))));
}

// The place of the strongest return.
fn strongest_return() -> u32 {
    var strongest = 0u;
    for (var place = 1u; place < returns; place++) {
        if powers[place] > powers[strongest] {
            strongest = place;
        }
    }
    return strongest;
}

// Sets the surface of the strongest return, unless the light of the air is stronger.
fn find_source(echo: ptr<function, Echo>, range: vec2<f32>) {
    let strongest = strongest_return();
    if returns > 0u && powers[strongest] >= power_of_air {
        (*echo).source = surface_of(slots_of[strongest]);
    }
}

// Sets what the lidar reports of a range, if it is within the farthest one: range and intensity.
fn report(echo: ptr<function, Echo>, range: vec2<f32>, shot: u32, environment: u32) {
    if ds_sub(range, params.limits.zw).x > 0.0 {
        return;
    }
    let channel = channel_of(shot, environment);
    (*echo).range = stepped(ds_add(range, channel.xy));
    (*echo).intensity = intensity_of((*echo).power, ds_sub((*echo).range, channel.xy).x);
    (*echo).status |= RETURN;
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    // All light, and its strongest return.
    var echo = undetected(first_ray);
    if echo.status == PLAIN {
        return echo;
    }
    let air = air_before(echo.axis, phase.cells, phase.air);
    power_of_air = air.power;
    if phase.air.w > 0.0 {
        power_of_air += air_cells[2u * air.whole + 1u].x;
    }
    var power = power_of_air;
    for (var place = 0u; place < returns; place++) {
        power += powers[place];
    }
    if power <= 0.0 {
        return echo;
    }
    let strongest = strongest_return();
    echo.power = power;
    let surfaces = surface_count() << 16u;
    echo.status = surfaces | NO_ECHO;
    if draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }

    // Gain and noise.
    let is_strong = power >= phase.gain.y;
    let automatic = phase.gain.x * select(power / phase.gain.y, 1.0, is_strong);
    if max(automatic, power / phase.gain.z) > 1.0 {
        echo.status = surfaces | ERROR | (STRONG_REFLECTOR << 8u);
        return echo;
    }
    let inverse_gain = min(max(power, phase.gain.y) / phase.gain.x, phase.gain.z);
    let before_gain = phase.noise.x + phase.noise.y * max(power + phase.noise.z + echo.ambient, 0.0);
    let sample_variance = before_gain + phase.noise.w * inverse_gain * inverse_gain;
    let sd = sqrt(2.0 / 30.0 * sample_variance);

    // Amplitudes of both waves.
    let sweep = params.key.z + environment;
    let start = select(vec2<f32>(0.0), distances[strongest], returns > 0u);
    let one = wave_at(0u, start, air, sd, shot, sweep);
    let two = wave_at(1u, start, air, sd, shot, sweep);
    let amplitude = sqrt(min(dot(one, one), dot(two, two)));
    if amplitude <= 0.0 || amplitude < phase.limits.x {
        return echo;
    }
    if amplitude < phase.limits.y {
        echo.status = surfaces | ERROR | (LOW_INTENSITY << 8u);
        return echo;
    }

    // Range, or the reason for a missing one.
    let phase_bias = polynomial(phase.phase_bias, power);
    let beyond_one = ds_mul(vec2<f32>(turns_of(one) - phase_bias, 0.0), phase.ambiguities.xy);
    let beyond_two = ds_mul(vec2<f32>(turns_of(two) - phase_bias, 0.0), phase.ambiguities.zw);
    let first = wrapped(ds_add(start, beyond_one), phase.ambiguities.xy);
    let second = wrapped(ds_add(start, beyond_two), phase.ambiguities.zw);
    let range_bias = vec2<f32>(polynomial(phase.range_bias, power), 0.0);
    let resolved = searched(first, second);
    var range = ds_sub(resolved.range, range_bias);
    if resolved.disagreement > phase.limits.z {
        let everywhere = searched_everywhere(first, second);
        range = ds_sub(everywhere.range, range_bias);
        let is_far = ds_sub(range, params.limits.zw).x > 0.0;
        if everywhere.disagreement > phase.limits.z || !is_far {
            echo.status = surfaces | ERROR | (DISAGREEMENT << 8u);
        }
        return echo;
    }
    if ds_sub(range, params.limits.xy).x < 0.0 {
        echo.status = surfaces | TOO_NEAR;
        return echo;
    }
    if ds_sub(range, params.limits.zw).x > 0.0 {
        return echo;
    }

    // Correlated noise, step and intensity.
    find_source(&echo, range);
    range = ds_add(range, vec2<f32>(correlated_error(shot, environment, echo.source.object), 0.0));
    echo.stretch = 1.0;
    report(&echo, range, shot, environment);
    return echo;
}
