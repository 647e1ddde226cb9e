// The material of a triangle, with its marks.

// The host simulates shots that meet the material.
const ON_HOST: u32 = 0x80000000u;
// Paths continue from the material: it is a mirror or glass.
const SPECULAR: u32 = 0x40000000u;
const NUMBER: u32 = 0x3fffffffu;
const NONE: u32 = 0xffffffffu;

fn material_of(object: u32, triangle: u32) -> u32 {
    let own = object_materials[object];
    if own.x == NONE {
        return own.y;
    }
    return triangle_materials[own.x + triangle];
}
