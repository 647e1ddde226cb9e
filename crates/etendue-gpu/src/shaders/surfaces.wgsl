// Surfaces from which paths continue, or that have noise profiles.

// Three per ray: the unit normal on the side at which the ray arrives, in double-single numbers; a bound on the height of
// the computed point over the plane of the triangle, negative for the back side; the longest way within the triangle; the
// cross product of the normal and the direction; one less the cosine of the incidence.
@group(0) @binding(9) var<storage, read_write> surfaces: array<vec4<f32>>;

// Bound on the height of a computed point over the plane of its triangle, relative to the coordinates.
const HEIGHT: f32 = 1e-11;

fn keep_surface(ray: u32, found: Found) {
    // Normal in the frame of the object.
    let own = instances[2u * found.instance];
    let tail = instances[2u * found.instance + 1u];
    let corner = tail.z + 3u * found.triangle;
    let first = vertex_at(tail.y + corners[corner]);
    let along = ds3_sub(vertex_at(tail.y + corners[corner + 1u]), first);
    let across = ds3_sub(vertex_at(tail.y + corners[corner + 2u]), first);
    var normal = ds3_unit(ds3_cross(along, across));

    // Side at which the ray arrives.
    let local = local_ray(found.instance);
    let is_back = ds3_dot(local.direction, normal).x > 0.0;
    if is_back {
        normal = Ds3(-normal.x, -normal.y, -normal.z);
    }

    // Normal in the frame of the world.
    if (own.w & 1u) == 0u {
        normal = rotated_back(pose_of(found.instance), normal);
    }
    let world = world_ray();
    let distance = found.distance.x;
    let reach = triangles[3u * found.leaf_triangle + 2u].w + reach_of(ds3_rounded(world.origin)) + distance;
    let height = HEIGHT * reach;
    let sine = ds3_rounded(ds3_cross(normal, world.direction));
    let versine = dot(sine, sine) / (1.0 + found.cos_incidence);
    surfaces[3u * ray] = vec4<f32>(normal.x, normal.y);
    surfaces[3u * ray + 1u] = vec4<f32>(normal.z, select(height, -height, is_back), 2.0 * triangles[3u * found.leaf_triangle + 1u].w);
    surfaces[3u * ray + 2u] = vec4<f32>(sine, versine);
}
