//! glTF 2.0 and GLB.

mod picture;

use super::{MeshAppearance, MeshFile, MeshPart, Up, index_out_of_range, vertex};
use crate::foreign::guarded;
use crate::{FileLocation, FormatError};
use base64::Engine;
use etendue_scene::{Mapping, Pictures, Texture, TexturedObject};
use gltf::accessor::{Accessor, DataType, Dimensions};
use gltf::buffer::Source;
use gltf::mesh::Mode;
use nalgebra::{Matrix4, Point3};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    // The library panics on some indices that do not exist, whenever they are followed
    guarded(|| read(path, bytes)).unwrap_or_else(|panic| {
        let message = format!("this is not valid glTF 2.0: {panic}");
        let remedy = "the file is damaged: export it again";
        Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ))
    })
}

fn read(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    // Parse the document
    let gltf = gltf::Gltf::from_slice(bytes).map_err(|error| {
        FormatError::malformed(
            path,
            FileLocation::File,
            format!("this is not valid glTF 2.0: {error}"),
            "the file is truncated or damaged: export it again, without compressed geometry",
        )
    })?;
    let mut reader = Reader {
        path,
        buffers: Vec::new(),
        file: MeshFile {
            up: Up::Y,
            ..MeshFile::default()
        },
        visited: HashSet::new(),
        corners: Vec::new(),
        untextured: 0,
        pictures: Vec::new(),
        known: HashMap::new(),
        of_triangle: Vec::new(),
    };
    // Read the buffers
    reader.read_buffers(&gltf)?;
    if gltf.extensions_used().any(|name| name == TRANSFORM) {
        let warning = format!("{TRANSFORM} is not supported: textures may be displaced");
        reader.file.warnings.push(warning);
    }
    // Collect the meshes below the nodes of the scene
    let Some(scene) = gltf.default_scene().or_else(|| gltf.scenes().next()) else {
        return Err(reader.error(
            "the file has no scene",
            "export a scene, not only a library",
        ));
    };
    let mut nodes: Vec<_> = scene
        .nodes()
        .map(|node| (node, Matrix4::identity()))
        .collect();
    nodes.reverse();
    while let Some((node, parent)) = nodes.pop() {
        let world = reader.node(&node, &parent)?;
        let first = nodes.len();
        nodes.extend(node.children().map(|child| (child, world)));
        nodes[first..].reverse();
    }
    Ok(reader.finished())
}

/// Maximum number of vertices of a scene, after copies of its meshes: 3 GB of positions.
const MOST_VERTICES: usize = 1 << 27;

/// Extension that transforms texture coordinates.
const TRANSFORM: &str = "KHR_texture_transform";

struct Reader<'a> {
    path: &'a Path,
    buffers: Vec<Vec<u8>>,
    file: MeshFile,
    visited: HashSet<usize>,
    /// Texture coordinates of each triangle's corners; zeros if the file has none.
    corners: Vec<[[f32; 2]; 3]>,
    /// Number of triangles without texture coordinates.
    untextured: usize,
    pictures: Vec<Arc<Texture>>,
    /// Index in `pictures` of each image of the file; `None` if the image could not be read.
    known: HashMap<usize, Option<u32>>,
    /// Index in `pictures` of each triangle's texture.
    of_triangle: Vec<Option<u32>>,
}

impl Reader<'_> {
    /// The file with its textures. Texture coordinates are included if all triangles have them.
    fn finished(self) -> MeshFile {
        let mut file = self.file;
        let corners = Arc::new(self.corners);
        file.texture_corners = (self.untextured == 0).then(|| corners.clone());
        let has_picture = self.of_triangle.iter().any(Option::is_some);
        file.textured = has_picture.then_some(TexturedObject {
            pictures: Pictures::Triangles {
                pictures: self.pictures,
                of_triangle: self.of_triangle,
            },
            mapping: Mapping::Corners(corners),
        });
        file
    }

    fn error(&self, message: impl Into<String>, remedy: &str) -> FormatError {
        FormatError::malformed(self.path, FileLocation::File, message, remedy)
    }

    fn read_buffers(&mut self, gltf: &gltf::Gltf) -> Result<(), FormatError> {
        for buffer in gltf.buffers() {
            // Read the buffer of the file itself, of a data URI or of another file
            let data = match buffer.source() {
                Source::Bin => gltf.blob.clone().ok_or_else(|| {
                    self.error(
                        "the binary part is missing",
                        "the file is truncated: copy it again",
                    )
                })?,
                Source::Uri(uri) => self.read_uri(uri)?,
            };
            // Check its length
            if data.len() < buffer.length() {
                return Err(self.error(
                    format!(
                        "buffer {} has {} bytes instead of {}",
                        buffer.index(),
                        data.len(),
                        buffer.length()
                    ),
                    "the buffer is truncated: copy or export it again",
                ));
            }
            self.buffers.push(data);
        }
        Ok(())
    }

    fn read_uri(&mut self, uri: &str) -> Result<Vec<u8>, FormatError> {
        if let Some(data) = uri.strip_prefix("data:") {
            let encoded = data
                .split_once(";base64,")
                .map_or("", |(_, encoded)| encoded);
            return base64::engine::general_purpose::STANDARD
                .decode(encoded)
                .map_err(|error| {
                    self.error(
                        format!("an embedded buffer is not base64: {error}"),
                        "export it again",
                    )
                });
        }
        let path: PathBuf = self.path.with_file_name(uri.replace("%20", " "));
        let bytes =
            std::fs::read(&path).map_err(|source| FormatError::cannot_read(&path, source))?;
        self.file.files.push(path);
        Ok(bytes)
    }

    /// Reads the mesh of a node, and returns the transform of its children.
    fn node(
        &mut self,
        node: &gltf::Node<'_>,
        parent: &Matrix4<f64>,
    ) -> Result<Matrix4<f64>, FormatError> {
        if !self.visited.insert(node.index()) {
            return Err(self.error(
                format!(
                    "node {} is the child of two nodes or of itself",
                    node.index()
                ),
                "export the file again: nodes must form a tree",
            ));
        }
        let columns = node
            .transform()
            .matrix()
            .map(|column| column.map(f64::from));
        let world = parent * Matrix4::from(columns);
        if let Some(mesh) = node.mesh() {
            for primitive in mesh.primitives() {
                self.primitive(&primitive, &world)?;
            }
        }
        Ok(world)
    }

    fn primitive(
        &mut self,
        primitive: &gltf::Primitive<'_>,
        world: &Matrix4<f64>,
    ) -> Result<(), FormatError> {
        if matches!(
            primitive.mode(),
            Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip
        ) {
            self.file
                .warnings
                .push("points and lines were skipped: they have no surface".into());
            return Ok(());
        }
        let Some(positions) = primitive.get(&gltf::Semantic::Positions) else {
            self.file
                .warnings
                .push("a primitive without positions was skipped".into());
            return Ok(());
        };
        let first = self.file.mesh.vertices.len();
        if first.saturating_add(positions.count()) > MOST_VERTICES {
            return Err(self.error(
                format!("the scene has more than {MOST_VERTICES} vertices"),
                "export a smaller part of the scene, or a coarser mesh",
            ));
        }
        self.vertices(&positions, world)?;
        let count = self.file.mesh.vertices.len() - first;
        let corners = match primitive.indices() {
            Some(indices) => self.indices(&indices, count)?,
            None => (0..count).collect(),
        };
        let material = primitive.material();
        let base = material.pbr_metallic_roughness().base_color_texture();
        let set = base.as_ref().map_or(0, gltf::texture::Info::tex_coord);
        let places = match primitive.get(&gltf::Semantic::TexCoords(set)) {
            Some(accessor) => self.texture_coordinates(&accessor, count)?,
            None => None,
        };
        let picture = base.and_then(|info| self.picture(&info.texture().source()));
        if picture.is_some() && places.is_none() {
            let warning = "a texture was skipped: its surface has no texture coordinates";
            self.file.warnings.push(warning.into());
        }
        // A mirroring transform reverses the winding (glTF 2.0, section 3.7.4).
        let mirrored = world.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let part = self.part_of(&material, picture);
        for [a, b, c] in triangles(primitive.mode(), &corners) {
            let triangle = if mirrored { [a, c, b] } else { [a, b, c] };
            self.file
                .mesh
                .triangles
                .push(triangle.map(|corner| vertex_number(first + corner)));
            self.file.part_of_triangle.push(part);
            let place = |corner: usize| places.as_ref().map_or([0.0; 2], |places| places[corner]);
            self.corners.push(triangle.map(place));
            self.untextured += usize::from(places.is_none());
            self.of_triangle.push(picture.filter(|_| places.is_some()));
        }
        Ok(())
    }

    fn vertices(
        &mut self,
        accessor: &Accessor<'_>,
        world: &Matrix4<f64>,
    ) -> Result<(), FormatError> {
        if accessor.data_type() != DataType::F32 || accessor.dimensions() != Dimensions::Vec3 {
            return Err(self.error(
                format!(
                    "positions (accessor {}) are not three floats",
                    accessor.index()
                ),
                "export the file again without quantised positions",
            ));
        }
        let items = self.items::<12>(accessor)?;
        for (number, item) in items.into_iter().enumerate() {
            let (floats, _) = item.as_chunks::<4>();
            let local = [0, 1, 2].map(|axis| f64::from(f32::from_le_bytes(floats[axis])));
            let position = world.transform_point(&Point3::from(local));
            let place = FileLocation::Element("vertex", self.file.mesh.vertices.len() + number);
            let point = vertex(self.path, place, position.coords.into())?;
            self.file.mesh.vertices.push(point);
        }
        Ok(())
    }

    /// Texture coordinates of each vertex; `None` if they are not floats.
    fn texture_coordinates(
        &self,
        accessor: &Accessor<'_>,
        vertices: usize,
    ) -> Result<Option<Vec<[f32; 2]>>, FormatError> {
        if accessor.data_type() != DataType::F32 || accessor.dimensions() != Dimensions::Vec2 {
            return Ok(None);
        }
        let items = self.items::<8>(accessor)?;
        if items.len() < vertices {
            return Err(self.error(
                format!(
                    "accessor {} has fewer items than vertices",
                    accessor.index()
                ),
                "the file is damaged: export it again",
            ));
        }
        let place = |item: [u8; 8]| {
            let (floats, _) = item.as_chunks::<4>();
            [0, 1].map(|axis| f32::from_le_bytes(floats[axis]))
        };
        Ok(Some(items.into_iter().map(place).collect()))
    }

    fn indices(&self, accessor: &Accessor<'_>, vertices: usize) -> Result<Vec<usize>, FormatError> {
        // Widen the indices of any unsigned type
        let indices: Vec<u32> = match accessor.data_type() {
            DataType::U8 => {
                let bytes = self.items::<1>(accessor)?.into_iter();
                bytes.map(|[byte]| u32::from(byte)).collect()
            }
            DataType::U16 => {
                let items = self.items::<2>(accessor)?.into_iter();
                items
                    .map(|bytes| u32::from(u16::from_le_bytes(bytes)))
                    .collect()
            }
            DataType::U32 => {
                let items = self.items::<4>(accessor)?.into_iter();
                items.map(u32::from_le_bytes).collect()
            }
            other => {
                return Err(self.error(
                    format!("indices (accessor {}) are {other:?}", accessor.index()),
                    "indices must be unsigned: export the file again",
                ));
            }
        };
        // Check that every vertex exists
        let bad = indices.iter().position(|index| *index as usize >= vertices);
        match bad {
            None => Ok(indices.into_iter().map(|index| index as usize).collect()),
            Some(at) => {
                let place = FileLocation::Element("index", at);
                Err(index_out_of_range(self.path, place, indices[at], vertices))
            }
        }
    }

    /// Items of an accessor, `N` bytes each.
    fn items<const N: usize>(&self, accessor: &Accessor<'_>) -> Result<Vec<[u8; N]>, FormatError> {
        // Find the bytes of the buffer view
        let number = accessor.index();
        let (Some(view), None) = (accessor.view(), accessor.sparse()) else {
            return Err(self.error(
                format!("accessor {number} is sparse, which is not supported"),
                "export the file again without sparse accessors",
            ));
        };
        let buffer = &self.buffers[view.buffer().index()];
        let in_view = view
            .offset()
            .checked_add(view.length())
            .and_then(|end| buffer.get(view.offset()..end));
        // Read the items at their stride
        let stride = view.stride().unwrap_or(N);
        if stride < N {
            return Err(self.error(
                format!("the items of accessor {number} overlap"),
                "the file is damaged: export it again",
            ));
        }
        let item = |index: usize| {
            let start = index.checked_mul(stride)?.checked_add(accessor.offset())?;
            in_view?.get(start..start.checked_add(N)?)?.try_into().ok()
        };
        (0..accessor.count())
            .map(item)
            .collect::<Option<Vec<[u8; N]>>>()
            .ok_or_else(|| {
                self.error(
                    format!("accessor {number} reaches beyond the end of its buffer"),
                    "the file is truncated or damaged: export it again",
                )
            })
    }

    fn part_of(&mut self, material: &gltf::Material<'_>, picture: Option<u32>) -> u32 {
        let name = match (material.name(), material.index()) {
            (Some(name), _) => name.to_owned(),
            (None, Some(index)) => format!("material {index}"),
            (None, None) => "default".to_owned(),
        };
        let part = self.file.part(&name);
        let picture = picture.map(|number| self.pictures[number as usize].mean());
        let slot: &mut MeshPart = &mut self.file.parts[part as usize];
        slot.look = Some(MeshAppearance {
            picture: picture.unwrap_or([1.0; 3]),
            ..look_of(material)
        });
        part
    }
}

fn look_of(material: &gltf::Material<'_>) -> MeshAppearance {
    let pbr = material.pbr_metallic_roughness();
    let [red, green, blue, _] = pbr.base_color_factor().map(f64::from);
    let specular = material
        .specular()
        .map_or(1.0, |specular| specular.specular_factor());
    let transmission = material
        .transmission()
        .map_or(0.0, |passed| passed.transmission_factor());
    MeshAppearance {
        base_color: [red, green, blue],
        metallic: f64::from(pbr.metallic_factor()),
        roughness: f64::from(pbr.roughness_factor()),
        index: f64::from(material.ior().unwrap_or(1.5)),
        specular: f64::from(specular),
        transmission: f64::from(transmission),
        ..MeshAppearance::default()
    }
}

fn vertex_number(index: usize) -> u32 {
    u32::try_from(index).expect("a file in memory has fewer than 2^32 vertices")
}

fn triangles(mode: Mode, corners: &[usize]) -> Vec<[usize; 3]> {
    match mode {
        Mode::TriangleStrip => corners
            .windows(3)
            .enumerate()
            .map(|(i, three)| match i % 2 {
                0 => [three[0], three[1], three[2]],
                _ => [three[1], three[0], three[2]],
            })
            .collect(),
        Mode::TriangleFan => corners
            .windows(2)
            .skip(1)
            .map(|two| [corners[0], two[0], two[1]])
            .collect(),
        _ => corners.as_chunks::<3>().0.to_vec(),
    }
}
