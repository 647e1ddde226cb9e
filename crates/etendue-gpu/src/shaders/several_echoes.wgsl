// Receivers that report several echoes of a shot. The first one is in the result of the shot, the others are in a list, each with
// the index of the next one.

struct Further {
    count: atomic<u32>,
    unused: array<u32, 19>,
    // Five per echo, as those of a shot.
    echoes: array<vec4<u32>>,
}

@group(0) @binding(17) var<storage, read_write> further: Further;

// Shots with more echoes are left to the host.
const MOST_KEPT: u32 = 16u;
const ALL: u32 = 3u;
const LAST_AND_STRONGEST: u32 = 4u;
const TWO_STRONGEST: u32 = 5u;
const FIRST_AND_LAST: u32 = 6u;

var<private> kept: array<Detection, MOST_KEPT>;
var<private> detections: u32;

// Keeps an echo of a shot, the nearest one first. Returns false without room.
fn keep(found: Detection) -> bool {
    if detections == MOST_KEPT {
        return false;
    }
    kept[detections] = found;
    detections += 1u;
    return true;
}

// Keeps an echo of a shot, in the order of the ranges. Returns false without room.
fn keep_in_order(found: Detection) -> bool {
    if detections == MOST_KEPT {
        return false;
    }
    var place = detections;
    while place > 0u && ds_sub(kept[place - 1u].range, found.range).x > 0.0 {
        kept[place] = kept[place - 1u];
        place -= 1u;
    }
    kept[place] = found;
    detections += 1u;
    return true;
}

// Moves an echo by a distance, by its number.
fn move_kept(number: u32, distance: f32) {
    kept[number].range = ds_add(kept[number].range, vec2<f32>(distance, 0.0));
}

// The strongest kept echo but one, the nearest of equal ones; NONE without another.
fn strongest_but(other: u32) -> u32 {
    var best = NONE;
    for (var i = 0u; i < detections; i++) {
        if i != other && (best == NONE || kept[i].power > kept[min(best, MOST_KEPT - 1u)].power) {
            best = i;
        }
    }
    return best;
}

// The kept echoes that are reported: the first and the second of them (etendue-physics, pulse/return_mode.rs).
fn chosen_pair() -> vec2<u32> {
    let last = detections - 1u;
    let top = strongest_but(NONE);
    if params.kinds.w == LAST_AND_STRONGEST {
        return vec2<u32>(last, select(top, strongest_but(last), top == last));
    }
    if params.kinds.w == TWO_STRONGEST {
        return vec2<u32>(top, strongest_but(top));
    }
    return vec2<u32>(0u, select(1u, last, params.kinds.w == FIRST_AND_LAST));
}

// Adds an echo to the list. Returns its index; NONE without room.
fn add_further(echo: Echo) -> u32 {
    let index = atomicAdd(&further.count, 1u);
    if 5u * index + 4u >= arrayLength(&further.echoes) {
        return NONE;
    }
    for (var part = 0u; part < 5u; part++) {
        further.echoes[5u * index + part] = part_of(echo, part);
    }
    return index;
}

// Sets what the lidar reports of a shot.
fn report_kept(echo: ptr<function, Echo>, shot: u32, environment: u32) {
    if detections == 0u {
        return;
    }
    let is_pair = params.kinds.w != ALL && detections > 1u;
    let pair = chosen_pair();
    let count = select(detections, 2u, is_pair);
    let is_image = params.environments.w != 0u;
    let axis = *echo;
    var is_near = false;
    var is_reported = false;

    // Those within the limits, the last one first.
    for (var i = count; i > 0u; i--) {
        let place = select(i - 1u, select(pair.x, pair.y, i == 2u), is_pair);
        var one = axis;
        detect(&one, jittered(kept[min(place, MOST_KEPT - 1u)], i - 1u), shot, environment);
        is_near = is_near || (one.status & TOO_NEAR) != 0u;
        if (one.status & RETURN) == 0u {
            continue;
        }
        if is_reported && !is_image {
            one.next = add_further(*echo);
            if one.next == NONE {
                (*echo).status = PLAIN;
                return;
            }
        }
        is_reported = true;
        *echo = one;
    }
    if !is_reported {
        (*echo).status = select(NO_ECHO, TOO_NEAR, is_near);
    }
}
