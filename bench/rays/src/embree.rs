//! Embree, robust or not, in packets of 16 and as single rays.

use crate::rays::RayPacket;
use embree3::{
    BufferUsage, Config, Device, Format, GeometryKind, IntersectContext, IntersectContextFlags,
    Ray, Ray16, RayHit, RayHit16, Scene, SceneFlags, ValidMask, ValidMaskN,
};
use etendue_raycast::Mesh;

pub fn scene(mesh: &Mesh, robust: bool) -> Scene<'static> {
    // An empty scene.
    let device = Device::with_config(Config::default()).unwrap();
    let mut scene = device.create_scene().unwrap();
    scene.set_flags(if robust {
        SceneFlags::ROBUST
    } else {
        SceneFlags::NONE
    });

    // The vertices and triangles of the mesh.
    let mut geometry = device.create_geometry(GeometryKind::TRIANGLE).unwrap();
    geometry
        .set_new_buffer::<[f32; 3]>(
            BufferUsage::VERTEX,
            0,
            Format::FLOAT3,
            12,
            mesh.vertices.len(),
        )
        .unwrap()
        .iter_mut()
        .zip(&mesh.vertices)
        .for_each(|(to, v)| *to = [v.x as f32, v.y as f32, v.z as f32]);
    geometry
        .set_new_buffer::<[u32; 3]>(
            BufferUsage::INDEX,
            0,
            Format::UINT3,
            12,
            mesh.triangles.len(),
        )
        .unwrap()
        .copy_from_slice(&mesh.triangles);

    // Build the structure.
    let geometry = geometry.commit();
    scene.attach_geometry(&geometry);
    scene.commit();
    scene
}

#[repr(C, align(64))]
struct Aligned(RayHit16);

pub fn trace_packets(scene: &Scene<'static>, packets: &[RayPacket]) -> (usize, f64) {
    let mut context = IntersectContext::coherent();
    context.flags = IntersectContextFlags::COHERENT;
    let valid = ValidMaskN::from([ValidMask::Valid; 16]);
    let mut hits = 0;
    let mut sum = 0.0;
    for p in packets {
        let mut ray = Ray16::empty();
        [ray.org_x, ray.org_y, ray.org_z] = p.origin;
        [ray.dir_x, ray.dir_y, ray.dir_z] = p.direction;
        ray.tnear = p.near;
        ray.tfar = p.far;
        let mut both = Aligned(RayHit16 {
            ray,
            hit: embree3::Hit16::new(),
        });
        scene.intersect16(&mut context, &mut both.0, &valid);
        for i in 0..16 {
            if both.0.hit.geomID[i] == 0 {
                hits += 1;
                sum += f64::from(both.0.ray.tfar[i]);
            }
        }
    }
    (hits, sum)
}

pub fn trace_single(scene: &Scene<'static>, packets: &[RayPacket]) -> (usize, f64) {
    let mut context = IntersectContext::coherent();
    let mut hits = 0;
    let mut sum = 0.0;
    for p in packets {
        for i in 0..16 {
            let ray = Ray::segment(p.origin.map(|a| a[i]), p.direction.map(|a| a[i]), 0.0, 1e6);
            let mut both = RayHit::from_ray(ray);
            scene.intersect(&mut context, &mut both);
            if both.hit.is_valid() {
                hits += 1;
                sum += f64::from(both.ray.tfar);
            }
        }
    }
    (hits, sum)
}
