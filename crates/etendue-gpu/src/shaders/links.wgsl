// The branches of ray trees. Slots of rays and hits are numbered in generations: the rays of the beams first, then the
// branches that leave the first surfaces, and so on. The branches of a ray of a beam form a list.

// A number of branches per generation, then two per ray of a beam: its last branch, or NONE; whether it has more branches
// than there is room for.
const GENERATIONS: u32 = 32u;

struct Branch {
    // The ray of the beam, the branch before it in the list, or NONE, and the surfaces of the path: from the most
    // significant bit on, after a one, 0 for a reflection and 1 for a passage.
    root: u32,
    before: u32,
    path: u32,
    absorption: f32,
    // Length and optical length of the way from the sensor to the start of the branch, m.
    range: vec2<f32>,
    optical: vec2<f32>,
    // Optical length per metre in its medium, and share of the power of the ray.
    group_index: vec2<f32>,
    throughput: f32,
    unused: f32,
}

// A path at a surface.
struct Arrival {
    range: vec2<f32>,
    optical: vec2<f32>,
    throughput: f32,
}

fn arrival_of(branch: Branch, distance: vec2<f32>) -> Arrival {
    var throughput = branch.throughput;
    if branch.absorption > 0.0 {
        throughput *= exp(-branch.absorption * distance.x);
    }
    let optical = ds_add(branch.optical, ds_mul(branch.group_index, distance));
    return Arrival(ds_add(branch.range, distance), optical, throughput);
}
