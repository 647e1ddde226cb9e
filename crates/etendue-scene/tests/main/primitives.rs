//! Claims about the meshes of primitives and about audits.

use etendue_scene::primitive::{
    PrimitiveError, checkerboard, cone, cuboid, cylinder, rectangle, sphere, stripes,
};
use etendue_scene::{Defect, MaterialId, Mesh, MeshAudit};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::PI;

/// Points all over every triangle.
fn points_on(mesh: &Mesh) -> Vec<Point3<f64>> {
    let mut points = Vec::new();
    for triangle in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(triangle as u32);
        for i in 0..=8 {
            for j in 0..=8 - i {
                let [u, v] = [f64::from(i) / 8.0, f64::from(j) / 8.0];
                points.push(a + (b - a) * u + (c - a) * v);
            }
        }
    }
    points
}

/// Asserts a closed mesh, of one part, with outward normals and without oddities; its volume.
fn volume_of_sound(mesh: &Mesh) -> f64 {
    let audit = MeshAudit::of(mesh).unwrap();
    assert_eq!(audit.findings, []);
    assert_eq!((audit.parts, audit.closed_parts), (1, 1));
    assert!(audit.volume > 0.0);
    audit.volume
}

/// Asserts that no point of `mesh` is farther than `sagitta` inside a surface, nor outside it;
/// `depth` is a point's distance inside.
fn assert_within(mesh: &Mesh, sagitta: f64, depth: impl Fn(&Point3<f64>) -> f64) {
    let depths: Vec<f64> = points_on(mesh).iter().map(depth).collect();
    let deepest = depths.iter().copied().fold(f64::MIN, f64::max);
    let highest = depths.iter().copied().fold(f64::MAX, f64::min);
    assert!(deepest <= sagitta * (1.0 + 1e-9), "{deepest} {sagitta}");
    assert!(
        deepest > 0.2 * sagitta,
        "needlessly fine: {deepest} {sagitta}"
    );
    assert!(highest > -1e-12, "{highest}");
}

#[test]
fn round_shapes_are_closed_and_stay_within_their_tolerance() {
    for sagitta in [0.1, 1e-2, 1e-3, 1e-4] {
        let ball = sphere(2.0, sagitta).unwrap();
        volume_of_sound(&ball);
        assert_within(&ball, sagitta, |p| 2.0 - p.coords.norm());

        let rod = cylinder(0.5, 3.0, sagitta).unwrap();
        volume_of_sound(&rod);
        assert_within(&rod, sagitta, |p| {
            if p.z.abs() > 1.5 - 1e-12 {
                0.0
            } else {
                0.5 - p.xy().coords.norm()
            }
        });

        let hat = cone(0.5, 1.0, sagitta).unwrap();
        volume_of_sound(&hat);
        // Distance to the slanted line r = 0.5 (1 - z).
        assert_within(&hat, sagitta, |p| {
            let inside = 0.5 * (1.0 - p.z) - p.xy().coords.norm();
            if p.z < 1e-12 {
                0.0
            } else {
                inside / 1.25_f64.sqrt()
            }
        });
    }
}

/// The volume that is missing shrinks with the tolerance: measured 1.7e-4, 1.3e-4 and
/// 1.3e-4 of them at 1e-4 m, a hundred times that at 1e-2 m.
#[test]
fn volumes_converge_to_the_closed_forms() {
    let solids: [(f64, &dyn Fn(f64) -> Mesh); 3] = [
        (4.0 / 3.0 * PI, &|s| sphere(1.0, s).unwrap()),
        (2.0 * PI, &|s| cylinder(1.0, 2.0, s).unwrap()),
        (PI / 3.0 * 2.0, &|s| cone(1.0, 2.0, s).unwrap()),
    ];
    for (exact, make) in solids {
        let missing = |sagitta| 1.0 - volume_of_sound(&make(sagitta)) / exact;
        let [coarse, fine] = [missing(1e-2), missing(1e-4)];
        assert!(fine > 0.0 && fine < 4e-4, "{fine}");
        assert!((50.0..200.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }
}

#[test]
fn a_box_is_closed_and_turned_inside_out_it_is_a_room() {
    let solid = cuboid([2.0, 3.0, 4.0]).unwrap();
    // Measured: 24 exactly.
    assert!((volume_of_sound(&solid) - 24.0).abs() < 1e-12);
    let room = MeshAudit::of(&solid.inside_out()).unwrap();
    assert!((room.volume + 24.0).abs() < 1e-12);
    assert_eq!(room.count(Defect::InsideOutPart), 1);
    assert!(room.is_closed());
    assert_eq!(room.bounds[1], Point3::new(1.0, 1.5, 2.0));
}

#[test]
fn faces_of_a_box_come_in_the_order_stated() {
    let mesh = cuboid([2.0, 3.0, 4.0]).unwrap();
    let expected = [
        -Vector3::x(),
        Vector3::x(),
        -Vector3::y(),
        Vector3::y(),
        -Vector3::z(),
        Vector3::z(),
    ];
    for triangle in 0..12 {
        let [a, b, c] = mesh.corners(triangle);
        let normal = (b - a).cross(&(c - a)).normalize();
        assert!((normal - expected[triangle as usize / 2]).norm() < 1e-12);
    }
}

#[test]
fn panels_alternate_their_materials() {
    let [white, black] = [MaterialId(4), MaterialId(7)];
    let board = checkerboard([3, 2], 0.1, [white, black]).unwrap();
    for (triangle, material) in board.materials.iter().enumerate() {
        let [a, b, c] = board.corners(triangle as u32);
        let centre = (a.coords + b.coords + c.coords) / 3.0;
        let cell = ((centre.x + 0.15) / 0.1).floor() + ((centre.y + 0.1) / 0.1).floor();
        let expected = if (cell as u32).is_multiple_of(2) {
            white
        } else {
            black
        };
        assert_eq!(*material, expected, "{centre:?}");
        assert!((b - a).cross(&(c - a)).z > 0.0);
    }
    assert_eq!(board.triangles.len(), 12);
    let audit = MeshAudit::of(&board).unwrap();
    assert_eq!(audit.count(Defect::BoundaryEdge), 10);
    assert_eq!(audit.findings.len(), 1);

    let bars = stripes(5, [0.02, 0.3], [black, white]).unwrap();
    assert_eq!(bars.materials[0..4], [black, black, white, white]);
    assert_eq!(bars.bounds().unwrap()[1], Point3::new(0.05, 0.15, 0.0));
}

#[test]
fn impossible_shapes_are_refused_by_name() {
    let error = sphere(-1.0, 0.1).unwrap_err().to_string();
    assert_eq!(
        error,
        "the radius of a sphere is -1 m: it has to be above zero"
    );
    assert!(matches!(
        cuboid([1.0, f64::NAN, 1.0]),
        Err(PrimitiveError::Length { name: "width", .. })
    ));
    assert!(matches!(
        sphere(1.0, 1e-12),
        Err(PrimitiveError::TooFine { .. })
    ));
    let materials = [MaterialId(0), MaterialId(1)];
    assert!(matches!(
        checkerboard([0, 3], 0.1, materials),
        Err(PrimitiveError::NoCells { .. })
    ));
    assert!(checkerboard([u32::MAX, u32::MAX], 0.1, materials).is_err());
}

#[test]
fn an_audit_counts_every_defect_and_gives_its_first_occurrence() {
    let mut mesh = cuboid([1.0; 3]).unwrap();
    mesh.triangles[5].swap(0, 1);
    mesh.triangles.push(mesh.triangles[7]);
    mesh.triangles.push([0, 1, 1]);
    mesh.triangles.push([0, 3, 8]);
    mesh.vertices.push(Point3::new(9.0, 9.0, 9.0));
    mesh.vertices.push(Point3::origin());
    let audit = MeshAudit::of(&mesh).unwrap();
    let first = |defect| {
        audit
            .findings
            .iter()
            .find(|f| f.defect == defect)
            .unwrap()
            .first
    };
    assert_eq!(audit.count(Defect::InconsistentWinding), 3);
    assert_eq!(audit.count(Defect::DuplicateTriangle), 1);
    assert_eq!(first(Defect::DuplicateTriangle), 12);
    assert_eq!(audit.count(Defect::DegenerateTriangle), 1);
    assert_eq!(first(Defect::DegenerateTriangle), 13);
    // The extra triangle shares the box's diagonal 0-3 or its edges.
    assert_eq!(audit.count(Defect::NonManifoldEdge), 1);
    assert_eq!(audit.count(Defect::BoundaryEdge), 2);
    assert_eq!(audit.count(Defect::UnusedVertex), 1);
    assert_eq!(first(Defect::UnusedVertex), 9);
    assert!(!audit.is_closed());
    let text = audit.findings[0].to_string();
    assert_eq!(text, "1 unused vertex, first at vertex 9");
}

/// Every triangle with its own three vertices, as STL files have it.
#[test]
fn a_triangle_soup_is_audited_by_position() {
    let shared = sphere(1.0, 0.01).unwrap();
    let corners = (0..shared.triangles.len()).flat_map(|t| shared.corners(t as u32));
    let soup = Mesh {
        vertices: corners.collect(),
        triangles: (0..shared.triangles.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
        materials: vec![],
    };
    assert!((volume_of_sound(&soup) - volume_of_sound(&shared)).abs() < 1e-12);
}

#[test]
fn merging_keeps_parts_apart_and_gives_each_its_material() {
    let near = cuboid([1.0; 3]).unwrap();
    let far = near
        .clone()
        .scaled(2.0)
        .moved(&Isometry3::translation(5.0, 0.0, 0.0));
    let whole = Mesh::merged([(&near, MaterialId(3)), (&far, MaterialId(1))]);
    let audit = MeshAudit::of(&whole).unwrap();
    assert_eq!((audit.parts, audit.closed_parts), (2, 2));
    assert!((audit.volume - 9.0).abs() < 1e-12);
    assert_eq!(
        (whole.materials[11], whole.materials[12]),
        (MaterialId(3), MaterialId(1))
    );
}

#[test]
fn a_negative_scale_keeps_the_outside_outside() {
    let mesh = cone(0.4, 1.0, 0.01).unwrap();
    let mirrored = mesh.clone().scaled(-2.0);
    assert!((volume_of_sound(&mirrored) - 8.0 * volume_of_sound(&mesh)).abs() < 1e-12);
}

#[test]
fn a_rectangle_faces_up() {
    let mesh = rectangle([2.0, 1.0]).unwrap();
    let [a, b, c] = mesh.corners(0);
    assert!((b - a).cross(&(c - a)).z > 0.0);
}
