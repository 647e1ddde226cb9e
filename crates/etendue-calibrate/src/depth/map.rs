//! Map of several scans with its neighbourhoods.

use super::error::DepthError;
use super::features::{
    MaskOutcome, MaskReport, NeighbourhoodMask, NeighbourhoodShape, without_shadows,
};
use super::model::DepthModel;
use etendue_estimate::geometry::{
    EigenDecomposition, LocalSurface, Neighbourhood, Neighbours, covariance, local_surfaces_among,
    mean, one_per_voxel,
};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// One range measurement of a lidar: $x = v + d\\,r$ (equation 1), in the lidar frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthMeasurement {
    /// Origin $v$ of the beam, m.
    pub origin: Vector3<f64>,
    /// Unit direction $r$.
    pub direction: Vector3<f64>,
    /// Measured depth $d$, m.
    pub depth: f64,
    /// Incidence $\gamma$ estimated in the own scan, rad.
    pub incidence: f64,
    /// Unit normal estimated in the own scan, towards the sensor.
    pub normal: Vector3<f64>,
    /// Index of the pose.
    pub pose: usize,
}

/// Settings of a [`DepthMap`].
#[derive(Clone, Debug, PartialEq)]
pub struct DepthMapOptions {
    /// Range of the used depths, m.
    pub depths: RangeInclusive<f64>,
    /// Angle between beam and edge below which veiling points are removed, rad; see [`without_shadows`].
    pub shadow: Option<f64>,
    /// Edge length of the voxels with one point per scan, m.
    pub voxel: f64,
    /// Neighbours in the own scan that determine the normal of a point.
    pub normal_from: Neighbourhood,
    /// Number of times that these neighbourhoods are doubled ([`Neighbourhood::doubled`]) for points with
    /// too few or collinear neighbours: at grazing incidence, where the bias is greatest, the columns of a
    /// scan are far apart.
    pub normal_doublings: u32,
    /// Neighbours in the map that form a neighbourhood.
    pub neighbourhood: Neighbourhood,
    /// Edge length of the voxels of the whole map with one centre of a neighbourhood, m; `None`: every point
    /// is a centre. Where many scans overlap, neighbourhoods of all points are redundant.
    pub centres: Option<f64>,
    /// Criteria of the used neighbourhoods.
    pub mask: NeighbourhoodMask,
}

impl DepthMapOptions {
    /// Depths from 1 to 25 m, voxels of 0.2 m, neighbours within 0.4 m of every point,
    /// [`NeighbourhoodMask::published`].
    pub fn published() -> Self {
        Self {
            depths: 1.0..=25.0,
            shadow: None,
            voxel: 0.2,
            normal_from: Neighbourhood::Radius(0.4),
            normal_doublings: 0,
            neighbourhood: Neighbourhood::Radius(0.4),
            centres: None,
            mask: NeighbourhoodMask::published(),
        }
    }

    /// Voxels of 0.1 m, also for centres, neighbours within 0.25 m, normals from 0.3 m,
    /// [`NeighbourhoodMask::strict`]: a centimetre of noise requires many points, and points near edges
    /// shift the bias by centimetres. For pose errors of a centimetre, use one or two
    /// [`TrainingSettings::refreshes`](super::train::TrainingSettings::refreshes): before the poses are
    /// corrected, most neighbourhoods are too thick for these masks.
    pub fn strict() -> Self {
        Self {
            voxel: 0.1,
            normal_from: Neighbourhood::Radius(0.3),
            neighbourhood: Neighbourhood::Radius(0.25),
            centres: Some(0.1),
            mask: NeighbourhoodMask::strict(),
            ..Self::published()
        }
    }
}

/// Least number of scans for [`DepthMapOptions::sparse`].
const MANY_SCANS: usize = 16;

impl DepthMapOptions {
    /// [`DepthMapOptions::strict`] with voxels of 0.2 m and neighbourhoods of 0.4 m that overlap by half, for
    /// maps of many scans: a sixteenth of the neighbourhoods. Normals extend to grazing incidence, where the
    /// bias of a receiver is greatest.
    pub fn sparse() -> Self {
        Self {
            voxel: 0.2,
            normal_doublings: 2,
            neighbourhood: Neighbourhood::Radius(0.4),
            centres: Some(0.4),
            ..Self::strict()
        }
    }

    /// [`DepthMapOptions::sparse`] for 16 scans or more, otherwise [`DepthMapOptions::strict`].
    pub fn strict_for(scans: usize) -> Self {
        if scans >= MANY_SCANS {
            Self::sparse()
        } else {
            Self::strict()
        }
    }
}

/// Numbers of rejected points and neighbourhoods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthMapReport {
    /// Number of points that are not finite.
    pub not_finite: usize,
    /// Number of points outside the range of depths.
    pub out_of_range: usize,
    /// Number of veiling points.
    pub in_shadow: usize,
    /// Number of sampled points without a reliable normal.
    pub without_normal: usize,
    /// Outcomes of the mask.
    pub mask: MaskReport,
}

/// Measurements with their poses and neighbourhoods; the neighbourhoods are fixed until
/// [`DepthMap::refreshed`].
#[derive(Clone, Debug)]
pub struct DepthMap {
    pub(super) measurements: Vec<DepthMeasurement>,
    pub(super) world_from_lidar: Vec<Isometry3<f64>>,
    pub(super) neighbourhoods: Vec<Vec<u32>>,
    /// Centre of each neighbourhood and its nearest member from another scan, if any.
    pub(super) pairs: Vec<[u32; 2]>,
    /// Outcome of the mask for each measurement that is a centre; empty for given neighbourhoods.
    mask_outcomes: Vec<Option<MaskOutcome>>,
    report: DepthMapReport,
}

impl DepthMap {
    /// Map of scans (points in the lidar frame, m, with beams from the origin) and their poses. Points that
    /// are not finite or out of range are counted in the report and ignored.
    ///
    /// # Errors
    /// If there are fewer than two scans, the number of poses differs, a scan has no usable point, a pose is
    /// not finite, a size is not above zero, or no neighbourhood passes the mask.
    pub fn build(
        scans: &[Vec<Point3<f64>>],
        world_from_lidar: &[Isometry3<f64>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        check(scans.len(), world_from_lidar, options)?;
        let mut report = DepthMapReport::default();
        let mut measurements = Vec::new();
        for (scan, points) in scans.iter().enumerate() {
            measurements.extend(sampled(scan, points, options, &mut report)?);
        }
        let raw = Self {
            measurements,
            world_from_lidar: world_from_lidar.to_vec(),
            neighbourhoods: Vec::new(),
            pairs: Vec::new(),
            mask_outcomes: Vec::new(),
            report,
        };
        let points = raw.measured_points();
        raw.selected(&points, options)
    }

    /// Map of given measurements and neighbourhoods: each lists the indices of its measurements, the centre
    /// first.
    ///
    /// # Errors
    /// If an index is out of range, or a neighbourhood has fewer than three points.
    pub fn from_parts(
        measurements: Vec<DepthMeasurement>,
        world_from_lidar: Vec<Isometry3<f64>>,
        neighbourhoods: Vec<Vec<u32>>,
    ) -> Result<Self, DepthError> {
        check_poses(&measurements, world_from_lidar.len())?;
        for (number, members) in neighbourhoods.iter().enumerate() {
            check_members(number, members, measurements.len())?;
        }
        let mut map = Self {
            measurements,
            world_from_lidar,
            neighbourhoods,
            pairs: Vec::new(),
            mask_outcomes: Vec::new(),
            report: DepthMapReport::default(),
        };
        let points = map.measured_points();
        map.pairs = map.paired(&points, map.neighbourhoods.iter().map(|m| m[0]));
        Ok(map)
    }

    /// The same measurements with neighbourhoods and masks recomputed from current positions (world frame, m,
    /// one per measurement).
    ///
    /// # Errors
    /// If no neighbourhood passes the mask.
    pub fn refreshed(
        &self,
        points: &[Vector3<f64>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        self.clone().selected(points, options)
    }

    /// Map of some of the scans, in their order, with neighbourhoods selected among their measurements.
    ///
    /// # Errors
    /// If no neighbourhood passes the mask.
    pub(super) fn of_scans(
        &self,
        scans: &[usize],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        // New index of each scan
        let mut index_of = vec![None; self.world_from_lidar.len()];
        for (index, &scan) in scans.iter().enumerate() {
            index_of[scan] = Some(index);
        }
        // Measurements of these scans
        let measurements = self.measurements.iter().filter_map(|m| {
            let pose = index_of[m.pose]?;
            Some(DepthMeasurement { pose, ..*m })
        });
        let part = Self {
            measurements: measurements.collect(),
            world_from_lidar: scans.iter().map(|&s| self.world_from_lidar[s]).collect(),
            neighbourhoods: Vec::new(),
            pairs: Vec::new(),
            mask_outcomes: Vec::new(),
            report: self.report,
        };
        let points = part.measured_points();
        part.selected(&points, options)
    }

    /// The same measurements with the neighbourhoods of the first positions that pass the mask with any of
    /// several positions.
    ///
    /// # Errors
    /// If no neighbourhood passes the mask.
    pub(super) fn selected_in_any(
        &self,
        positions: &[Vec<Vector3<f64>>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        let tested: Vec<&[Vector3<f64>]> = positions.iter().map(Vec::as_slice).collect();
        self.clone().selected_by(&positions[0], &tested, options)
    }

    /// This map with the neighbourhoods of another map of the same measurements.
    pub(super) fn with_neighbourhoods_of(mut self, other: &Self) -> Self {
        self.neighbourhoods.clone_from(&other.neighbourhoods);
        self.pairs.clone_from(&other.pairs);
        self
    }

    /// The measurements.
    pub fn measurements(&self) -> &[DepthMeasurement] {
        &self.measurements
    }

    /// Poses of the scans, world from lidar.
    pub fn world_from_lidar(&self) -> &[Isometry3<f64>] {
        &self.world_from_lidar
    }

    /// Indices of the measurements of each neighbourhood.
    pub fn neighbourhoods(&self) -> &[Vec<u32>] {
        &self.neighbourhoods
    }

    /// Outcome of the mask for each measurement that is a centre; empty for given neighbourhoods.
    pub fn mask_outcomes(&self) -> &[Option<MaskOutcome>] {
        &self.mask_outcomes
    }

    /// Numbers of rejected points and neighbourhoods.
    pub fn report(&self) -> &DepthMapReport {
        &self.report
    }

    /// The points as measured, in the world, m.
    pub fn measured_points(&self) -> Vec<Vector3<f64>> {
        let position = |m: &DepthMeasurement| {
            let point = Point3::from(m.origin + m.direction * m.depth);
            (self.world_from_lidar[m.pose] * point).coords
        };
        self.measurements.iter().map(position).collect()
    }

    /// Incidences of the measurements in neighbourhoods, rad, in ascending order.
    pub fn incidences_used(&self) -> Vec<f64> {
        let pairs = self.measurements.iter().zip(self.used());
        let mut found: Vec<f64> = pairs
            .filter(|(_, used)| *used)
            .map(|(m, _)| m.incidence)
            .collect();
        found.sort_by(f64::total_cmp);
        found
    }

    /// Whether each measurement is in a neighbourhood.
    pub(super) fn used(&self) -> impl Iterator<Item = bool> {
        let mut used = vec![false; self.measurements.len()];
        for &member in self.neighbourhoods.iter().flatten() {
            used[member as usize] = true;
        }
        used.into_iter()
    }

    /// The same map with depths corrected by a model; the neighbourhoods are unchanged.
    pub(super) fn corrected(&self, model: &DepthModel) -> Self {
        let mut corrected = self.clone();
        for m in &mut corrected.measurements {
            m.depth = model.correct(m.depth, m.incidence);
        }
        corrected
    }

    /// The map with the neighbourhoods of positions that pass the mask.
    fn selected(
        self,
        points: &[Vector3<f64>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        self.selected_by(points, &[points], options)
    }

    /// The map with the neighbourhoods of positions that pass the mask with any of several positions.
    fn selected_by(
        mut self,
        points: &[Vector3<f64>],
        tested: &[&[Vector3<f64>]],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        // Find and test the neighbourhoods of all centres
        let neighbours = Neighbours::new(points);
        let centres = centres(points, options.centres);
        let candidates: Vec<(Vec<u32>, MaskOutcome)> = centres
            .par_iter()
            .map(|&centre| {
                let members = neighbours.near(&points[centre as usize], options.neighbourhood);
                let outcome_of =
                    |points: &&[Vector3<f64>]| options.mask.outcome(&self.shape(&members, points));
                let outcomes = tested.iter().map(outcome_of);
                let outcome = outcomes.reduce(|first, next| match first {
                    MaskOutcome::Kept => first,
                    _ => next,
                });
                (members, outcome.unwrap_or(MaskOutcome::Few))
            })
            .collect();

        // Keep those that pass
        self.report.mask = MaskReport::default();
        self.neighbourhoods.clear();
        self.mask_outcomes = vec![None; points.len()];
        let mut kept = Vec::new();
        for (centre, (members, outcome)) in centres.into_iter().zip(candidates) {
            self.report.mask.count(outcome);
            self.mask_outcomes[centre as usize] = Some(outcome);
            if outcome == MaskOutcome::Kept {
                self.neighbourhoods.push(members);
                kept.push(centre);
            }
        }
        if self.neighbourhoods.is_empty() {
            let points = points.len();
            return Err(DepthError::NothingSelected { points });
        }
        self.pairs = self.paired(points, kept.into_iter());
        Ok(self)
    }

    /// Geometry of a neighbourhood.
    fn shape(&self, members: &[u32], points: &[Vector3<f64>]) -> NeighbourhoodShape {
        let chosen = members.iter().map(|&i| points[i as usize]);
        let centre = mean(chosen.clone());
        let eigen = EigenDecomposition::of(&covariance(chosen, &centre));
        let views = members.iter().map(|&i| self.viewpoint(i));
        let middle = mean(views.clone());
        NeighbourhoodShape {
            count: members.len(),
            values: eigen.values,
            viewpoint_variance: covariance(views, &middle).trace(),
            normal_spread: self.normal_spread(members, &eigen.vectors[0]),
        }
    }

    /// Greatest angle between the normal of a neighbourhood and those of its points, rad.
    fn normal_spread(&self, members: &[u32], normal: &Vector3<f64>) -> f64 {
        let cosine = |&i: &u32| {
            let m = &self.measurements[i as usize];
            let own = self.world_from_lidar[m.pose].rotation * m.normal;
            own.dot(normal).abs()
        };
        members.iter().map(cosine).fold(1.0, f64::min).acos()
    }

    /// Origin of the beam of a measurement in the world, m.
    fn viewpoint(&self, measurement: u32) -> Vector3<f64> {
        let m = &self.measurements[measurement as usize];
        (self.world_from_lidar[m.pose] * Point3::from(m.origin)).coords
    }

    /// Each centre with the nearest member of its neighbourhood from another pose.
    fn paired(&self, points: &[Vector3<f64>], centres: impl Iterator<Item = u32>) -> Vec<[u32; 2]> {
        let pose = |i: u32| self.measurements[i as usize].pose;
        let both = centres.zip(&self.neighbourhoods);
        both.filter_map(|(centre, members)| {
            let distance = |i: &u32| (points[*i as usize] - points[centre as usize]).norm_squared();
            let others = members.iter().filter(|&&i| pose(i) != pose(centre));
            let nearest = others.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.map(|&near| [centre, near])
        })
        .collect()
    }
}

/// Indices of the centres of neighbourhoods.
fn centres(points: &[Vector3<f64>], cube: Option<f64>) -> Vec<u32> {
    match cube {
        Some(cube) => one_per_voxel(points, cube),
        None => (0..).zip(points).map(|(number, _)| number).collect(),
    }
}

/// The measurements of one scan: finite, in range, one per voxel, with a reliable normal.
fn sampled(
    scan: usize,
    points: &[Point3<f64>],
    options: &DepthMapOptions,
    report: &mut DepthMapReport,
) -> Result<Vec<DepthMeasurement>, DepthError> {
    // Select the usable points
    let finite = points.iter().filter(|p| p.iter().all(|x| x.is_finite()));
    let finite: Vec<Vector3<f64>> = finite.map(|p| p.coords).collect();
    let in_range = finite.iter().filter(|p| options.depths.contains(&p.norm()));
    let mut usable: Vec<Vector3<f64>> = in_range.copied().collect();
    report.not_finite += points.len() - finite.len();
    report.out_of_range += finite.len() - usable.len();
    if let Some(angle) = options.shadow {
        let kept = without_shadows(&usable, angle);
        report.in_shadow += usable.len() - kept.len();
        usable = kept.iter().map(|&i| usable[i as usize]).collect();
    }
    if usable.is_empty() {
        return Err(DepthError::EmptyScan {
            scan,
            nearest: *options.depths.start(),
            farthest: *options.depths.end(),
        });
    }

    // Downsample, and estimate the local surfaces
    let chosen = one_per_voxel(&usable, options.voxel);
    let surfaces = local_surfaces(&usable, &chosen, options);
    let is_reliable = |surface: &LocalSurface| options.mask.accepts_surface(surface);
    let mut measurements = Vec::new();
    for (&index, surface) in chosen.iter().zip(surfaces) {
        let Some(surface) = surface.filter(is_reliable) else {
            report.without_normal += 1;
            continue;
        };
        let point = usable[index as usize];
        measurements.push(DepthMeasurement {
            origin: Vector3::zeros(),
            direction: point.normalize(),
            depth: point.norm(),
            incidence: surface.incidence,
            normal: surface.normal,
            pose: scan,
        });
    }
    Ok(measurements)
}

/// Local surfaces at some points of a scan; neighbourhoods are doubled where they have no plane.
fn local_surfaces(
    points: &[Vector3<f64>],
    at: &[u32],
    options: &DepthMapOptions,
) -> Vec<Option<LocalSurface>> {
    // Surfaces of the smallest neighbourhoods.
    let origins = vec![Vector3::zeros(); points.len()];
    let neighbours = Neighbours::new(points);
    let estimate = |at: &[u32], size| local_surfaces_among(&neighbours, points, &origins, at, size);
    let mut size = options.normal_from;
    let mut surfaces = estimate(at, size);
    // Double the neighbourhoods that have no plane.
    for _ in 0..options.normal_doublings {
        size = size.doubled();
        let needs_more = |surface: &Option<LocalSurface>| {
            surface
                .as_ref()
                .is_none_or(|s| options.mask.needs_more_points(s))
        };
        let missing: Vec<usize> = (0..at.len())
            .filter(|&i| needs_more(&surfaces[i]))
            .collect();
        let missing_at: Vec<u32> = missing.iter().map(|&i| at[i]).collect();
        for (i, surface) in missing.into_iter().zip(estimate(&missing_at, size)) {
            surfaces[i] = surface;
        }
    }
    surfaces
}

/// Checks the numbers of scans and poses, the poses and the sizes.
fn check(
    scans: usize,
    poses: &[Isometry3<f64>],
    options: &DepthMapOptions,
) -> Result<(), DepthError> {
    // Check the scans and their poses.
    if scans != poses.len() {
        let poses = poses.len();
        return Err(DepthError::CountMismatch { scans, poses });
    }
    if scans < 2 {
        return Err(DepthError::TooFewScans { count: scans });
    }
    let finite = |p: &Isometry3<f64>| p.to_matrix().iter().all(|x| x.is_finite());
    if let Some(pose) = poses.iter().position(|p| !finite(p)) {
        return Err(DepthError::PoseNotFinite { pose });
    }
    // Check the sizes of the cells.
    for (name, size) in [
        ("voxel", options.voxel),
        ("centres", options.centres.unwrap_or(1.0)),
    ] {
        if size.is_nan() || size <= 0.0 {
            return Err(DepthError::Setting {
                name,
                value: size,
                domain: "above zero, m",
            });
        }
    }
    Ok(())
}

/// Checks the indices of the poses.
fn check_poses(measurements: &[DepthMeasurement], count: usize) -> Result<(), DepthError> {
    match measurements.iter().position(|m| m.pose >= count) {
        None => Ok(()),
        Some(measurement) => Err(DepthError::NoSuchPose {
            measurement,
            pose: measurements[measurement].pose,
            count,
        }),
    }
}

/// Checks the indices of the members of a neighbourhood, and their number.
fn check_members(number: usize, members: &[u32], count: usize) -> Result<(), DepthError> {
    if let Some(&measurement) = members.iter().find(|&&m| m as usize >= count) {
        return Err(DepthError::NoSuchMeasurement {
            neighbourhood: number,
            measurement: measurement as usize,
            count,
        });
    }
    if members.len() < 3 {
        return Err(DepthError::SmallNeighbourhood {
            neighbourhood: number,
            count: members.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall along x at a distance of 1.2 m, scanned by columns of one degree from poses 1 m apart.
    fn wall() -> (Vec<Vec<Point3<f64>>>, Vec<Isometry3<f64>>) {
        let beams = (5..175).flat_map(|column| (-20..=20).map(move |row| (column, row)));
        let point = |(column, row): (i32, i32)| {
            let (sin, cos) = f64::from(column).to_radians().sin_cos();
            let up = (1.4 * f64::from(row)).to_radians().tan();
            Point3::from(Vector3::new(cos, sin, up) * (1.2 / sin))
        };
        let scan: Vec<_> = beams.map(point).collect();
        let poses = (0..4).map(|k| Isometry3::translation(f64::from(k), 0.0, 0.0));
        (vec![scan; 4], poses.collect())
    }

    #[test]
    fn wider_neighbourhoods_reach_grazing_incidences() {
        let (scans, poses) = wall();
        let flattest = |normal_doublings| {
            let options = DepthMapOptions {
                normal_doublings,
                ..DepthMapOptions::strict()
            };
            let map = DepthMap::build(&scans, &poses, &options).expect("a map");
            for m in map.measurements() {
                let truth = (1.2 / m.depth).acos();
                assert!((m.incidence - truth).abs() < 1e-6);
            }
            let of_all = map.measurements().iter().map(|m| m.incidence.to_degrees());
            of_all.fold(0.0, f64::max)
        };
        let [plain, doubled, twice] = [0, 1, 2].map(flattest);
        assert!((70.0..77.0).contains(&plain), "{plain}");
        assert!((77.0..81.0).contains(&doubled), "{doubled}");
        assert!(twice > 81.0, "{twice}");
    }
}
