// Light paths of one surface.

const MOST_PATHS: u32 = RAYS;

fn is_overfull(root: u32) -> bool {
    return false;
}

// The last branch of a ray of a beam, and the one before a branch; NONE for none.
fn last_branch(root: u32) -> u32 {
    return NONE;
}

fn branch_before(slot: u32) -> u32 {
    return NONE;
}

// The ray of the beam of a slot.
fn root_of(slot: u32) -> u32 {
    return slot;
}

// The surfaces of the path to the hit of a slot, as a number (links.wgsl).
fn path_of(slot: u32) -> u32 {
    return 1u;
}

// The path at the surface that a slot hit, at a distance.
fn arrival_at(slot: u32, distance: vec2<f32>) -> Arrival {
    return Arrival(distance, distance, 1.0);
}
