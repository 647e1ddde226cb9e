// The nearest hit of each ray in a scene of two levels. Results are those of the watertight test of Woop, Benthin and
// Wald (2013) in double-single arithmetic. f32 with error bounds selects the triangles that may be the nearest: the bounds
// are those of the ray caster of the host (etendue-raycast, bvh/rounding.rs). The traversal collects these candidates, and
// the double-single arithmetic decides about them at its end, when the rays of a group are at the same place of the
// program. Groups in which each ray decides at a time of its own took ten times as long on an H200.

struct Params {
    // Number of rays, zero (see `opaque_f32`), threads per row of the dispatch, 0.
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
// Most triangles of a ray about which f32 does not decide and that are decided about together. Rays that pass a vertex of
// many triangles have more.
const MOST_UNCERTAIN: u32 = 7u;

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

// A ray in the frame of the object that is traversed.
struct LocalRay {
    origin: Ds3,
    direction: Ds3,
    // Slopes over depth, signed, and the inverse of the major component.
    shear_x: vec2<f32>,
    shear_y: vec2<f32>,
    scale: vec2<f32>,
    // The largest coordinate of the origin.
    reach: f32,
    object: u32,
    first_corner: u32,
    first_vertex: u32,
}

var<private> world_origin: Ds3;
var<private> world_direction: Ds3;
var<private> near: vec2<f32>;
// The nearest hit so far, or the far limit.
var<private> best_distance: vec2<f32>;
var<private> best_object: u32;
var<private> best_triangle: u32;
var<private> best_cos: f32;

var<private> slabs: SlabRay;
var<private> local: LocalRay;
// The object of `local`, by its index in `instances`.
var<private> entered_instance: u32;

// A triangle that may be the nearest.
struct Candidate {
    // Index in `instances`, and in `triangles`; NONE for no triangle.
    instance: u32,
    triangle: u32,
    // A distance below that of the hit.
    low: f32,
}

// The nearest triangle of which f32 is certain that it is hit, then those that may be nearer or as near.
var<private> candidates: array<Candidate, MOST_UNCERTAIN + 1u>;
// Number of the latter.
var<private> uncertain: u32;
// Bounds on the distance of the nearest certain hit, or on the far limit.
var<private> certain_low: f32;
var<private> certain_high: f32;
// The same on the depth in the frame of the object.
var<private> nearest_low: f32;
var<private> nearest_high: f32;

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
    ray.near = near.x * major;
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

fn vertex_at(index: u32) -> Ds3 {
    return Ds3(vertices[3u * index], vertices[3u * index + 1u], vertices[3u * index + 2u]);
}

fn sheared(corner: Ds3) -> Ds3 {
    let from_origin = ds3_permuted(ds3_sub(corner, local.origin), slabs.axis);
    return Ds3(
        ds_sub(from_origin.x, ds_mul(local.shear_x, from_origin.z)),
        ds_sub(from_origin.y, ds_mul(local.shear_y, from_origin.z)),
        from_origin.z,
    );
}

// Decides about a triangle, by its index in `triangles`, in double-single arithmetic. Edges belong to both sides within
// the rounding error; of hits at the same distance within it, the one of the lower object and triangle counts.
fn resolve(index: u32) {
    // Edge functions.
    let number = bitcast<u32>(triangles[3u * index].w);
    let size = triangles[3u * index + 1u].w;
    let reach = triangles[3u * index + 2u].w + local.reach;
    let corner = local.first_corner + 3u * number;
    let first = vertex_at(local.first_vertex + corners[corner]);
    let second = vertex_at(local.first_vertex + corners[corner + 1u]);
    let third = vertex_at(local.first_vertex + corners[corner + 2u]);
    let a = sheared(first);
    let b = sheared(second);
    let c = sheared(third);
    let u = ds_sub(ds_mul(c.x, b.y), ds_mul(c.y, b.x));
    let v = ds_sub(ds_mul(a.x, c.y), ds_mul(a.y, c.x));
    let w = ds_sub(ds_mul(b.x, a.y), ds_mul(b.y, a.x));
    let error = FINE * size * reach;
    let least = min(u.x, min(v.x, w.x));
    let greatest = max(u.x, max(v.x, w.x));
    let sum = ds_add(ds_add(u, v), w);
    if (least < -error && greatest > error) || abs(sum.x) <= error {
        return;
    }

    // Distance.
    let height = ds_add(ds_add(ds_mul(u, a.z), ds_mul(v, b.z)), ds_mul(w, c.z));
    let distance = ds_mul(ds_div(height, sum), local.scale);
    if ds_sub(distance, near).x < 0.0 {
        return;
    }
    let ahead = ds_sub(distance, best_distance).x;
    let tie = FINE * reach;
    let is_lower = local.object < best_object || (local.object == best_object && number < best_triangle);
    if ahead > tie || (ahead >= -tie && !is_lower) {
        return;
    }

    // Incidence.
    let along = ds3_rounded(ds3_sub(second, first));
    let across = ds3_rounded(ds3_sub(third, first));
    best_distance = distance;
    best_object = local.object;
    best_triangle = number;
    best_cos = min(abs(sum.x) * slabs.major / length(cross(along, across)), 1.0);
}

// Tests a triangle of the object, by its index in `triangles`.
fn test_triangle(index: u32) {
    // Edge functions in f32.
    tested += 1u;
    let first = triangles[3u * index];
    let second = triangles[3u * index + 1u];
    let third = triangles[3u * index + 2u];
    let size = second.w;
    let shear = vec2<f32>(local.shear_x.x, local.shear_y.x);
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
    let unit = ROUND_OFF * (third.w + local.reach);
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
        let depth = height / normal.z * sign(local.scale.x);
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
        candidates[0] = Candidate(entered_instance, index, 0.0);
        certain_low = low / slabs.major * 0.9999996;
        certain_high = high / slabs.major * 1.0000004;
        bound_depth();
        return;
    }

    // Collect the others.
    if uncertain < MOST_UNCERTAIN {
        uncertain += 1u;
        candidates[uncertain] = Candidate(entered_instance, index, low / slabs.major * select(1.0000004, 0.9999996, low > 0.0));
        return;
    }
    resolve(index);
    certain_low = min(certain_low, best_distance.x * 0.9999996);
    certain_high = min(certain_high, best_distance.x * 1.0000004);
    bound_depth();
}

// Decides about the candidates.
fn resolve_candidates(time: u32) {
    for (var i = 0u; i <= uncertain; i++) {
        let candidate = candidates[i];
        if candidate.triangle == NONE || candidate.low > certain_high {
            continue;
        }
        if candidate.instance != entered_instance {
            enter_object(candidate.instance, time);
        }
        resolve(candidate.triangle);
    }
}

fn ds3_of(a: vec4<f32>, b: vec2<f32>) -> Ds3 {
    return Ds3(a.xy, a.zw, b);
}

// Transforms the ray to the frame of an object; returns the root of its mesh.
fn enter_object(instance: u32, time: u32) -> u32 {
    // Pose at the ray's time.
    let head = instances[2u * instance];
    let tail = instances[2u * instance + 1u];
    let pose = 6u * (tail.x + select(0u, time, (head.w & 2u) != 0u));
    let last = poses[pose + 4u];
    let shift = Ds3(last.zw, poses[pose + 5u].xy, poses[pose + 5u].zw);
    local.origin = world_origin;
    local.direction = world_direction;
    if (head.w & 1u) == 0u {
        local.origin = rotated(pose, local.origin);
        local.direction = rotated(pose, local.direction);
    }
    local.origin = Ds3(
        ds_add(local.origin.x, shift.x),
        ds_add(local.origin.y, shift.y),
        ds_add(local.origin.z, shift.z),
    );

    // Boxes and edge functions.
    let origin = ds3_rounded(local.origin);
    slabs = slab_ray(origin, ds3_rounded(local.direction), bitcast<f32>(tail.w));
    let direction = ds3_permuted(local.direction, slabs.axis);
    local.scale = ds_div(vec2<f32>(1.0, 0.0), direction.z);
    local.shear_x = ds_mul(direction.x, local.scale);
    local.shear_y = ds_mul(direction.y, local.scale);
    local.reach = 1.000001 * max(abs(origin.x), max(abs(origin.y), abs(origin.z)));
    local.object = head.y;
    local.first_vertex = tail.y;
    local.first_corner = tail.z;
    entered_instance = instance;
    bound_depth();
    return head.x;
}

// Whether the ray misses the sphere around an object with a pose per time, in f32 and with its errors.
fn misses_sphere(instance: u32, time: u32) -> bool {
    // Origin and direction in the frame of the object.
    let tail = instances[2u * instance + 1u];
    let pose = 6u * (tail.x + time);
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
    let start = ds3_rounded(world_origin);
    let origin = start * rows + vec3<f32>(five.z, six.x, six.z);
    let direction = ds3_rounded(world_direction) * rows;

    // Distance of the line from the centre, and that of its nearest point.
    let reach = bitcast<f32>(tail.w);
    let sizes = abs(start) + abs(origin);
    let radius = 1.7321 * reach + 4e-6 * (sizes.x + sizes.y + sizes.z + reach);
    let aside = length(cross(origin, direction));
    let ahead = -dot(origin, direction);
    return aside > radius || ahead < -radius || ahead - radius > certain_high;
}

// Whether an object is visible to the ray, and not far from it.
fn is_met(instance: u32, mask: u32, time: u32) -> bool {
    let head = instances[2u * instance];
    if (head.z & mask) == 0u {
        return false;
    }
    return (head.w & 2u) == 0u || !misses_sphere(instance, time);
}

// Number of nodes that the ray visited, and of triangles that it was tested with.
var<private> visited: u32;
var<private> tested: u32;

// Finds the nearest hit of the ray.
fn trace(mask: u32, time: u32) {
    let origin = Ds3(
        ds_sub(world_origin.x, params.origin_xy.xy),
        ds_sub(world_origin.y, params.origin_xy.zw),
        ds_sub(world_origin.z, params.origin_z.xy),
    );
    let world_slabs = slab_ray(ds3_rounded(origin), ds3_rounded(world_direction), params.origin_z.z);
    slabs = world_slabs;

    // Groups of children still to visit: the node, and the children by bit in order; in meshes, the index of the
    // first inner child, and in the second byte which children are inner ones.
    var stack: array<vec2<u32>, STACK>;
    var top = 0u;
    var base = 0u;
    var in_object = false;
    var node = 0u;
    loop {
        // Visit a node.
        if node != NONE {
            let at = 5u * node;
            let head = nodes[at];
            let farthest = select(farthest_depth(), min(nearest_high, FARTHEST), in_object);
            let found = entered(at, head.w, bitcast<vec3<f32>>(head.xyz), farthest);
            let inner = head.w >> 24u;
            visited += 1u;
            if !in_object && found != 0u {
                stack[top] = vec2<u32>(at, in_order(found, slabs.octant));
                top += 1u;
            }
            if in_object && found != 0u {
                // Test the triangles of leaves, and keep the inner children.
                let members = nodes[at + 1u];
                var leaves = in_order(found & ~inner, slabs.octant);
                while leaves != 0u {
                    let slot = firstTrailingBit(leaves) ^ slabs.octant;
                    leaves &= leaves - 1u;
                    let leaf = leaf_members(members, slot);
                    for (var i = 0u; i < leaf.y; i++) {
                        test_triangle(members.y + leaf.x + i);
                    }
                }
                if (found & inner) != 0u {
                    stack[top] = vec2<u32>(members.x, in_order(found & inner, slabs.octant) | (inner << 8u));
                    top += 1u;
                }
            }
        }

        // Leave the object where nothing is left of it.
        if in_object && top == base {
            in_object = false;
            entered_instance = NONE;
            base = 0u;
            slabs = world_slabs;
        }
        if top == 0u {
            break;
        }

        // Take the next child.
        let group = stack[top - 1u];
        let slot = firstTrailingBit(group.y & 255u) ^ slabs.octant;
        let rest = group.y & (group.y - 1u);
        if (rest & 255u) == 0u {
            top -= 1u;
        } else {
            stack[top - 1u].y = rest;
        }
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
            } else if is_met(instance, mask, time) {
                node = enter_object(instance, time);
                in_object = true;
                base = top;
            } else {
                node = NONE;
            }
        }
    }
}

@compute @workgroup_size(64)
fn cast_rays(@builtin(global_invocation_id) id: vec3<u32>) {
    let ray = id.y * params.counts.z + id.x;
    if ray >= params.counts.x {
        return;
    }
    let one = rays[5u * ray];
    let two = rays[5u * ray + 1u];
    let three = rays[5u * ray + 2u];
    let limits = rays[5u * ray + 3u];
    let last = bitcast<vec4<u32>>(rays[5u * ray + 4u]);
    world_origin = ds3_of(one, two.xy);
    world_direction = Ds3(two.zw, three.xy, three.zw);
    near = limits.xy;
    best_distance = limits.zw;
    best_object = NONE;
    best_triangle = NONE;
    best_cos = 0.0;
    visited = 0u;
    tested = 0u;
    entered_instance = NONE;
    candidates[0].triangle = NONE;
    uncertain = 0u;
    certain_low = best_distance.x * 0.9999996;
    certain_high = best_distance.x * 1.0000004;
    trace(last.y, last.x);
    resolve_candidates(last.x);
    hits[2u * ray] = vec4<u32>(best_object, best_triangle, bitcast<u32>(best_distance.x), bitcast<u32>(best_distance.y));
    hits[2u * ray + 1u] = vec4<u32>(bitcast<u32>(best_cos), visited, tested, 0u);
}
