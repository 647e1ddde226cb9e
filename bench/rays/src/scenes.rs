//! The scenes, each with the position of the sensor.

use etendue_raycast::Mesh;
use nalgebra::{Point3, Vector3};

/// Mesh and position of the sensor.
pub struct BenchScene {
    pub name: &'static str,
    pub mesh: Mesh,
    pub sensor: Point3<f64>,
}

fn hash(i: u32, j: u32) -> f64 {
    let mut x = i.wrapping_mul(0x9e37_79b1) ^ j.wrapping_mul(0x85eb_ca77);
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^= x >> 12;
    x = x.wrapping_mul(0x297a_2d39);
    x ^= x >> 15;
    f64::from(x) / f64::from(u32::MAX)
}

/// A parallelogram of `n * m * 2` triangles with vertices displaced by `bump`.
fn patch(
    mesh: &mut Mesh,
    corner: Point3<f64>,
    u: Vector3<f64>,
    v: Vector3<f64>,
    [n, m]: [u32; 2],
    bump: impl Fn(u32, u32) -> Vector3<f64>,
) {
    let base = mesh.vertices.len() as u32;
    for i in 0..=n {
        for j in 0..=m {
            let along = u * (f64::from(i) / f64::from(n)) + v * (f64::from(j) / f64::from(m));
            mesh.vertices.push(corner + along + bump(i, j));
        }
    }
    let at = |i: u32, j: u32| base + i * (m + 1) + j;
    for i in 0..n {
        for j in 0..m {
            mesh.triangles
                .push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            mesh.triangles
                .push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
}

fn cuboid(mesh: &mut Mesh, low: Point3<f64>, size: Vector3<f64>, n: u32) {
    let flat = |_: u32, _: u32| Vector3::zeros();
    let [x, y, z] = [0, 1, 2].map(|a| Vector3::ith(a, size[a]));
    for (corner, u, v) in [
        (low, y, x),
        (low + z, x, y),
        (low, x, z),
        (low + y, z, x),
        (low, z, y),
        (low + x, y, z),
    ] {
        patch(mesh, corner, u, v, [n, n], flat);
    }
}

/// About a thousand triangles: a room with eighty pieces of furniture.
pub fn room() -> BenchScene {
    let mut mesh = Mesh::default();
    cuboid(
        &mut mesh,
        Point3::new(-6.0, -4.0, 0.0),
        Vector3::new(12.0, 8.0, 3.0),
        1,
    );
    for i in 0..84 {
        let at = |k| hash(i, k);
        let low = Point3::new(-5.8 + 11.0 * at(0), -3.8 + 7.0 * at(1), 1.6 * at(2) * at(3));
        let size = Vector3::new(0.1 + 0.7 * at(4), 0.1 + 0.7 * at(5), 0.1 + 0.9 * at(6));
        if (low + size * 0.5).coords.xy().norm() > 1.2 {
            cuboid(&mut mesh, low, size, 1);
        }
    }
    BenchScene {
        name: "room",
        mesh,
        sensor: Point3::new(0.05, 0.03, 1.2),
    }
}

/// Streets, and houses whose faces have `n * n * 2` triangles.
fn streets(blocks: u32, ground: u32, n: u32) -> (Mesh, f64) {
    // The uneven ground.
    let mut mesh = Mesh::default();
    let pitch = 24.0;
    let side = pitch * f64::from(blocks);
    let low = Point3::new(-0.5 * side, -0.5 * side, 0.0);
    patch(
        &mut mesh,
        low,
        Vector3::x() * side,
        Vector3::y() * side,
        [ground, ground],
        |i, j| Vector3::z() * (0.15 * hash(i, j)),
    );

    // A house in each block, with four boxes in front of it.
    for i in 0..blocks {
        for j in 0..blocks {
            let at = |k| hash(i * 977 + j, k);
            let corner = low + Vector3::new(f64::from(i), f64::from(j), 0.0) * pitch;
            let corner = corner + Vector3::new(5.0 + 2.0 * at(0), 5.0 + 2.0 * at(1), -0.1);
            let size = Vector3::new(
                9.0 + 4.0 * at(2),
                9.0 + 4.0 * at(3),
                4.0 + 20.0 * at(4) * at(5),
            );
            cuboid(&mut mesh, corner, size, n);
            for k in 0..4_u32 {
                let a = |l: u32| hash(i * 977 + j, 10 + 8 * k + l);
                let stand = low
                    + Vector3::new(f64::from(i) + a(0) * 0.9, f64::from(j), 0.0) * pitch
                    + Vector3::new(0.0, 0.5 + 1.8 * a(1), 0.1);
                cuboid(
                    &mut mesh,
                    stand,
                    Vector3::new(0.4 + 1.5 * a(2), 0.3 + a(3), 0.5 + 2.0 * a(4)),
                    1,
                );
            }
        }
    }
    (mesh, side)
}

/// About 109 thousand triangles.
pub fn city() -> BenchScene {
    let (mesh, _) = streets(14, 150, 5);
    BenchScene {
        name: "city",
        mesh,
        sensor: Point3::new(0.7, 0.4, 1.9),
    }
}

/// About 1.9 million triangles.
pub fn big() -> BenchScene {
    let (mesh, _) = streets(14, 700, 20);
    BenchScene {
        name: "big",
        mesh,
        sensor: Point3::new(0.7, 0.4, 1.9),
    }
}

/// About 10 million triangles.
pub fn huge() -> BenchScene {
    let (mesh, _) = streets(14, 1500, 48);
    BenchScene {
        name: "huge",
        mesh,
        sensor: Point3::new(0.7, 0.4, 1.9),
    }
}

/// The collision or visual mesh of a house, read from a PLY file in the folder `ETENDUE_DATA`.
pub fn house(path: &std::path::Path) -> Option<BenchScene> {
    // Find the header.
    let bytes = std::fs::read(path).ok()?;
    let end = b"end_header\n";
    let at = bytes.windows(end.len()).position(|w| w == end)? + end.len();
    let header = std::str::from_utf8(&bytes[..at]).ok()?;
    if !header.contains("format binary_little_endian") {
        return None;
    }
    let count = |what: &str| -> Option<usize> {
        header
            .lines()
            .find_map(|l| l.strip_prefix(what)?.trim().parse().ok())
    };
    let vertices = count("element vertex ")?;
    let faces = count("element face ")?;

    // Sum the bytes of a vertex, and the bytes of a face before and after its list of vertices.
    let mut element = "";
    let mut before = 0;
    let mut stride = 0;
    let size = |kind: &str| match kind {
        "char" | "uchar" | "int8" | "uint8" => 1,
        "short" | "ushort" | "int16" | "uint16" => 2,
        "double" | "float64" => 8,
        _ => 4,
    };
    let mut face_tail = 0;
    let mut list = ("", "");
    for line in header.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["element", name, _] => element = if name == "vertex" { "v" } else { "f" },
            ["property", "list", n, i, _] => list = (n, i),
            ["property", kind, _] if element == "v" => stride += size(kind),
            ["property", kind, _] if element == "f" && list.0.is_empty() => before += size(kind),
            ["property", kind, _] if element == "f" => face_tail += size(kind),
            _ => {}
        }
    }

    // Read the vertices, whose coordinates come first.
    let double = header.contains("property double x") || header.contains("property float64 x");
    let mut mesh = Mesh::default();
    for i in 0..vertices {
        let p = &bytes[at + i * stride..];
        let c = |k: usize| {
            if double {
                f64::from_le_bytes(p[8 * k..8 * k + 8].try_into().unwrap())
            } else {
                f64::from(f32::from_le_bytes(p[4 * k..4 * k + 4].try_into().unwrap()))
            }
        };
        mesh.vertices.push(Point3::new(c(0), c(1), c(2)));
    }

    // Read the faces, as fans of triangles.
    let mut p = at + vertices * stride;
    let n_size = size(list.0);
    let i_size = size(list.1);
    for _ in 0..faces {
        p += before;
        let n = bytes[p] as usize;
        p += n_size;
        let index = |k: usize| {
            u32::from_le_bytes(
                bytes[p + i_size * k..p + i_size * k + 4]
                    .try_into()
                    .unwrap(),
            )
        };
        for k in 2..n {
            mesh.triangles.push([index(0), index(k - 1), index(k)]);
        }
        p += n * i_size + face_tail;
    }
    Some(BenchScene {
        name: "house",
        mesh,
        sensor: Point3::new(0.0, 0.0, 1.0),
    })
}
