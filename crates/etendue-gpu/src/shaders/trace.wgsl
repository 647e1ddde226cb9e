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
    // The same, z; the largest coordinate of the upper level; index of the first ray, as bits.
    origin_z: vec4<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Four per node (device_tree.rs): the upper level first, then the meshes.
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
// Bit of a child that is a leaf.
const LEAF: u32 = 0x80000000u;
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
const SHARED_STACK: u32 = 24u;
const GROUP: u32 = 64u;

// A ray at one level, for the tests of boxes. Depths are distances times the largest component of the direction.
struct SlabRay {
    origin: vec3<f32>,
    // Depth per metre along each axis; depth of the plane through zero, less and plus the error of depths of planes.
    rate: vec3<f32>,
    enter: vec3<f32>,
    leave: vec3<f32>,
    // The largest component of the direction, and its axis.
    major: f32,
    axis: u32,
    near: f32,
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

// Index of the ray in `rays`, its nearest distance, its time and its environment.
var<private> own_ray: u32;
var<private> near_limit: f32;
var<private> own_time: u32;
var<private> own_environment: u32;

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
    // In units of the round-off times (reach + away) times the rate, the errors of a depth are: 4 of the products, 3 of the
    // sums, 3 of the rate and 2 of the rounded ray, together less than BOX_MARGIN.
    let away = max(abs(origin.x), max(abs(origin.y), abs(origin.z)));
    let pad = BOX_MARGIN * ROUND_OFF * (reach + 1.000001 * away) * abs(ray.rate);
    ray.enter = -origin * ray.rate - pad;
    ray.leave = -origin * ray.rate + pad;
    ray.major = major;
    ray.axis = axis;
    ray.near = near_limit * major;
    return ray;
}

// The depth at which the ray enters a box; FARTHEST if it does not before a depth.
fn depth_of_box(low: vec3<f32>, high: vec3<f32>, farthest: f32) -> f32 {
    let falls = slabs.rate < vec3<f32>(0.0);
    let in_planes = select(low, high, falls) * slabs.rate + slabs.enter;
    let out_planes = select(high, low, falls) * slabs.rate + slabs.leave;
    let enters = max(max(in_planes.x, in_planes.y), max(in_planes.z, slabs.near));
    let leaves = min(min(out_planes.x, out_planes.y), min(out_planes.z, farthest));
    return select(FARTHEST, enters, enters <= leaves);
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

// Where the pose of an object for the ray is.
fn pose_of(instance: u32) -> u32 {
    let flags = instances[2u * instance].w;
    let number = select(select(0u, own_environment, (flags & 4u) != 0u), own_time, (flags & 2u) != 0u);
    return 6u * (instances[2u * instance + 1u].x + number);
}

// The ray in the frame of an object at the ray's time.
fn local_ray(instance: u32) -> ExactRay {
    let flags = instances[2u * instance].w;
    let pose = pose_of(instance);
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
    return (head.w & 6u) == 0u || !misses_sphere(instance);
}

// Whether the ray misses the sphere around an object with a pose per time or environment, in f32 and with its errors.
fn misses_sphere(instance: u32) -> bool {
    // Origin and direction in the frame of the object.
    let tail = instances[2u * instance + 1u];
    let pose = pose_of(instance);
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

// The stack of each ray: nodes and leaves that are still to visit.
var<workgroup> shared_stack: array<u32, SHARED_STACK * GROUP>;
var<private> upper_stack: array<u32, STACK>;
var<private> lane: u32;
var<private> top: u32;
// Size of the stack when the ray entered the object, NONE outside of objects.
var<private> base: u32;

fn push(child: u32) {
    if top < SHARED_STACK {
        shared_stack[top * GROUP + lane] = child;
    } else {
        upper_stack[top - SHARED_STACK] = child;
    }
    top += 1u;
}

// The next child to visit; NONE at the end.
fn pop() -> u32 {
    if top == 0u {
        return NONE;
    }
    if top == base {
        base = NONE;
        enter_world();
    }
    top -= 1u;
    if top < SHARED_STACK {
        return shared_stack[top * GROUP + lane];
    }
    return upper_stack[top - SHARED_STACK];
}

// Collects the triangles that may be the nearest hit.
fn traverse(mask: u32) {
    top = 0u;
    base = NONE;
    enter_world();
    var child = 0u;
    loop {
        // Descend to a leaf, to the nearer child first.
        while (child & LEAF) == 0u {
            visited += 1u;
            let low = nodes[4u * child];
            let high = nodes[4u * child + 1u];
            let other_low = nodes[4u * child + 2u];
            let other_high = nodes[4u * child + 3u];
            let farthest = select(min(nearest_high, FARTHEST), farthest_depth(), base == NONE);
            let depth = depth_of_box(bitcast<vec3<f32>>(low.xyz), bitcast<vec3<f32>>(high.xyz), farthest);
            let other_depth = depth_of_box(
                bitcast<vec3<f32>>(other_low.xyz),
                bitcast<vec3<f32>>(other_high.xyz),
                farthest,
            );
            let is_nearer = depth <= other_depth;
            let nearer_child = select(other_low.w, low.w, is_nearer);
            if max(depth, other_depth) < FARTHEST {
                push(select(low.w, other_low.w, is_nearer));
                child = nearer_child;
            } else if min(depth, other_depth) < FARTHEST {
                child = nearer_child;
            } else {
                child = pop();
            }
        }
        if child == NONE {
            break;
        }

        // Test the triangles of a leaf, or enter an object.
        let first = (child & ~LEAF) >> 3u;
        if base != NONE {
            for (var i = 0u; i < (child & 7u); i++) {
                test_triangle(first + i);
            }
            child = pop();
        } else if is_met(first, mask) {
            base = top;
            child = enter_object(first);
        } else {
            child = pop();
        }
    }
}

// The nearest hit.
struct Found {
    distance: vec2<f32>,
    object: u32,
    triangle: u32,
    cos_incidence: f32,
    is_back: bool,
    // Index in `instances`, and in `triangles`.
    instance: u32,
    leaf_triangle: u32,
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
    let normal = cross(along, across);
    let cos_incidence = min(abs(sum.x) * major / length(normal), 1.0);
    let is_back = dot(normal, direction) > 0.0;
    return Found(distance, own.y, number, cos_incidence, is_back, candidate.instance, index);
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
    // The first ray of a generation of branches has their number (branch.wgsl).
    let first = bitcast<u32>(params.origin_z.w);
    if first != 0u && thread >= bitcast<u32>(rays[5u * first + 4u].z) {
        return;
    }
    let ray = first + ray_of(thread);
    lane = index_in_group;

    // Collect candidates.
    let limits = rays[5u * ray + 3u];
    let last = bitcast<vec4<u32>>(rays[5u * ray + 4u]);
    own_ray = ray;
    near_limit = limits.x;
    own_time = last.x;
    own_environment = last.w;
    candidates[0].triangle = NONE;
    uncertain = 0u;
    is_undecided = false;
    certain_low = limits.z * 0.9999996;
    certain_high = limits.z * 1.0000004;
    visited = 0u;
    tested = 0u;
    traverse(last.y);

    // Decide about them.
    var found = Found(limits.zw, NONE, NONE, 0.0, false, 0u, 0u);
    for (var i = 0u; i <= uncertain; i++) {
        let candidate = candidates[i];
        if candidate.triangle != NONE && candidate.low <= certain_high {
            found = nearer(candidate, limits.xy, found);
        }
    }
    hits[2u * ray] = vec4<u32>(found.object, found.triangle, bitcast<vec2<u32>>(found.distance));
    let cosine = select(found.cos_incidence, -found.cos_incidence, found.is_back);
    hits[2u * ray + 1u] = vec4<u32>(bitcast<u32>(cosine), visited, tested, u32(is_undecided));
    if found.object != NONE {
        keep_surface(ray, found);
    }
}
