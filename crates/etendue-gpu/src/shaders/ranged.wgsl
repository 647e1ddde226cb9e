// Echoes of receivers that separate surfaces: pulses, triangulation and frequency-modulated waves. Where the light of an echo is
// from, and what the lidar reports of it. The function `report_kept` is in one_echo.wgsl or several_echoes.wgsl.

// The returns are needed nearest first.
const SORTED: bool = true;
const STRONGEST: u32 = 0u;
const LAST: u32 = 2u;

// An echo with the noise of the receiver.
struct Detection {
    range: vec2<f32>,
    power: f32,
    // Width over that of a single return.
    stretch: f32,
    velocity: vec2<f32>,
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

// The slot of the return that contributed most of the light of an echo at a range; NONE for none within reach, and for the air and
// drops.
fn source_at(range: vec2<f32>) -> u32 {
    var source = NONE;
    var most = 0.0;
    var of_air = power_of_air_at(range);
    for (var place = 0u; place < returns; place++) {
        let share = share_in_echo(distances[place], powers[place], range);
        if slots_of[place] >= DROP {
            of_air = select(of_air, max(of_air, share), slots_of[place] == DROP);
        } else if share >= most {
            most = share;
            source = slots_of[place];
        }
    }
    if hidden != NONE && share_in_echo(bitcast<vec2<f32>>(hits[2u * hidden].zw), power_of_hidden, range) >= most {
        source = hidden;
    }
    return select(source, NONE, most < of_air);
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

// Sets what the lidar reports of an echo, with correlated noise.
fn detect(echo: ptr<function, Echo>, found: Detection, shot: u32, environment: u32) {
    let before = source_at(found.range);
    var object = NONE;
    if before != NONE {
        object = hits[2u * before].x;
    }
    let range = ds_add(found.range, vec2<f32>(correlated_error(shot, environment, object), 0.0));
    (*echo).power = found.power;
    (*echo).stretch = found.stretch;
    (*echo).velocity = found.velocity;
    find_source(echo, range);
    report(echo, range, shot, environment);
    if params.kinds.x == FMCW && (*echo).status == RETURN {
        (*echo).status |= HAS_VELOCITY;
    }
}
