//! Mesh files: the same surface in every format, recorded files, and damaged ones.

use crate::recordings::recording;
use base64::Engine;
use etendue_io::mesh::{MeshFile, Up, parse_mesh, read_mesh};
use nalgebra::Point3;
use proptest::prelude::*;

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

fn ply_text() -> Vec<u8> {
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
     element face 1\nproperty list uchar int vertex_indices\nproperty int object_id\nend_header\n\
     0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 7\n"
        .into()
}

fn ply_binary(big: bool) -> Vec<u8> {
    let order = if big { "big" } else { "little" };
    let mut bytes = format!(
        "ply\nformat binary_{order}_endian 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n\
         property float y\nproperty double z\nelement face 1\nproperty list uchar uint vertex_index\n\
         property short object_id\nend_header\n"
    )
    .into_bytes();
    let mut push = |little: &[u8]| {
        let mut value = little.to_vec();
        if big {
            value.reverse();
        }
        bytes.extend(value);
    };
    for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]] {
        push(&x.to_le_bytes());
        push(&y.to_le_bytes());
        push(&0.0_f64.to_le_bytes());
    }
    push(&[4]);
    for index in 0..4_u32 {
        push(&index.to_le_bytes());
    }
    push(&7_i16.to_le_bytes());
    bytes
}

fn stl_text() -> Vec<u8> {
    let facet = |corners: &str| {
        let vertices = corners.replace(';', "\nvertex ");
        format!("facet normal 0 0 1\nouter loop\nvertex {vertices}\nendloop\nendfacet\n")
    };
    let facets = facet("0 0 0;1 0 0;1 1 0") + &facet("0 0 0;1 1 0;0 1 0");
    format!("solid square\n{facets}endsolid square\n").into_bytes()
}

fn stl_binary() -> Vec<u8> {
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, 0);
    bytes.extend(2_u32.to_le_bytes());
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]];
    for triangle in [[0, 1, 2], [0, 2, 3_usize]] {
        bytes.extend([0; 12]);
        for corner in triangle {
            let [x, y] = corners[corner];
            bytes.extend([x, y, 0.0].iter().flat_map(|c: &f32| c.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

/// A square in the x-y plane; `matrix` is the transform of the node.
fn gltf(matrix: &str) -> Vec<u8> {
    let mut buffer = Vec::new();
    for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]] {
        buffer.extend([x, y, 0.0].iter().flat_map(|c: &f32| c.to_le_bytes()));
    }
    buffer.extend(
        [0_u16, 1, 2, 0, 2, 3]
            .iter()
            .flat_map(|index| index.to_le_bytes()),
    );
    let data = base64::engine::general_purpose::STANDARD.encode(&buffer);
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"mesh":0{matrix}}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"material":0}}]}}],
        "materials":[{{"name":"glass","pbrMetallicRoughness":{{"baseColorFactor":[0.5,0.5,0.5,1],"metallicFactor":0.25,"roughnessFactor":0.4}},
        "extensions":{{"KHR_materials_ior":{{"ior":1.4}},"KHR_materials_transmission":{{"transmissionFactor":0.5}},"KHR_materials_specular":{{"specularFactor":0.9}}}}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
        "buffers":[{{"byteLength":60,"uri":"data:application/octet-stream;base64,{data}"}}]}}"#
    )
    .into_bytes()
}

fn parse(name: &str, bytes: &[u8]) -> MeshFile {
    parse_mesh(name.as_ref(), bytes).unwrap()
}

fn refusal(name: &str, bytes: &[u8]) -> String {
    let error = parse_mesh(name.as_ref(), bytes).expect_err("the mesh is bad");
    assert!(!error.remedy().is_empty());
    error.to_string()
}

/// Twice the vector area along z.
fn area(file: &MeshFile) -> f64 {
    let mesh = &file.mesh;
    let twice = |triangle: u32| {
        let [a, b, c] = mesh.corners(triangle);
        (b - a).cross(&(c - a)).z
    };
    (0_u32..).take(mesh.triangles.len()).map(twice).sum::<f64>() / 2.0
}

#[test]
fn the_same_square_in_every_format_has_the_same_corners_and_area() {
    for (name, bytes) in [
        ("a.obj", OBJ.into()),
        ("a.ply", ply_text()),
        ("little.ply", ply_binary(false)),
        ("big.ply", ply_binary(true)),
        ("text.stl", stl_text()),
        ("binary.stl", stl_binary()),
        ("a.gltf", gltf("")),
    ] {
        let file = parse(name, &bytes);
        assert_eq!(file.mesh.triangles.len(), 2, "{name}");
        assert_eq!(file.mesh.vertices.len(), 4, "{name}");
        assert!((area(&file) - 1.0).abs() < 1e-6, "{name}");
        assert!(
            file.mesh.vertices.contains(&Point3::new(1.0, 1.0, 0.0)),
            "{name}"
        );
        assert!(file.mesh.check().is_ok());
    }
}

#[test]
fn faces_of_ply_keep_their_object() {
    for bytes in [ply_text(), ply_binary(true)] {
        let file = parse("a.ply", &bytes);
        assert_eq!(file.parts[0].name, "7");
        assert_eq!(file.part_of_triangle, [0, 0]);
    }
}

#[test]
fn a_mirroring_node_keeps_the_outside_outside() {
    let mirrored = gltf(r#","scale":[-1,1,1]"#);
    let file = parse("a.gltf", &mirrored);
    assert!((area(&file) - 1.0).abs() < 1e-6);
    assert!(file.mesh.vertices.contains(&Point3::new(-1.0, 1.0, 0.0)));
    assert_eq!(file.up, Up::Y);
}

/// Texture coordinates equal to x and y of the vertices: the first two of every three floats.
#[test]
fn texture_coordinates_of_gltf_are_read() {
    assert!(parse("a.gltf", &gltf("")).texture_corners.is_none());
    let plain = String::from_utf8(gltf("")).unwrap();
    let textured = plain
        .replace("\"POSITION\":0", "\"POSITION\":0,\"TEXCOORD_0\":2")
        .replace(
            "\"count\":6,\"type\":\"SCALAR\"}",
            "\"count\":6,\"type\":\"SCALAR\"},{\"bufferView\":2,\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"}",
        )
        .replace(
            "\"byteOffset\":48,\"byteLength\":12}",
            "\"byteOffset\":48,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48,\"byteStride\":12}",
        );
    let file = parse("a.gltf", textured.as_bytes());
    let corners = file.texture_corners.expect("coordinates");
    assert_eq!(corners.len(), file.mesh.triangles.len());
    for (triangle, corners) in file.mesh.triangles.iter().zip(corners.iter()) {
        for (vertex, corner) in triangle.iter().zip(corners) {
            let place = file.mesh.vertices[*vertex as usize];
            assert_eq!(corner.map(f64::from), [place.x, place.y]);
        }
    }
    let short = textured.replace(
        "\"count\":4,\"type\":\"VEC2\"",
        "\"count\":2,\"type\":\"VEC2\"",
    );
    assert!(refusal("a.gltf", short.as_bytes()).contains("fewer items than vertices"));
}

#[test]
fn the_looks_of_gltf_are_read() {
    let look = parse("a.gltf", &gltf("")).parts[0].look.unwrap();
    assert!((look.reflectance() - 0.5).abs() < 1e-6);
    assert!((look.index - 1.4).abs() < 1e-6 && (look.roughness - 0.4).abs() < 1e-6);
    assert!((look.transmission - 0.5).abs() < 1e-6 && (look.specular - 0.9).abs() < 1e-6);
    let material = look.material().at(905e-9).unwrap();
    assert_eq!(material.lobes.len(), 3);
    material.validate().unwrap();
}

#[test]
fn obj_counts_back_from_the_last_vertex() {
    let file = parse("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3//1 -2//1 -1//1\n");
    assert_eq!(file.mesh.triangles, [[0, 1, 2]]);
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_cornell_box_and_the_other_small_meshes_are_read() {
    let folder = recording("mesh_small");
    let cornell = read_mesh(&folder.join("cornell_box.obj")).unwrap();
    assert_eq!(cornell.mesh.triangles.len(), 36);
    let red = cornell
        .parts
        .iter()
        .find(|part| part.name == "red")
        .unwrap();
    assert!((red.look.unwrap().reflectance() - 0.2126).abs() < 1e-12);
    let bunny = read_mesh(&folder.join("stanford_bunny_bun_zipper.ply")).unwrap();
    assert_eq!(bunny.mesh.triangles.len(), 69451);
    let pirate = read_mesh(&folder.join("pirate.obj")).unwrap();
    assert_eq!(pirate.mesh.triangles.len(), 5010);
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_worlds_are_read_with_their_objects() {
    for (name, triangles) in [
        ("small_house_visual", 145840),
        ("hospital_visual", 151660),
        ("bookstore_visual", 100809),
    ] {
        let path = recording(&format!("mesh_aws_worlds/{name}.ply"));
        let file = read_mesh(&path).unwrap();
        assert_eq!(file.mesh.triangles.len(), triangles);
        assert_eq!(file.part_of_triangle.len(), triangles);
        assert!(file.parts.len() > 60 && file.warnings.is_empty());
    }
}

#[test]
fn damaged_obj_files_are_refused_by_line() {
    for (text, expected) in [
        (
            "v 0 0 0\nv 1 0\n",
            "a.obj, line 2: the line ends before the third coordinate",
        ),
        (
            "v 0 0 0\nv 1 nan 0\n",
            "a.obj, line 2: the vertex is not finite",
        ),
        (
            "v 0 0 0\nv 1 0,5 0\n",
            "a.obj, line 2, column 5: \"0,5\" is not a number",
        ),
        (
            "v 0 0 0\nf 1 2 3\n",
            "a.obj, line 2: vertex 2 does not exist: the file has 1",
        ),
        (
            "v 0 0 0\nf 0 1 1\n",
            "a.obj, line 2: vertex 0 does not exist",
        ),
        (
            "v 0 0 0\nf 1 1\n",
            "a.obj, line 2: the line ends before the face's third corner",
        ),
        ("v 0 0 0\n", "a.obj: the file has no triangles"),
    ] {
        assert!(
            refusal("a.obj", text.as_bytes()).starts_with(expected),
            "{expected}"
        );
    }
}

#[test]
fn damaged_ply_files_are_refused_by_place() {
    let text = |from: &str, to: &str| {
        let ply = String::from_utf8(ply_text()).unwrap();
        assert!(ply.contains(from));
        refusal("a.ply", ply.replacen(from, to, 1).as_bytes())
    };
    assert!(text("1 0 0\n", "1 nan 0\n").contains("vertex 1: the vertex is not finite"));
    assert!(
        text("4 0 1 2 3", "4 0 1 2 9").contains("face 0: vertex 9 does not exist: the file has 4")
    );
    assert!(text("4 0 1 2 3", "4 0 1 2 x").contains("line 15: \"x\" is not a number"));
    assert!(text("element vertex 4", "element vertex 3").contains("remain after the last element"));
    assert!(text("element face 1", "element face 2").contains("the file ends in face 1 of 2"));
    assert!(text("ascii", "ebcdic").contains("line 2: unknown format \"ebcdic\""));
    let half = ply_binary(false);
    let half = &half[..half.len() - 10];
    assert!(refusal("a.ply", half).contains("the file ends in face 0 of 1"));
}

#[test]
fn damaged_stl_files_are_refused() {
    let binary = stl_binary();
    let said = refusal("a.stl", &binary[..binary.len() - 1]);
    assert!(
        said.contains("the header counts 2 triangles, but the file contains 1"),
        "{said}"
    );
    let text = stl_text();
    let said = refusal("a.stl", &text[..text.len() - 30]);
    assert!(said.contains("the file ends before \"endsolid\""), "{said}");
    let mut nan = stl_binary();
    nan[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(refusal("a.stl", &nan).contains("triangle 0: the vertex is not finite"));
}

#[test]
fn damaged_gltf_files_are_refused() {
    let change = |from: &str, to: &str| {
        let text = String::from_utf8(gltf("")).unwrap();
        assert!(text.contains(from));
        refusal("a.gltf", text.replacen(from, to, 1).as_bytes())
    };
    assert!(change("\"count\":6", "\"count\":60").contains("reaches beyond the end of its buffer"));
    assert!(change("\"mesh\":0", "\"mesh\":0,\"children\":[0]").contains("child of two nodes"));
    assert!(
        change("\"byteLength\":60", "\"byteLength\":61").contains("has 60 bytes instead of 61")
    );
    assert!(refusal("a.gltf", &gltf("")[..200]).contains("not valid glTF"));
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a.obj", OBJ.into()),
        ("a.ply", ply_text()),
        ("a.ply", ply_binary(false)),
        ("a.ply", ply_binary(true)),
        ("a.stl", stl_text()),
        ("a.stl", stl_binary()),
        ("a.gltf", gltf("")),
    ]
}

proptest! {
    #[test]
    fn a_damaged_mesh_never_panics_and_never_reads_as_unusable(
        sample in 0..7_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (name, mut bytes) = samples().swap_remove(sample);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(file) = parse_mesh(name.as_ref(), &bytes) {
            prop_assert!(file.mesh.check().is_ok());
        }
    }
}
