// Branches of ray trees: from each mirror or glass that the rays of a generation hit, a reflected and a transmitted ray of
// the next generation. The formulas are those of etendue-sensors (transport/tree.rs, transport/branch.rs).

struct Params {
    // Number of rays of the generation, zero (see `opaque_f32`), threads per row of the dispatch, number of the generation.
    counts: vec4<u32>,
    // First slot of the generation, first slot and most rays of the next one, number of rays of the beams.
    slots: vec4<u32>,
    // Least throughput of a branch.
    limits: vec4<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Five per slot (trace.wgsl).
@group(0) @binding(1) var<storage, read_write> rays: array<vec4<f32>>;
// Two per slot.
@group(0) @binding(2) var<storage, read> hits: array<vec4<u32>>;
// Three per slot (surfaces.wgsl).
@group(0) @binding(3) var<storage, read> surfaces: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> object_materials: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> triangle_materials: array<u32>;
// Two per material: index (1 without refraction) and group index in double-single numbers; absorption, first entry of its
// tables, whether light refracts. Then the tables of each mirror or glass: reflected and transmitted share, extra optical length.
@group(0) @binding(6) var<storage, read> specular: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> links: array<atomic<u32>>;
// One per slot of the generations of branches.
@group(0) @binding(8) var<storage, read_write> branches: array<Branch>;

const FARTHEST: f32 = 1e30;
// The tables of a material: light from the front; from the back over the cosine behind the surface; light from the back
// that is reflected totally.
const FROM_FRONT: u32 = 0u;
const FROM_BACK: u32 = 1u;
const TOTAL: u32 = 2u;

// Interpolates a table at a cosine.
fn shares_at(first: u32, table: u32, cosine: f32) -> vec4<f32> {
    let place = sqrt(max(1.0 - cosine, 0.0)) * f32(SHARES - 1u);
    let below = min(u32(place), SHARES - 2u);
    let low = specular[first + table * SHARES + below];
    let high = specular[first + table * SHARES + below + 1u];
    return low + (high - low) * (place - f32(below));
}

// Adds a branch in a direction. Its power is above the least, and its medium is set.
fn spawn(start: Branch, slot: u32, at: Ds3, direction: Ds3, surface: vec4<f32>, cosine: f32) {
    // A place for it.
    if start.throughput <= 0.0 || start.throughput < params.limits.x {
        return;
    }
    let number = atomicAdd(&links[params.counts.w + 1u], 1u);
    if number >= params.slots.z {
        atomicStore(&links[GENERATIONS + 2u * start.root + 1u], 1u);
        return;
    }
    let next = params.slots.y + number;

    // Its ray, which does not meet the triangle that it leaves.
    let near = 2.0 * min(abs(surface.z) / max(cosine, 1e-12), surface.w + abs(surface.z));
    rays[5u * next] = vec4<f32>(at.x, at.y);
    rays[5u * next + 1u] = vec4<f32>(at.z, direction.x);
    rays[5u * next + 2u] = vec4<f32>(direction.y, direction.z);
    rays[5u * next + 3u] = vec4<f32>(near, 0.0, FARTHEST, 0.0);
    let last = rays[5u * slot + 4u];
    rays[5u * next + 4u] = vec4<f32>(last.xy, 0.0, last.w);

    // Its place in the list of the ray of the beam.
    var branch = start;
    branch.before = atomicExchange(&links[GENERATIONS + 2u * start.root], next);
    branches[next - params.slots.w] = branch;
}

@compute @workgroup_size(64)
fn branch(@builtin(global_invocation_id) id: vec3<u32>) {
    // The ray, and the way up to its start.
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let slot = params.slots.x + thread;
    var own = Branch(slot, NONE, 1u, 0.0, vec2<f32>(0.0), vec2<f32>(0.0), vec2<f32>(1.0, 0.0), 1.0, 0.0);
    if params.counts.w == 0u {
        atomicStore(&links[GENERATIONS + 2u * slot], NONE);
        atomicStore(&links[GENERATIONS + 2u * slot + 1u], 0u);
    } else {
        if thread >= atomicLoad(&links[params.counts.w]) {
            return;
        }
        own = branches[slot - params.slots.w];
    }

    // The surface that it hit.
    let hit = hits[2u * slot];
    if hit.x == NONE || hits[2u * slot + 1u].w != 0u {
        return;
    }
    let material = material_of(hit.x, hit.y);
    if (material & (SPECULAR | ON_HOST)) != SPECULAR {
        return;
    }
    let one = rays[5u * slot];
    let two = rays[5u * slot + 1u];
    let three = rays[5u * slot + 2u];
    let direction = Ds3(two.zw, three.xy, three.zw);
    let distance = bitcast<vec2<f32>>(hit.zw);
    let at = ds3_add(Ds3(one.xy, one.zw, two.xy), ds3_scaled(direction, distance));
    let surface = surfaces[3u * slot];
    let rest = surfaces[3u * slot + 1u];
    let normal = Ds3(surface.xy, surface.zw, rest.xy);
    let is_back = rest.z < 0.0;
    let cosine = -ds3_dot(direction, normal);
    let arrived = arrival_of(own, distance);
    own.range = arrived.range;
    own.optical = arrived.optical;

    // Cosine behind it.
    let head = specular[2u * (material & NUMBER)];
    let body = specular[2u * (material & NUMBER) + 1u];
    let first = bitcast<u32>(body.y);
    let refracts = body.z != 0.0;
    var ratio = head.xy;
    if !is_back {
        ratio = ds_div(vec2<f32>(1.0, 0.0), head.xy);
    }
    let sine_squared = ds_sub(vec2<f32>(1.0, 0.0), ds_mul(cosine, cosine));
    let behind_squared = ds_sub(vec2<f32>(1.0, 0.0), ds_mul(ds_mul(ratio, ratio), sine_squared));
    let is_total = behind_squared.x <= 1e-14;
    var behind = vec2<f32>(0.0);
    if !is_total {
        behind = ds_sqrt(behind_squared);
    }

    // Reflected ray.
    var shares: vec4<f32>;
    if !is_back {
        shares = shares_at(first, FROM_FRONT, cosine.x);
    } else if is_total {
        shares = shares_at(first, TOTAL, cosine.x);
    } else {
        shares = shares_at(first, FROM_BACK, behind.x);
    }
    var reflected = own;
    reflected.path = 2u * own.path;
    reflected.throughput = arrived.throughput * shares.x;
    let turned = ds3_add(direction, ds3_scaled(normal, 2.0 * cosine));
    spawn(reflected, slot, at, turned, rest, cosine.x);

    // Transmitted ray.
    var passed = own;
    passed.path = 2u * own.path + 1u;
    passed.throughput = arrived.throughput * shares.y;
    var ahead = direction;
    if refracts {
        // Snell's law.
        let lift = ds_sub(ds_mul(ratio, cosine), behind);
        ahead = ds3_add(ds3_scaled(direction, ratio), ds3_scaled(normal, lift));
        passed.absorption = select(body.x, 0.0, is_back);
        passed.group_index = select(head.zw, vec2<f32>(1.0, 0.0), is_back);
    } else {
        passed.optical = ds_add(passed.optical, vec2<f32>(shares.z, 0.0));
        behind = cosine;
    }
    spawn(passed, slot, at, ahead, rest, behind.x);
}
