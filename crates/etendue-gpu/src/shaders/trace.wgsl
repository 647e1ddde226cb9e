// The nearest hit of each ray in a scene of two levels. Results are those of the watertight test of Woop, Benthin and
// Wald (2013) in double-single arithmetic. f32 with error bounds selects the triangles that may be the nearest: the bounds
// are those of the ray caster of the host (etendue-raycast, bvh/rounding.rs). The traversal collects these candidates, and
// the double-single arithmetic decides about them at its end, when the rays of a group are at the same place of the
// program. The traversal keeps little in registers, so that more groups of rays are in flight.

struct Params {
    // Number of rays, zero (see `opaque_f32`), threads per row of the dispatch, length of the columns of rays (0: the rays
    // have no such order).
    counts: vec4<u32>,
    // The origin of the coordinates of the upper level, x and y.
    origin_xy: vec4<f32>,
    // The same, z; the largest coordinate of the upper level; 0.
    origin_z: vec4<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Five per node: the upper level first, then the meshes.
@group(0) @binding(1) var<storage, read> nodes: array<vec4<u32>>;
// Three per triangle, in the order of leaves: corners, each with a fourth number: index in the mesh, size, reach.
@group(0) @binding(2) var<storage, read> triangles: array<vec4<f32>>;
// Three double-singles per vertex.
@group(0) @binding(3) var<storage, read> vertices: array<vec2<f32>>;
// Three per triangle of each mesh.
@group(0) @binding(4) var<storage, read> corners: array<u32>;
// Two per object, in the order of leaves.
@group(0) @binding(5) var<storage, read> instances: array<vec4<u32>>;
// Six per pose: rotation by rows, then translation, all double-single.
@group(0) @binding(6) var<storage, read> poses: array<vec4<f32>>;
// Five per ray.
@group(0) @binding(7) var<storage, read> rays: array<vec4<f32>>;
// Two per ray.
@group(0) @binding(8) var<storage, read_write> hits: array<vec4<u32>>;

const NONE: u32 = 0xffffffffu;
const FARTHEST: f32 = 1e30;
const ROUND_OFF: f32 = 5.9604645e-8;
// In units of the round-off times the largest coordinate: etendue-raycast, bvh/rounding.rs.
const BOX_MARGIN: f32 = 32.0;
const EDGE_ERROR: f32 = 192.0;
const CERTAIN: f32 = 2.0;
const DEPTH_ERROR: f32 = 64.0;
// Error of the double-single test, relative to sizes and coordinates.
const FINE: f32 = 1e-12;
// Most triangles of a ray about which f32 does not decide. The host casts rays that have more, such as those that pass a
// vertex of many triangles.
const MOST_UNCERTAIN: u32 = 15u;
// Entries of the stack in the memory of the group, which is faster; those above are in private memory.
const SHARED_STACK: u32 = 12u;
const GROUP: u32 = 64u;

// A ray at one level, for the tests of boxes. Depths are distances times the largest component of the direction.
struct SlabRay {
    origin: vec3<f32>,
    // Depth per metre along each axis.
    rate: vec3<f32>,
    // Error of the depth at which the ray crosses a plane.
    pad: vec3<f32>,
    // The largest component of the direction, and its axis.
    major: f32,
    axis: u32,
    near: f32,
    // Bit of each axis along which the ray descends.
    octant: u32,
}

// A ray in double-single numbers.
struct ExactRay {
    origin: Ds3,
    direction: Ds3,
}

// Slopes over depth, signed, and the inverse of the major component.
struct Shear {
    x: vec2<f32>,
    y: vec2<f32>,
    scale: vec2<f32>,
}

// A triangle that may be the nearest.
struct Candidate {
    // Index in `instances`, and in `triangles`; NONE for no triangle.
    instance: u32,
    triangle: u32,
    // A distance below that of the hit.
    low: f32,
}

// Index of the ray in `rays`, its nearest distance, and its time or environment.
var<private> own_ray: u32;
var<private> near_limit: f32;
var<private> own_time: u32;

// The ray in the frame of the world, or in that of the object that is traversed: for the boxes, and for the triangles.
var<private> slabs: SlabRay;
var<private> shear: vec2<f32>;
var<private> side: f32;
var<private> reach_of_ray: f32;
var<private> instance_of_ray: u32;

// The nearest triangle of which f32 is certain that it is hit, then those that may be nearer or as near.
var<private> candidates: array<Candidate, MOST_UNCERTAIN + 1u>;
// Number of the latter, and whether there are more than the list holds.
var<private> uncertain: u32;
var<private> is_undecided: bool;
// Bounds on the distance of the nearest certain hit, or on the far limit.
var<private> certain_low: f32;
var<private> certain_high: f32;
// The same on the depth in the frame of the object.
var<private> nearest_low: f32;
var<private> nearest_high: f32;

// Number of nodes that the ray visited, and of triangles that it was tested with.
var<private> visited: u32;
var<private> tested: u32;

fn permuted(v: vec3<f32>, major: u32) -> vec3<f32> {
    if major == 0u {
        return v.yzx;
    }
    if major == 1u {
        return v.zxy;
    }
    return v;
}

fn major_axis(direction: vec3<f32>) -> u32 {
    let size = abs(direction);
    if size.x >= size.y && size.x >= size.z {
        return 0u;
    }
    return select(2u, 1u, size.y >= size.z);
}

// The inverse of a component over the major one; that of a parallel ray is so large that no box is between.
fn rate_of(component: f32, major: f32) -> f32 {
    let slope = component / major;
    let size = max(abs(slope), 1e-18);
    return select(1.0, -1.0, slope < 0.0) / size;
}

fn slab_ray(origin: vec3<f32>, direction: vec3<f32>, reach: f32) -> SlabRay {
    let axis = major_axis(direction);
    let size = abs(direction);
    let major = max(size.x, max(size.y, size.z));
    var ray: SlabRay;
    ray.origin = origin;
    ray.rate = vec3<f32>(rate_of(direction.x, major), rate_of(direction.y, major), rate_of(direction.z, major));
    let away = max(abs(origin.x), max(abs(origin.y), abs(origin.z)));
    ray.pad = BOX_MARGIN * ROUND_OFF * (reach + 1.000001 * away) * abs(ray.rate);
    ray.major = major;
    ray.axis = axis;
    ray.near = near_limit * major;
    let falls = vec3<u32>(ray.rate < vec3<f32>(0.0));
    ray.octant = falls.x | (falls.y << 1u) | (falls.z << 2u);
    return ray;
}

// 1 + b/256 for the four bytes b of a word. The bits of such numbers are those of the byte; the conversion of integers is
// slow on GPUs.
fn above_one(word: u32) -> vec4<f32> {
    let bits = vec4<u32>(word << 15u, word << 7u, word >> 1u, word >> 9u);
    return bitcast<vec4<f32>>((bits & vec4<u32>(0x7f8000u)) | vec4<u32>(0x3f800000u));
}

fn as_bits(flags: vec4<bool>) -> u32 {
    let powers = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), flags);
    return powers.x | powers.y | powers.z | powers.w;
}

// The children, by bit of the slot, that the ray enters before a depth. A plane is at 256 steps times 1 + b/256, less 256
// steps. In units of the round-off times (reach + origin) times the rate, the errors of that depth are: 2 of `start`, 4 of
// the product, 6 of the sums, 3 of the rate and 2 of the rounded ray, together less than BOX_MARGIN.
fn entered(node: u32, exponents: u32, origin: vec3<f32>, farthest: f32) -> u32 {
    let low = nodes[node + 2u];
    let middle = nodes[node + 3u];
    let high = nodes[node + 4u];
    let powers = (vec3<u32>(exponents) >> vec3<u32>(0u, 8u, 16u)) & vec3<u32>(255u);
    let step = bitcast<vec3<f32>>((powers + vec3<u32>(8u)) << vec3<u32>(23u)) * slabs.rate;
    let start = (origin - slabs.origin) * slabs.rate - step;
    let enter = start - slabs.pad;
    let leave = start + slabs.pad;
    let falls = slabs.rate < vec3<f32>(0.0);
    let x_near = select(low.xy, middle.zw, falls.x);
    let x_far = select(middle.zw, low.xy, falls.x);
    let y_near = select(low.zw, high.xy, falls.y);
    let y_far = select(high.xy, low.zw, falls.y);
    let z_near = select(middle.xy, high.zw, falls.z);
    let z_far = select(high.zw, middle.xy, falls.z);
    var found = 0u;
    for (var half = 0u; half < 2u; half++) {
        let first = half == 0u;
        let in_x = above_one(select(x_near.y, x_near.x, first)) * step.x + enter.x;
        let in_y = above_one(select(y_near.y, y_near.x, first)) * step.y + enter.y;
        let in_z = above_one(select(z_near.y, z_near.x, first)) * step.z + enter.z;
        let out_x = above_one(select(x_far.y, x_far.x, first)) * step.x + leave.x;
        let out_y = above_one(select(y_far.y, y_far.x, first)) * step.y + leave.y;
        let out_z = above_one(select(z_far.y, z_far.x, first)) * step.z + leave.z;
        let t_in = max(max(in_x, in_y), max(in_z, vec4<f32>(slabs.near)));
        let t_out = min(min(out_x, out_y), min(out_z, vec4<f32>(farthest)));
        found |= as_bits(t_in <= t_out) << (4u * half);
    }
    return found;
}

// Bit `slot ^ octant` of the result is bit `slot` of `mask`: nearer children have lower bits.
fn in_order(mask: u32, octant: u32) -> u32 {
    var bits = mask;
    if (octant & 1u) != 0u {
        bits = ((bits & 0x55u) << 1u) | ((bits >> 1u) & 0x55u);
    }
    if (octant & 2u) != 0u {
        bits = ((bits & 0x33u) << 2u) | ((bits >> 2u) & 0x33u);
    }
    if (octant & 4u) != 0u {
        bits = ((bits & 0x0fu) << 4u) | (bits >> 4u);
    }
    return bits;
}

// The members of the leaf of a slot: index of the first, relative to the node's, and number.
fn leaf_members(node_members: vec4<u32>, slot: u32) -> vec2<u32> {
    let word = select(node_members.w, node_members.z, slot < 4u);
    let byte = (word >> (8u * (slot & 3u))) & 255u;
    return vec2<u32>(byte >> 2u, (byte & 3u) + 1u);
}

// The depth up to which the boxes of objects are searched.
fn farthest_depth() -> f32 {
    let bound = certain_high * slabs.major * 1.000001;
    return min(bound + BOX_MARGIN * ROUND_OFF * bound, FARTHEST);
}

// Converts the bounds on the nearest distance to depths in the frame of the object.
fn bound_depth() {
    nearest_low = certain_low * slabs.major * 0.9999998;
    nearest_high = certain_high * slabs.major * 1.0000002;
}

fn ds3_of(a: vec4<f32>, b: vec2<f32>) -> Ds3 {
    return Ds3(a.xy, a.zw, b);
}

// The ray in the frame of the world.
fn world_ray() -> ExactRay {
    let one = rays[5u * own_ray];
    let two = rays[5u * own_ray + 1u];
    let three = rays[5u * own_ray + 2u];
    return ExactRay(ds3_of(one, two.xy), Ds3(two.zw, three.xy, three.zw));
}

// The ray in the frame of an object at the ray's time.
fn local_ray(instance: u32) -> ExactRay {
    let flags = instances[2u * instance].w;
    let pose = 6u * (instances[2u * instance + 1u].x + select(0u, own_time, (flags & 2u) != 0u));
    var ray = world_ray();
    if (flags & 1u) == 0u {
        ray.origin = rotated(pose, ray.origin);
        ray.direction = rotated(pose, ray.direction);
    }
    let last = poses[pose + 4u];
    ray.origin = ds3_add(ray.origin, Ds3(last.zw, poses[pose + 5u].xy, poses[pose + 5u].zw));
    return ray;
}

fn shear_of(direction: Ds3, axis: u32) -> Shear {
    let turned = ds3_permuted(direction, axis);
    let scale = ds_div(vec2<f32>(1.0, 0.0), turned.z);
    return Shear(ds_mul(turned.x, scale), ds_mul(turned.y, scale), scale);
}

// The largest coordinate of an origin.
fn reach_of(origin: vec3<f32>) -> f32 {
    return 1.000001 * max(abs(origin.x), max(abs(origin.y), abs(origin.z)));
}

// Starts the traversal of the upper level.
fn enter_world() {
    let ray = world_ray();
    let middle = Ds3(params.origin_xy.xy, params.origin_xy.zw, params.origin_z.xy);
    slabs = slab_ray(ds3_rounded(ds3_sub(ray.origin, middle)), ds3_rounded(ray.direction), params.origin_z.z);
}

// Starts the traversal of an object; returns the root of its mesh.
fn enter_object(instance: u32) -> u32 {
    let ray = local_ray(instance);
    let origin = ds3_rounded(ray.origin);
    slabs = slab_ray(origin, ds3_rounded(ray.direction), bitcast<f32>(instances[2u * instance + 1u].w));
    let exact = shear_of(ray.direction, slabs.axis);
    shear = vec2<f32>(exact.x.x, exact.y.x);
    side = sign(exact.scale.x);
    reach_of_ray = reach_of(origin);
    instance_of_ray = instance;
    bound_depth();
    return instances[2u * instance].x;
}

// Whether an object is visible to the ray, and not far from it.
fn is_met(instance: u32, mask: u32) -> bool {
    let head = instances[2u * instance];
    if (head.z & mask) == 0u {
        return false;
    }
    return (head.w & 2u) == 0u || !misses_sphere(instance);
}

// Whether the ray misses the sphere around an object with a pose per time, in f32 and with its errors.
fn misses_sphere(instance: u32) -> bool {
    // Origin and direction in the frame of the object.
    let tail = instances[2u * instance + 1u];
    let pose = 6u * (tail.x + own_time);
    let one = poses[pose];
    let two = poses[pose + 1u];
    let three = poses[pose + 2u];
    let four = poses[pose + 3u];
    let five = poses[pose + 4u];
    let six = poses[pose + 5u];
    let rows = mat3x3<f32>(
        vec3<f32>(one.x, one.z, two.x),
        vec3<f32>(two.z, three.x, three.z),
        vec3<f32>(four.x, four.z, five.x),
    );
    let ray = world_ray();
    let start = ds3_rounded(ray.origin);
    let origin = start * rows + vec3<f32>(five.z, six.x, six.z);
    let direction = ds3_rounded(ray.direction) * rows;

    // Distance of the line from the centre, and that of its nearest point.
    let reach = bitcast<f32>(tail.w);
    let sizes = abs(start) + abs(origin);
    let radius = 1.7321 * reach + 4e-6 * (sizes.x + sizes.y + sizes.z + reach);
    let aside = length(cross(origin, direction));
    let ahead = -dot(origin, direction);
    return aside > radius || ahead < -radius || ahead - radius > certain_high;
}

// Tests a triangle of the object, by its index in `triangles`.
fn test_triangle(index: u32) {
    // Edge functions in f32.
    tested += 1u;
    let first = triangles[3u * index];
    let second = triangles[3u * index + 1u];
    let third = triangles[3u * index + 2u];
    let size = second.w;
    var a = permuted(first.xyz - slabs.origin, slabs.axis);
    var b = permuted(second.xyz - slabs.origin, slabs.axis);
    var c = permuted(third.xyz - slabs.origin, slabs.axis);
    a = vec3<f32>(a.xy - shear * a.z, a.z);
    b = vec3<f32>(b.xy - shear * b.z, b.z);
    c = vec3<f32>(c.xy - shear * c.z, c.z);
    let u = c.x * b.y - c.y * b.x;
    let v = a.x * c.y - a.y * c.x;
    let w = b.x * a.y - b.y * a.x;
    let least = min(u, min(v, w));
    let greatest = max(u, max(v, w));
    let unit = ROUND_OFF * (third.w + reach_of_ray);
    let error = EDGE_ERROR * unit * size;
    if least + error < 0.0 && greatest > error {
        return;
    }

    // Depth, with its error; unknown where the ray is parallel to the plane.
    let one = c - a;
    let two = b - a;
    let normal = vec3<f32>(
        one.y * two.z - one.z * two.y,
        one.z * two.x - one.x * two.z,
        one.x * two.y - one.y * two.x,
    );
    let area = abs(normal.x) + abs(normal.y) + abs(normal.z) + size * size;
    let height = normal.x * a.x + normal.y * a.y + normal.z * a.z;
    var low = -FARTHEST;
    var high = FARTHEST;
    var is_certain = false;
    if abs(normal.z) > 1e-12 * area {
        let depth = height / normal.z * side;
        let depth_error = (DEPTH_ERROR * area / abs(normal.z) + 16.0) * unit;
        low = depth - depth_error;
        high = depth + depth_error;
        let clear = CERTAIN * error;
        is_certain = (least >= clear || greatest + clear <= 0.0) && max(abs(a.x), abs(a.y)) <= 4.0 * size;
    }
    if low > nearest_high || high < slabs.near {
        return;
    }

    // A certain hit that is nearer replaces the one before.
    if is_certain && high < nearest_low && low > slabs.near {
        candidates[0] = Candidate(instance_of_ray, index, 0.0);
        certain_low = low / slabs.major * 0.9999996;
        certain_high = high / slabs.major * 1.0000004;
        bound_depth();
        return;
    }

    // Collect the others.
    if uncertain == MOST_UNCERTAIN {
        is_undecided = true;
        return;
    }
    uncertain += 1u;
    let below = low / slabs.major * select(1.0000004, 0.9999996, low > 0.0);
    candidates[uncertain] = Candidate(instance_of_ray, index, below);
}

// The stack of each ray.
var<workgroup> shared_stack: array<vec2<u32>, SHARED_STACK * GROUP>;
var<private> upper_stack: array<vec2<u32>, STACK>;
var<private> lane: u32;
var<private> top: u32;

fn push(group: vec2<u32>) {
    if top < SHARED_STACK {
        shared_stack[top * GROUP + lane] = group;
    } else {
        upper_stack[top - SHARED_STACK] = group;
    }
    top += 1u;
}

fn pop() -> vec2<u32> {
    top -= 1u;
    if top < SHARED_STACK {
        return shared_stack[top * GROUP + lane];
    }
    return upper_stack[top - SHARED_STACK];
}

// Collects the triangles that may be the nearest hit.
fn traverse(mask: u32) {
    // The children of a node that are still to visit: the node, and the children by bit in order; in meshes, the index of
    // the first inner child, and in the second byte which children are inner ones. Those of nodes above are on the stack.
    var group = vec2<u32>(0u);
    top = 0u;
    var base = 0u;
    var in_object = false;
    var node = 0u;
    enter_world();
    loop {
        // Visit a node.
        if node != NONE {
            let at = 5u * node;
            let head = nodes[at];
            let members = nodes[at + 1u];
            let farthest = select(farthest_depth(), min(nearest_high, FARTHEST), in_object);
            let found = entered(at, head.w, bitcast<vec3<f32>>(head.xyz), farthest);
            let inner = select(0xffu, head.w >> 24u, in_object);
            visited += 1u;

            // Keep the children, but test the triangles of leaves at once.
            if (found & inner) != 0u {
                if (group.y & 255u) != 0u {
                    push(group);
                }
                let first = select(at, members.x, in_object);
                group = vec2<u32>(first, in_order(found & inner, slabs.octant) | (inner << 8u));
            }
            var leaves = in_order(found & ~inner, slabs.octant);
            while leaves != 0u {
                let slot = firstTrailingBit(leaves) ^ slabs.octant;
                leaves &= leaves - 1u;
                let leaf = leaf_members(members, slot);
                for (var i = 0u; i < leaf.y; i++) {
                    test_triangle(members.y + leaf.x + i);
                }
            }
        }

        // Leave the object where nothing is left of it.
        if (group.y & 255u) == 0u {
            if top == 0u {
                break;
            }
            if in_object && top == base {
                in_object = false;
                base = 0u;
                enter_world();
            }
            group = pop();
        }

        // Take the next child.
        let slot = firstTrailingBit(group.y & 255u) ^ slabs.octant;
        group.y &= group.y - 1u;
        let before = (1u << slot) - 1u;
        if in_object {
            node = group.x + countOneBits((group.y >> 8u) & before);
        } else {
            let inner = nodes[group.x].w >> 24u;
            let members = nodes[group.x + 1u];
            let is_node = (inner & (1u << slot)) != 0u;
            let instance = members.y + leaf_members(members, slot).x;
            if is_node {
                node = members.x + countOneBits(inner & before);
            } else if is_met(instance, mask) {
                if (group.y & 255u) != 0u {
                    push(group);
                }
                group.y = 0u;
                node = enter_object(instance);
                in_object = true;
                base = top;
            } else {
                node = NONE;
            }
        }
    }
}

// The nearest hit.
struct Found {
    distance: vec2<f32>,
    object: u32,
    triangle: u32,
    cos_incidence: f32,
}

fn vertex_at(index: u32) -> Ds3 {
    return Ds3(vertices[3u * index], vertices[3u * index + 1u], vertices[3u * index + 2u]);
}

fn sheared(corner: Ds3, origin: Ds3, exact: Shear, axis: u32) -> Ds3 {
    let seen = ds3_permuted(ds3_sub(corner, origin), axis);
    return Ds3(ds_sub(seen.x, ds_mul(exact.x, seen.z)), ds_sub(seen.y, ds_mul(exact.y, seen.z)), seen.z);
}

// Decides about a candidate in double-single arithmetic. Edges belong to both sides within the rounding error; of hits at
// the same distance within it, the one of the lower object and triangle counts.
fn nearer(candidate: Candidate, near: vec2<f32>, before: Found) -> Found {
    // Ray and triangle in the frame of the object.
    let index = candidate.triangle;
    let own = instances[2u * candidate.instance];
    let tail = instances[2u * candidate.instance + 1u];
    let ray = local_ray(candidate.instance);
    let direction = ds3_rounded(ray.direction);
    let axis = major_axis(direction);
    let major = max(abs(direction.x), max(abs(direction.y), abs(direction.z)));
    let exact = shear_of(ray.direction, axis);
    let number = bitcast<u32>(triangles[3u * index].w);
    let size = triangles[3u * index + 1u].w;
    let reach = triangles[3u * index + 2u].w + reach_of(ds3_rounded(ray.origin));
    let corner = tail.z + 3u * number;
    let first = vertex_at(tail.y + corners[corner]);
    let second = vertex_at(tail.y + corners[corner + 1u]);
    let third = vertex_at(tail.y + corners[corner + 2u]);

    // Edge functions.
    let a = sheared(first, ray.origin, exact, axis);
    let b = sheared(second, ray.origin, exact, axis);
    let c = sheared(third, ray.origin, exact, axis);
    let u = ds_sub(ds_mul(c.x, b.y), ds_mul(c.y, b.x));
    let v = ds_sub(ds_mul(a.x, c.y), ds_mul(a.y, c.x));
    let w = ds_sub(ds_mul(b.x, a.y), ds_mul(b.y, a.x));
    let error = FINE * size * reach;
    let least = min(u.x, min(v.x, w.x));
    let greatest = max(u.x, max(v.x, w.x));
    let sum = ds_add(ds_add(u, v), w);
    if (least < -error && greatest > error) || abs(sum.x) <= error {
        return before;
    }

    // Distance.
    let height = ds_add(ds_add(ds_mul(u, a.z), ds_mul(v, b.z)), ds_mul(w, c.z));
    let distance = ds_mul(ds_div(height, sum), exact.scale);
    let ahead = ds_sub(distance, before.distance).x;
    let tie = FINE * reach;
    let is_lower = own.y < before.object || (own.y == before.object && number < before.triangle);
    if ds_sub(distance, near).x < 0.0 || ahead > tie || (ahead >= -tie && !is_lower) {
        return before;
    }

    // Incidence.
    let along = ds3_rounded(ds3_sub(second, first));
    let across = ds3_rounded(ds3_sub(third, first));
    let cos_incidence = min(abs(sum.x) * major / length(cross(along, across)), 1.0);
    return Found(distance, own.y, number, cos_incidence);
}

// The ray of a thread. Threads that run together cast a tile of rays, 4 of each of 8 columns: these meet the same nodes.
fn ray_of(thread: u32) -> u32 {
    let column = params.counts.w;
    if column == 0u || thread >= params.counts.x / (8u * column) * (8u * column) {
        return thread;
    }
    let tile = thread / 32u;
    let tiles = column / 4u;
    let place = thread % 32u;
    return (tile / tiles * 8u + place / 4u) * column + tile % tiles * 4u + place % 4u;
}

@compute @workgroup_size(64)
fn cast_rays(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) index_in_group: u32,
) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let ray = ray_of(thread);
    lane = index_in_group;

    // Collect candidates.
    let limits = rays[5u * ray + 3u];
    let last = bitcast<vec4<u32>>(rays[5u * ray + 4u]);
    own_ray = ray;
    near_limit = limits.x;
    own_time = last.x;
    candidates[0].triangle = NONE;
    uncertain = 0u;
    is_undecided = false;
    certain_low = limits.z * 0.9999996;
    certain_high = limits.z * 1.0000004;
    visited = 0u;
    tested = 0u;
    traverse(last.y);

    // Decide about them.
    var found = Found(limits.zw, NONE, NONE, 0.0);
    for (var i = 0u; i <= uncertain; i++) {
        let candidate = candidates[i];
        if candidate.triangle != NONE && candidate.low <= certain_high {
            found = nearer(candidate, limits.xy, found);
        }
    }
    hits[2u * ray] = vec4<u32>(found.object, found.triangle, bitcast<vec2<u32>>(found.distance));
    hits[2u * ray + 1u] = vec4<u32>(bitcast<u32>(found.cos_incidence), visited, tested, u32(is_undecided));
}
