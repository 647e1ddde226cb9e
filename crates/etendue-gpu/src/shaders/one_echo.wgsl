// Receivers that report one echo of a shot.

var<private> kept: Detection;
var<private> kept_number: u32;
var<private> detections: u32;

// Keeps the echo that is reported, of those of a shot, nearest first.
fn keep(found: Detection) -> bool {
    detections += 1u;
    let is_stronger = params.kinds.w == STRONGEST && found.power > kept.power;
    if detections == 1u || params.kinds.w == LAST || is_stronger {
        kept = found;
        kept_number = detections - 1u;
    }
    return true;
}

// Keeps the echo that is reported, of those of a shot in any order.
fn keep_in_order(found: Detection) -> bool {
    let behind = ds_sub(found.range, kept.range).x;
    if detections == 0u {
        kept = found;
    } else if params.kinds.w == STRONGEST {
        if found.power > kept.power || (found.power == kept.power && behind < 0.0) {
            kept = found;
        }
    } else if (behind >= 0.0) == (params.kinds.w == LAST) {
        kept = found;
    }
    detections += 1u;
    return true;
}

// Moves an echo by a distance, by its number, if it is kept.
fn move_kept(number: u32, distance: f32) {
    if number == kept_number {
        kept.range = ds_add(kept.range, vec2<f32>(distance, 0.0));
    }
}

// Sets what the lidar reports of a shot.
fn report_kept(echo: ptr<function, Echo>, shot: u32, environment: u32) {
    if detections > 0u {
        detect(echo, jittered(kept, 0u), shot, environment);
    }
}
