// Light paths by way of mirrors and glass.

@group(0) @binding(10) var<storage, read> links: array<u32>;
@group(0) @binding(11) var<storage, read> branches: array<Branch>;

// Further returns are left to the host.
const MOST_PATHS: u32 = 4u * RAYS + 16u;

fn is_overfull(root: u32) -> bool {
    return links[GENERATIONS + 2u * root + 1u] != 0u;
}

// The last branch of a ray of a beam, and the one before a branch; NONE for none.
fn last_branch(root: u32) -> u32 {
    return links[GENERATIONS + 2u * root];
}

fn branch_before(slot: u32) -> u32 {
    return branches[slot - params.counts.x * RAYS].before;
}

// The ray of the beam of a slot.
fn root_of(slot: u32) -> u32 {
    let rays = params.counts.x * RAYS;
    if slot < rays {
        return slot;
    }
    return branches[slot - rays].root;
}

// The surfaces of the path to the hit of a slot, as a number (links.wgsl).
fn path_of(slot: u32) -> u32 {
    let rays = params.counts.x * RAYS;
    if slot < rays {
        return 1u;
    }
    return branches[slot - rays].path;
}

// The path at the surface that a slot hit, at a distance.
fn arrival_at(slot: u32, distance: vec2<f32>) -> Arrival {
    let rays = params.counts.x * RAYS;
    if slot < rays {
        return Arrival(distance, distance, 1.0);
    }
    return arrival_of(branches[slot - rays], distance);
}
