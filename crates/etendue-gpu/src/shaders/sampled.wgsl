// Echoes of pulsed receivers that sample waveforms, or that detect light of the air or noise. The formulas are those of etendue-physics
// (pulse/shape.rs, waveform.rs, echo.rs, discriminator.rs) and etendue-sensors (receiver/pulsed/).

struct Sampled {
    // Distance between samples, and calibration offset, m; double-single.
    clock: vec4<f32>,
    // Inverse of the full width at half maximum, 1/m; reach of the pulse before and behind its peak, m; gap between sections, m.
    pulse: vec4<f32>,
    // Timed fraction of the peak; jitter, m; least hysteresis; width of a sample over that of an echo in closed form.
    finder: vec4<f32>,
    // What is timed; shape of the pulse; what is sampled; highest code of the converter (0: no converter).
    kinds: vec4<u32>,
    // Mean number of samples between false alarms without ambient light, double-single (0: no false alarms); power of a sample that
    // reaches the threshold, without ambient light: of counts, between two of them.
    alarms: vec4<f32>,
    // Photons in a sample of unit power (0: no counter), and of the background; double-single.
    photons: vec4<f32>,
    // Where the cells of air begin, m, and their length, m; double-single.
    cells: vec4<f32>,
    // Backscatter of the air, 1/(m sr); its two-way extinction, 1/m; least range with full overlap, m; number of cells.
    air: vec4<f32>,
    // Of the waveform of the air: number of the first sample; number of samples, and of those that may form echoes; power
    // that may be added elsewhere.
    waveform: vec4<f32>,
    // Where the samples, the cells and the kinds of drops begin in the tables; number of kinds.
    places: vec4<u32>,
    // Standard deviations of the angles of the beam, rad, and of its exit, m, in both directions.
    beam: vec4<f32>,
    // Of counts whose differences may be the hysteresis: where the decisions begin in the tables, and number of counts (0: none).
    ties: vec4<u32>,
}

// Returns whose pulses overlap, and the air between them.
struct Section {
    // Places of its first return and of that behind the last one.
    begin: u32,
    until: u32,
    near: vec2<f32>,
    far: vec2<f32>,
    // Whether the air alone may form echoes there.
    is_bright: bool,
    // Number of the first sample on the clock, and number of samples.
    first: f32,
    count: u32,
}

// The samples of an echo, from the start of its section.
struct EchoSamples {
    // First sample that can belong to its leading edge.
    edge_from: u32,
    // Behind its last sample.
    until: u32,
    peak: u32,
}

// The parabola through the highest sample and its neighbours: its place beyond that sample, and its height.
struct Vertex {
    beyond: f32,
    height: f32,
}

@group(0) @binding(16) var<uniform> sampled: Sampled;

// What is sampled.
const NOTHING: u32 = 0u;
const EVERYTHING: u32 = 2u;
// What is timed.
const THRESHOLD: u32 = 0u;
const LEADING_EDGE: u32 = 1u;
const FRACTION: u32 = 2u;
const PEAK: u32 = 3u;
// Shapes of pulses.
const GAUSSIAN: u32 = 0u;
const SQUARED_SINE: u32 = 1u;
const FALSE_ALARM: u32 = 9u;
// Samples of a section that are kept. Shots that need earlier ones are left to the host.
const KEPT: u32 = 128u;

var<private> section: Section;
// The last samples of the section, and the number of those that were taken.
var<private> samples: array<f32, KEPT>;
var<private> taken: u32;
// Whether an earlier sample was needed, or a decision is that of the host.
var<private> is_lost: bool;
// Normal draws of the current two samples, and place of the next uniform number of the receiver's stream.
var<private> pair: vec2<f32>;
var<private> drawn: u32;
// The shot, its sweep, and its ambient light.
var<private> own_shot: u32;
var<private> own_sweep: u32;
var<private> own_ambient: f32;

// Two normal draws from a place of the receiver's stream.
fn normals_at(place: u32) -> vec2<f32> {
    if params.kinds.z == 0u {
        return vec2<f32>(0.0);
    }
    if (place & 1u) == 0u {
        return draws(place / 2u, own_shot, own_sweep, RECEIVER_NOISE);
    }
    let first = uniform_at(place, RECEIVER_NOISE);
    let second = uniform_at(place + 1u, RECEIVER_NOISE);
    return sqrt(-2.0 * log_of_complement(first.x, first.y)) * turn(second.x, second.y);
}

// The next two normal draws of the receiver's stream.
fn next_normals() -> vec2<f32> {
    drawn += 2u;
    return normals_at(drawn - 2u);
}

// Standard deviation of a sample of a mean power.
fn noise_at(power: f32) -> f32 {
    return sqrt(params.receiver.z + params.receiver.w * (max(power, 0.0) + own_ambient));
}

// Power of the pulse over that of its peak, at a range from it.
fn pulse_at(range: f32) -> f32 {
    let x = range * sampled.pulse.x;
    if sampled.kinds.y == GAUSSIAN {
        return exponential(-2.77258872224 * x * x);
    }
    if sampled.kinds.y == SQUARED_SINE {
        let quarter = floor(x + 0.5);
        let cosine = turned(u32(i32(quarter)), (x - quarter) * 1.57079632679).x;
        return select(0.0, cosine * cosine, abs(x) < 1.0);
    }
    let scaled = x * 3.3948461875;
    let from_start = scaled + 2.0;
    return select(0.0, 0.25 * from_start * from_start * exponential(-scaled), from_start > 0.0);
}

fn is_in_pulse(range: f32) -> bool {
    return range >= -sampled.pulse.y && range < sampled.pulse.z;
}

// Mean power at a sample on the clock.
fn mean_power(number: f32) -> f32 {
    let at = ds_mul(vec2<f32>(number, 0.0), sampled.clock.xy);
    var power = 0.0;
    for (var place = section.begin; place < section.until; place++) {
        let apart = ds_sub(at, distances[place]).x;
        if is_in_pulse(apart) {
            power += powers[place] * pulse_at(apart);
        }
    }
    return power + power_of_cells(number);
}

// A reading of a mean power: that of the counted photons, or with two normal draws for two samples.
fn reading_of(mean: f32) -> f32 {
    if params.kinds.z != 0u && sampled.photons.x > 0.0 {
        let ambient = ds_mul(sampled.photons.xy, vec2<f32>(own_ambient, 0.0));
        let background = ds_add(sampled.photons.zw, ambient);
        let expected = ds_add(ds_mul(sampled.photons.xy, vec2<f32>(mean, 0.0)), background);
        let count = poisson(expected, drawn, RECEIVER_NOISE);
        drawn = count.next;
        return ds_sub(vec2<f32>(count.number, 0.0), background).x / sampled.photons.x;
    }
    if (taken & 1u) == 0u {
        pair = next_normals();
    }
    return mean + noise_at(mean) * select(pair.x, pair.y, (taken & 1u) != 0u);
}

// Whether a sample is below the threshold.
fn is_below(power: f32) -> bool {
    return power < select(sampled.alarms.z, params.receiver.x, own_ambient > 0.0);
}

// Takes the next sample: with noise, clipped, and rounded to a code.
fn take_sample() {
    let saturation = params.receiver.y + params.ambient.y * own_ambient;
    var power = min(reading_of(mean_power(section.first + f32(taken))), saturation);
    if sampled.kinds.w != 0u {
        let top = f32(sampled.kinds.w);
        let code = clamp(floor(power / saturation * top + 0.5), 0.0, top);
        power = code / top * saturation;
    }
    samples[taken % KEPT] = power;
    taken += 1u;
}

// A sample of the section.
fn sample(place: u32) -> f32 {
    while taken <= place {
        take_sample();
    }
    if place + KEPT < taken {
        is_lost = true;
    }
    return samples[place % KEPT];
}

// Whether a sample is lower than another one by the hysteresis or more. Where the difference of two counts is the hysteresis, the
// decision is that of the last bits of the host's numbers: of a sample above the other less the hysteresis, or of their difference.
fn has_fallen(high: f32, low: f32, hysteresis: f32, is_peak: bool) -> bool {
    let fall = high - low - hysteresis;
    if sampled.ties.y == 0u || own_ambient > 0.0 || abs(fall) * sampled.photons.x > 0.01 {
        return fall >= 0.0;
    }
    let count = u32(max(floor(high * sampled.photons.x + sampled.photons.z + 0.5), 0.0));
    if count >= sampled.ties.y {
        is_lost = true;
        return true;
    }
    let decisions = tables[sampled.ties.x + count / 16u];
    let own = u32(select(decisions.x, decisions.y, is_peak));
    return ((own >> (count % 16u)) & 1u) != 0u;
}

// The samples of the echo that starts at a place: to the fall below the threshold, or to the valley before the next peak.
fn followed(edge_from: u32, begin: u32) -> EchoSamples {
    let hysteresis = max(3.0 * noise_at(0.0), sampled.finder.z);
    var all = EchoSamples(edge_from, section.count, begin);
    var valley = begin;
    var of_peak = sample(begin);
    var of_valley = of_peak;
    for (var i = begin; i < section.count; i++) {
        let power = sample(i);
        if is_below(power) {
            all.until = i;
            break;
        }
        if power > of_peak && !has_fallen(of_peak, of_valley, hysteresis, true) {
            all.peak = i;
            of_peak = power;
            valley = i;
            of_valley = power;
        }
        if power < of_valley {
            valley = i;
            of_valley = power;
        }
        let is_apart = has_fallen(of_peak, of_valley, hysteresis, false);
        if is_apart && has_fallen(power, of_valley, hysteresis, false) {
            all.until = valley + 1u;
            break;
        }
    }
    return all;
}

fn vertex_of(peak: u32) -> Vertex {
    let middle = sample(peak);
    if peak == 0u || peak + 1u == section.count {
        return Vertex(0.0, middle);
    }
    let right = sample(peak + 1u);
    let left = sample(peak - 1u);
    let curvature = (left - middle) + (right - middle);
    if curvature >= 0.0 {
        return Vertex(0.0, middle);
    }
    let offset = (left - right) * 0.5 / curvature;
    return Vertex(offset, middle - (left - right) * 0.25 * offset);
}

// The last point before the peak where the samples rise through a level: a sample, and the way to the next one.
fn crossing(all: EchoSamples, level: f32) -> vec2<f32> {
    var above = sample(all.peak);
    for (var i = all.peak; i > all.edge_from && !is_lost; i--) {
        let below = sample(i - 1u);
        if below < level && level <= above {
            return vec2<f32>(f32(i - 1u), (level - below) / (above - below));
        }
        above = below;
    }
    return vec2<f32>(f32(all.edge_from), 0.0);
}

// The middle of the steepest rise before the peak.
fn steepest(all: EchoSamples) -> vec2<f32> {
    if all.edge_from == all.peak {
        return vec2<f32>(f32(all.peak), 0.0);
    }
    var best = all.peak - 1u;
    var rise = sample(all.peak) - sample(best);
    for (var i = best; i > all.edge_from && !is_lost; i--) {
        let other = sample(i) - sample(i - 1u);
        if other > rise {
            best = i - 1u;
            rise = other;
        }
    }
    var beyond = 0.5;
    if best > all.edge_from && best + 2u < section.count {
        let right = sample(best + 2u) - sample(best + 1u);
        let left = sample(best) - sample(best - 1u);
        let curvature = (left - rise) + (right - rise);
        if curvature < 0.0 {
            beyond += (left - right) * 0.5 / curvature;
        }
    }
    return vec2<f32>(f32(best), beyond);
}

// The mean of the samples from a place on, weighted by their power.
fn centroid(all: EchoSamples, begin: u32) -> vec2<f32> {
    var moment = 0.0;
    var sum = 0.0;
    for (var i = begin; i < all.until && !is_lost; i++) {
        let power = sample(i);
        moment += power * f32(i - begin);
        sum += power;
    }
    return vec2<f32>(f32(begin), moment / sum);
}

// Width of an echo at half of its peak, in samples.
fn width_of(all: EchoSamples, level: f32) -> f32 {
    var above = sample(all.peak);
    var right = vec2<f32>(f32(section.count), 0.0);
    for (var i = all.peak + 1u; i < section.count; i++) {
        let below = sample(i);
        if below < level {
            right = vec2<f32>(f32(i), -(level - below) / (above - below));
            break;
        }
        above = below;
    }
    let left = crossing(all, level);
    return (right.x - left.x) + (right.y - left.y);
}

// Range, power and width of an echo that starts at a place.
fn measured(all: EchoSamples, begin: u32) -> Detection {
    let vertex = vertex_of(all.peak);
    var instant = vec2<f32>(f32(all.peak), vertex.beyond);
    switch sampled.kinds.x {
        case THRESHOLD: {
            instant = crossing(all, params.receiver.x);
        }
        case LEADING_EDGE: {
            instant = steepest(all);
        }
        case FRACTION: {
            instant = crossing(all, vertex.height * sampled.finder.x);
        }
        case PEAK: {}
        default: {
            instant = centroid(all, begin);
        }
    }
    let number = two_sum(section.first + instant.x, instant.y);
    let range = ds_sub(ds_mul(number, sampled.clock.xy), sampled.clock.zw);
    let width = width_of(all, 0.5 * vertex.height) * sampled.finder.w;
    return Detection(range, vertex.height, width, vec2<f32>(0.0));
}

// Finds the echoes of a section in its samples. Returns false if the host simulates the shot.
fn find_in_samples() -> bool {
    // The samples of the pulses of all its light.
    let first = ds_div(ds_sub(section.near, vec2<f32>(sampled.pulse.y, 0.0)), sampled.clock.xy);
    let last = ds_div(ds_add(section.far, vec2<f32>(sampled.pulse.z, 0.0)), sampled.clock.xy);
    section.first = ds_floor(first);
    section.count = u32(max(-ds_floor(-last) - section.first, 0.0)) + 1u;
    taken = 0u;
    let kept_before = detections;

    // Echoes, one after the other.
    var edge_from = 0u;
    var i = 0u;
    while i < section.count {
        if is_below(sample(i)) {
            i += 1u;
            continue;
        }
        let all = followed(edge_from, i);
        let found = measured(all, i);
        if is_lost || !keep(found) {
            return false;
        }
        edge_from = all.until - 1u;
        i = all.until;
    }

    // The jitter of the clock, where echoes in closed form that include it are next to them.
    if sampled.kinds.z != EVERYTHING {
        for (var number = kept_before; number < detections; number++) {
            move_kept(number, sampled.finder.y * next_normals().x);
        }
    }
    return true;
}

// Finds the echoes of returns from one place up to before another one in closed form. Returns false if the host simulates the
// shot.
fn find_in_closed_form(begin: u32, until: u32) -> bool {
    var first = begin;
    for (var place = begin; place < until; place++) {
        if place + 1u < until && ds_sub(distances[place + 1u], distances[place]).x < params.light.x {
            continue;
        }
        var found: Detection;
        let is_found = found_merged(merged(first, place + 1u), distances[first], next_normals(), own_ambient, &found);
        first = place + 1u;
        if is_found && !keep(found) {
            return false;
        }
    }
    return true;
}

// Finds the echoes of a section. Returns false if the host simulates the shot.
fn find_in_section() -> bool {
    if !section.is_bright && sampled.kinds.z != EVERYTHING {
        return find_in_closed_form(section.begin, section.until);
    }
    var most = sampled.waveform.w;
    for (var place = section.begin; place < section.until; place++) {
        most += max(powers[place], 0.0);
    }
    if section.is_bright || most + 6.0 * noise_at(most) >= params.receiver.x {
        return find_in_samples();
    }
    return true;
}

// Finds the echoes of all light, section by section. Returns false if the host simulates the shot.
fn find_echoes() -> bool {
    let bright = bright_air();
    var is_left = bright.is_some;
    var next = 0u;
    while next < returns || is_left {
        // Extend the section by what overlaps it.
        var near = bright.near;
        if next < returns && (!is_left || ds_sub(distances[next], bright.near).x < 0.0) {
            near = distances[next];
        }
        section = Section(next, next, near, near, false, 0.0, 0u);
        loop {
            if next < returns && ds_sub(distances[next], section.far).x < sampled.pulse.w {
                if ds_sub(distances[next], section.far).x > 0.0 {
                    section.far = distances[next];
                }
                next += 1u;
            } else if is_left && ds_sub(bright.near, section.far).x < sampled.pulse.w {
                if ds_sub(bright.until, section.far).x > 0.0 {
                    section.far = bright.until;
                }
                section.is_bright = true;
                is_left = false;
            } else {
                break;
            }
        }
        section.until = next;
        if !find_in_section() {
            return false;
        }
    }
    return true;
}

// Adds the false alarms between the limits of the range. Returns false if the host simulates the shot.
fn add_false_alarms() -> bool {
    let sigma = noise_at(0.0);
    var mean = sampled.alarms.xy;
    if own_ambient > 0.0 {
        mean = vec2<f32>(1.0 / max(upper_tail(params.receiver.x / sigma), 1e-30), 0.0);
    }
    var range = params.limits.xy;
    var number = 0u;
    loop {
        let words = philox(vec4<u32>(number, own_shot, own_sweep, params.key.w | FALSE_ALARM), params.key.xy);
        number += 1u;
        var gap = -ds_mul(mean, ds_log_of_complement(words.x, words.y >> 11u));
        if gap.x < 1.0 {
            gap = vec2<f32>(1.0, 0.0);
        }
        range = ds_add(range, ds_mul(sampled.clock.xy, gap));
        if !(ds_sub(range, params.limits.zw).x <= 0.0) {
            return true;
        }
        let excess = -log_of_complement(words.z, words.w >> 11u) * sigma * sigma / params.receiver.x;
        if !keep_in_order(Detection(range, params.receiver.x + excess, sampled.finder.w, vec2<f32>(0.0))) {
            return false;
        }
    }
    return true;
}

// A reported echo with the jitter of the clock, by its number in the report.
fn jittered(found: Detection, number: u32) -> Detection {
    var moved = found;
    if sampled.kinds.z == EVERYTHING {
        let error = sampled.finder.y * normals_at(drawn + 2u * number).x;
        moved.range = ds_add(moved.range, vec2<f32>(error, 0.0));
    }
    return moved;
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN {
        return echo;
    }
    own_shot = shot;
    own_sweep = params.key.z + environment;
    own_ambient = echo.ambient;
    if !add_light_of_air(echo.axis) {
        echo.status = PLAIN;
        return echo;
    }
    if draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }
    var is_done = true;
    if sampled.kinds.z == NOTHING {
        is_done = find_in_closed_form(0u, returns);
    } else {
        is_done = find_echoes();
    }
    if is_done && params.kinds.z != 0u && sampled.alarms.x > 0.0 {
        is_done = add_false_alarms();
    }
    if is_done {
        report_kept(&echo, shot, environment);
    } else {
        echo.status = PLAIN;
    }
    return echo;
}
