//! Audits of meshes: defects that do not prevent their use.

use etendue_raycast::{Mesh, MeshError};
use nalgebra::Point3;
use std::fmt;

/// The counts and defects of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshAudit {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Least and greatest coordinates, m.
    pub bounds: [Point3<f64>; 2],
    /// Number of connected parts; vertices at the same position count as one.
    pub parts: usize,
    /// Number of closed parts, in which every edge has two triangles with consistent winding.
    pub closed_parts: usize,
    /// Sum of the closed parts' signed volumes, m³; that of a part that is inside out is negative.
    pub volume: f64,
    /// The defects that occur, in the order of [`Defect`].
    pub findings: Vec<Finding>,
}

impl MeshAudit {
    /// Number of occurrences of a defect.
    pub fn count(&self, defect: Defect) -> usize {
        let found = self.findings.iter().find(|f| f.defect == defect);
        found.map_or(0, |found| found.count)
    }

    /// Whether all parts are closed.
    pub fn is_closed(&self) -> bool {
        self.parts == self.closed_parts
    }
}

/// A defect of a mesh with its occurrences, for instance "12 degenerate triangles, first at triangle 99".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The defect.
    pub defect: Defect,
    /// Number of occurrences.
    pub count: usize,
    /// Index of the first vertex, or of a triangle, that has it.
    pub first: usize,
}

/// A defect of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Defect {
    /// No triangle uses the vertex.
    UnusedVertex,
    /// The triangle has no area: rays cannot hit it.
    DegenerateTriangle,
    /// An earlier triangle has the same corners: rays hit that one.
    DuplicateTriangle,
    /// Only one triangle has the edge: the surface ends there.
    BoundaryEdge,
    /// More than two triangles share the edge.
    NonManifoldEdge,
    /// The edge's two triangles have opposite winding: one of their normals points inwards.
    InconsistentWinding,
    /// A closed part whose normals all point inwards: right for a room, wrong for a solid.
    InsideOutPart,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names of one and of several defects, and of the element that the index is of.
        let (one, many, place) = match self.defect {
            Defect::UnusedVertex => ("unused vertex", "unused vertices", "vertex"),
            Defect::DegenerateTriangle => {
                ("degenerate triangle", "degenerate triangles", "triangle")
            }
            Defect::DuplicateTriangle => ("duplicate triangle", "duplicate triangles", "triangle"),
            Defect::BoundaryEdge => ("open edge", "open edges", "triangle"),
            Defect::NonManifoldEdge => (
                "edge of more than two triangles",
                "edges of more than two triangles",
                "triangle",
            ),
            Defect::InconsistentWinding => (
                "edge wound inconsistently",
                "edges wound inconsistently",
                "triangle",
            ),
            Defect::InsideOutPart => (
                "closed part inside out",
                "closed parts inside out",
                "triangle",
            ),
        };
        let name = if self.count == 1 { one } else { many };
        write!(f, "{} {name}, first at {place} {}", self.count, self.first)
    }
}

impl MeshAudit {
    /// Audits a mesh. Vertices at exactly the same position count as one, so that formats without shared
    /// vertices (STL) can be audited too.
    ///
    /// ```
    /// use etendue_scene::{Defect, MeshAudit, primitive::rectangle};
    /// let audit = MeshAudit::of(&rectangle([2.0, 1.0])?)?;
    /// assert_eq!(audit.count(Defect::BoundaryEdge), 4);
    /// assert!(!audit.is_closed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the mesh fails [`Mesh::check`].
    pub fn of(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.check()?;
        let mut findings = Findings::default();
        find_unused(mesh, &mut findings);
        let welded = Welded::new(mesh);
        let sound = find_bad_triangles(mesh, &welded, &mut findings);
        let edges = Edges::new(&welded, &sound, &mut findings);
        let parts = find_parts(mesh, &welded, &sound, &edges, &mut findings);
        findings.0.sort_by_key(|found| found.defect);
        Ok(Self {
            vertices: mesh.vertices.len(),
            triangles: mesh.triangles.len(),
            bounds: mesh.bounds().ok_or(MeshError::Empty)?,
            parts: parts.count,
            closed_parts: parts.closed,
            volume: parts.volume,
            findings: findings.0,
        })
    }
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Records the occurrences of a defect, if there are any.
    fn record(&mut self, defect: Defect, places: impl Iterator<Item = usize>) {
        let (count, first) = places.fold((0, usize::MAX), |(n, first), at| (n + 1, first.min(at)));
        if count > 0 {
            self.0.push(Finding {
                defect,
                count,
                first,
            });
        }
    }
}

fn find_unused(mesh: &Mesh, findings: &mut Findings) {
    let mut used = vec![false; mesh.vertices.len()];
    for &vertex in mesh.triangles.iter().flatten() {
        used[vertex as usize] = true;
    }
    let unused = used.iter().enumerate().filter(|(_, used)| !**used);
    findings.record(Defect::UnusedVertex, unused.map(|(vertex, _)| vertex));
}

/// Triangles after vertices at the same position were merged.
struct Welded {
    triangles: Vec<[u32; 3]>,
}

impl Welded {
    fn new(mesh: &Mesh) -> Self {
        // Adding zero turns -0 into 0.
        let place = |v: usize| mesh.vertices[v].coords.map(|x| (x + 0.0).to_bits());
        let mut order: Vec<usize> = (0..mesh.vertices.len()).collect();
        order.sort_unstable_by_key(|&v| (place(v).x, place(v).y, place(v).z, v));
        let mut canonical = vec![0_u32; mesh.vertices.len()];
        for pair in 0..order.len() {
            let vertex = order[pair];
            let same = pair > 0 && place(order[pair - 1]) == place(vertex);
            canonical[vertex] = if same {
                canonical[order[pair - 1]]
            } else {
                u32::try_from(vertex).expect("vertices are numbered in u32")
            };
        }
        let weld = |t: &[u32; 3]| t.map(|v| canonical[v as usize]);
        Self {
            triangles: mesh.triangles.iter().map(weld).collect(),
        }
    }
}

/// Records degenerate and duplicate triangles, and returns the indices of all others.
fn find_bad_triangles(mesh: &Mesh, welded: &Welded, findings: &mut Findings) -> Vec<usize> {
    let degenerate = |t: &usize| {
        let [a, b, c] = mesh.triangles[*t].map(|v| mesh.vertices[v as usize]);
        (b - a).cross(&(c - a)).norm_squared() == 0.0
    };
    let all = 0..mesh.triangles.len();
    findings.record(Defect::DegenerateTriangle, all.clone().filter(degenerate));

    let corners = |t: usize| {
        let mut corners = welded.triangles[t];
        corners.sort_unstable();
        corners
    };
    let mut sound: Vec<usize> = all.filter(|t| !degenerate(t)).collect();
    sound.sort_unstable_by_key(|&t| (corners(t), t));
    let repeated = sound.windows(2).filter(|p| corners(p[0]) == corners(p[1]));
    findings.record(Defect::DuplicateTriangle, repeated.map(|pair| pair[1]));
    sound.dedup_by_key(|t| corners(*t));
    sound.sort_unstable();
    sound
}

/// The triangles of each edge.
struct Edges {
    /// Pairs of triangles that share an edge.
    joined: Vec<[usize; 2]>,
    /// Triangles at an edge that is open, non-manifold or inconsistently wound.
    faulty: Vec<usize>,
}

impl Edges {
    fn new(welded: &Welded, sound: &[usize], findings: &mut Findings) -> Self {
        // List the sides of all triangles, sorted by edge.
        let mut sides: Vec<([u32; 2], usize, bool)> = sound
            .iter()
            .flat_map(|&t| {
                let [a, b, c] = welded.triangles[t];
                [[a, b], [b, c], [c, a]]
                    .map(|[from, to]| ([from.min(to), from.max(to)], t, from < to))
            })
            .collect();
        sides.sort_unstable();
        // Classify each edge by the number and the direction of its sides.
        let mut joined = Vec::new();
        let mut faulty = Vec::new();
        let mut open = Vec::new();
        let mut crowded = Vec::new();
        let mut inconsistent = Vec::new();
        for edge in sides.chunk_by(|a, b| a.0 == b.0) {
            joined.extend(edge.windows(2).map(|pair| [pair[0].1, pair[1].1]));
            match edge {
                [_] => open.push(edge[0].1),
                [one, other] if one.2 == other.2 => inconsistent.push(one.1),
                [_, _] => continue,
                _ => crowded.push(edge[0].1),
            }
            faulty.push(edge[0].1);
        }
        findings.record(Defect::BoundaryEdge, open.into_iter());
        findings.record(Defect::NonManifoldEdge, crowded.into_iter());
        findings.record(Defect::InconsistentWinding, inconsistent.into_iter());
        Self { joined, faulty }
    }
}

struct Parts {
    count: usize,
    closed: usize,
    volume: f64,
}

fn find_parts(
    mesh: &Mesh,
    welded: &Welded,
    sound: &[usize],
    edges: &Edges,
    findings: &mut Findings,
) -> Parts {
    // Join triangles that share an edge.
    let mut groups = Groups::new(welded.triangles.len());
    for pair in &edges.joined {
        groups.join(pair[0], pair[1]);
    }
    // Mark parts with faulty edges.
    let mut faulty = vec![false; welded.triangles.len()];
    for &triangle in &edges.faulty {
        faulty[groups.root(triangle)] = true;
    }
    // Sum the signed volumes of the parts.
    let mut volumes = vec![0.0; welded.triangles.len()];
    for &triangle in sound {
        let root = groups.root(triangle);
        let about = mesh.vertices[mesh.triangles[root][0] as usize];
        let [a, b, c] = mesh.triangles[triangle].map(|v| mesh.vertices[v as usize] - about);
        volumes[root] += a.cross(&b).dot(&c) / 6.0;
    }
    // Closed parts of negative volume are inside out.
    let roots = || sound.iter().copied().filter(|&t| groups.parents[t] == t);
    let closed = || roots().filter(|&root| !faulty[root]);
    let inside_out = closed().filter(|&root| volumes[root] < 0.0);
    findings.record(Defect::InsideOutPart, inside_out);
    Parts {
        count: roots().count(),
        closed: closed().count(),
        volume: closed().map(|root| volumes[root]).sum(),
    }
}

/// Disjoint sets, each represented by its least member.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Self {
        Self {
            parents: (0..count).collect(),
        }
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parents[member] != member {
            self.parents[member] = self.parents[self.parents[member]];
            member = self.parents[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let one = self.root(one);
        let other = self.root(other);
        self.parents[one.max(other)] = one.min(other);
    }
}
