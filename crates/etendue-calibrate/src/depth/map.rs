//! Map of several scans with its neighbourhoods.

use super::features::{NeighbourhoodMask, MaskOutcome, MaskReport, NeighbourhoodShape, without_shadows};
use super::{DepthError, DepthModel};
use etendue_estimate::geometry::{
    Eigen, LocalSurface, Neighbourhood, Neighbours, covariance, local_surfaces_among, mean,
    one_per_voxel,
};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// One reading of a lidar: $x = v + d\\,r$ (equation 1), in the lidar's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthMeasurement {
    /// Where the beam starts, $v$, m.
    pub origin: Vector3<f64>,
    /// Unit direction $r$.
    pub direction: Vector3<f64>,
    /// Measured depth $d$, m.
    pub depth: f64,
    /// Incidence $\gamma$ estimated in the own scan, rad.
    pub incidence: f64,
    /// Unit normal estimated in the own scan, turned to the sensor.
    pub normal: Vector3<f64>,
    /// Number of the pose it was measured from.
    pub pose: usize,
}

/// Settings of a [`DepthMap`].
#[derive(Clone, Debug, PartialEq)]
pub struct DepthMapOptions {
    /// Depths that are used, m.
    pub depths: RangeInclusive<f64>,
    /// Points in the shadow of an edge are dropped where they stand within this angle of a beam,
    /// rad; see [`without_shadows`].
    pub shadow: Option<f64>,
    /// Side of the cubes of which each scan keeps one point, m.
    pub voxel: f64,
    /// The points of a scan that give a point its normal.
    pub normal_from: Neighbourhood,
    /// How often those are doubled ([`Neighbourhood::doubled`]) for points that have too few of them
    /// or only a line: at grazing incidence, where the bias is greatest, the columns of a scan stand
    /// apart.
    pub normal_doublings: u32,
    /// The points of the map that make a neighbourhood.
    pub neighbourhood: Neighbourhood,
    /// Side of the cubes of which the map, all scans together, keeps one point to be the centre of a
    /// neighbourhood, m; every point is one where there is none. Where many scans overlap,
    /// neighbourhoods about every point are the same ones over and over.
    pub centres: Option<f64>,
    /// Which neighbourhoods are used.
    pub mask: NeighbourhoodMask,
}

impl DepthMapOptions {
    /// Depths 1 to 25 m, cubes of 0.2 m, neighbours within 0.4 m of every point, [`NeighbourhoodMask::published`].
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

    /// Cubes of 0.1 m, for centres too, neighbours within 0.25 m, normals from 0.3 m, [`NeighbourhoodMask::strict`]: a
    /// centimetre of noise requires many points, and points near an edge pull the bias down by
    /// millimetres. With poses that are off by a centimetre, give
    /// [`TrainingSettings::refreshes`](super::train::TrainingSettings::refreshes) a round or two: before the poses
    /// are corrected most neighbourhoods are too thick for these masks.
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

/// Numbers of rejected points and neighbourhoods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthMapReport {
    /// Points that are not finite.
    pub not_finite: usize,
    /// Points outside the range of depths.
    pub out_of_range: usize,
    /// Points in the shadow of an edge.
    pub in_shadow: usize,
    /// Sampled points without a normal, or with one that is not trusted.
    pub without_normal: usize,
    /// What became of the neighbourhoods.
    pub mask: MaskReport,
}

/// Measurements, their poses, and neighbourhoods over them: frozen until [`DepthMap::refreshed`].
#[derive(Clone, Debug)]
pub struct DepthMap {
    pub(super) measurements: Vec<DepthMeasurement>,
    pub(super) world_from_lidar: Vec<Isometry3<f64>>,
    pub(super) neighbourhoods: Vec<Vec<u32>>,
    /// For each neighbourhood that has one: its centre and the nearest point of another scan.
    pub(super) pairs: Vec<[u32; 2]>,
    /// What became of the neighbourhood of each measurement that is a centre; empty where they were
    /// made elsewhere.
    mask_outcomes: Vec<Option<MaskOutcome>>,
    report: DepthMapReport,
}

impl DepthMap {
    /// From scans (points in the lidar's frame, m, the beams from its origin) and their poses.
    /// Points that are not finite or out of range are counted in the report and left out.
    ///
    /// # Errors
    /// Where there are fewer than two scans, they do not pair with the poses, a scan is empty, a
    /// pose is not finite, a size is not above zero, or the masks leave nothing.
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

    /// From parts made elsewhere: each neighbourhood lists the numbers of its measurements, its
    /// centre first. It keeps the neighbourhoods as they are.
    ///
    /// # Errors
    /// Where a number points nowhere, or a neighbourhood has fewer than three points.
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

    /// The same measurements with neighbourhoods and masks taken from where the points are now
    /// (world frame, m, one a measurement).
    ///
    /// # Errors
    /// Where the masks leave nothing.
    pub fn refreshed(
        &self,
        points: &[Vector3<f64>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        self.clone().selected(points, options)
    }

    /// The measurements.
    pub fn measurements(&self) -> &[DepthMeasurement] {
        &self.measurements
    }

    /// The poses that the map was made with.
    pub fn world_from_lidar(&self) -> &[Isometry3<f64>] {
        &self.world_from_lidar
    }

    /// The neighbourhoods that are used: numbers of their measurements.
    pub fn neighbourhoods(&self) -> &[Vec<u32>] {
        &self.neighbourhoods
    }

    /// What became of the neighbourhood of each measurement, if it is the centre of one; empty where
    /// the neighbourhoods were made elsewhere.
    pub fn mask_outcomes(&self) -> &[Option<MaskOutcome>] {
        &self.mask_outcomes
    }

    /// Numbers of rejected points and neighbourhoods.
    pub fn report(&self) -> &DepthMapReport {
        &self.report
    }

    /// The points as measured, in the world, m.
    pub fn measured_points(&self) -> Vec<Vector3<f64>> {
        let place = |m: &DepthMeasurement| {
            let point = Point3::from(m.origin + m.direction * m.depth);
            (self.world_from_lidar[m.pose] * point).coords
        };
        self.measurements.iter().map(place).collect()
    }

    /// Incidences of the measurements that are used, rad, in rising order.
    pub fn incidences_used(&self) -> Vec<f64> {
        let mut used = vec![false; self.measurements.len()];
        for &member in self.neighbourhoods.iter().flatten() {
            used[member as usize] = true;
        }
        let pairs = self.measurements.iter().zip(used);
        let mut found: Vec<f64> = pairs
            .filter(|(_, u)| *u)
            .map(|(m, _)| m.incidence)
            .collect();
        found.sort_by(f64::total_cmp);
        found
    }

    /// The same map with the depths that a model gives; the neighbourhoods stay.
    pub(super) fn corrected(&self, model: &DepthModel) -> Self {
        let mut corrected = self.clone();
        for m in &mut corrected.measurements {
            m.depth = model.correct(m.depth, m.incidence);
        }
        corrected
    }

    fn selected(
        mut self,
        points: &[Vector3<f64>],
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        let neighbours = Neighbours::new(points);
        let centres = centres(points, options.centres);
        let candidates: Vec<(Vec<u32>, MaskOutcome)> = centres
            .par_iter()
            .map(|&centre| {
                let members = neighbours.near(&points[centre as usize], options.neighbourhood);
                let verdict = options.mask.verdict(&self.shape(&members, points));
                (members, verdict)
            })
            .collect();
        self.report.mask = MaskReport::default();
        self.neighbourhoods.clear();
        self.mask_outcomes = vec![None; points.len()];
        let mut kept = Vec::new();
        for (centre, (members, verdict)) in centres.into_iter().zip(candidates) {
            self.report.mask.count(verdict);
            self.mask_outcomes[centre as usize] = Some(verdict);
            if verdict == MaskOutcome::Kept {
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

    fn shape(&self, members: &[u32], points: &[Vector3<f64>]) -> NeighbourhoodShape {
        let chosen = members.iter().map(|&i| points[i as usize]);
        let centre = mean(chosen.clone());
        let eigen = Eigen::of(&covariance(chosen, &centre));
        let views = members.iter().map(|&i| self.viewpoint(i));
        let middle = mean(views.clone());
        NeighbourhoodShape {
            count: members.len(),
            values: eigen.values,
            viewpoint_variance: covariance(views, &middle).trace(),
            normal_spread: self.normal_spread(members, &eigen.vectors[0]),
        }
    }

    /// Greatest angle between a plane's normal and those of its points, rad.
    fn normal_spread(&self, members: &[u32], normal: &Vector3<f64>) -> f64 {
        let cosine = |&i: &u32| {
            let m = &self.measurements[i as usize];
            let own = self.world_from_lidar[m.pose].rotation * m.normal;
            own.dot(normal).abs()
        };
        members.iter().map(cosine).fold(1.0, f64::min).acos()
    }

    fn viewpoint(&self, measurement: u32) -> Vector3<f64> {
        let m = &self.measurements[measurement as usize];
        (self.world_from_lidar[m.pose] * Point3::from(m.origin)).coords
    }

    /// Each centre with the nearest member of its neighbourhood that another pose saw.
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

/// Numbers of the points that are centres.
fn centres(points: &[Vector3<f64>], cube: Option<f64>) -> Vec<u32> {
    match cube {
        Some(cube) => one_per_voxel(points, cube),
        None => (0..).zip(points).map(|(number, _)| number).collect(),
    }
}

/// The measurements of one scan: finite, in range, one a cube, with a normal.
fn sampled(
    scan: usize,
    points: &[Point3<f64>],
    options: &DepthMapOptions,
    report: &mut DepthMapReport,
) -> Result<Vec<DepthMeasurement>, DepthError> {
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
    let chosen = one_per_voxel(&usable, options.voxel);
    let views = views(&usable, &chosen, options);
    let trusted = |view: &LocalSurface| options.mask.trusts(view);
    report.without_normal += views
        .iter()
        .filter(|v| !v.as_ref().is_some_and(trusted))
        .count();
    let seen = chosen.iter().zip(views).filter_map(|(&i, view)| {
        let (point, view) = (usable[i as usize], view.filter(trusted)?);
        Some(DepthMeasurement {
            origin: Vector3::zeros(),
            direction: point.normalize(),
            depth: point.norm(),
            incidence: view.incidence,
            normal: view.normal,
            pose: scan,
        })
    });
    Ok(seen.collect())
}

/// The views of the surface at some points of a scan, from more points where few show no plane.
fn views(points: &[Vector3<f64>], at: &[u32], options: &DepthMapOptions) -> Vec<Option<LocalSurface>> {
    let origins = vec![Vector3::zeros(); points.len()];
    let neighbours = Neighbours::new(points);
    let among = |at: &[u32], which| local_surfaces_among(&neighbours, points, &origins, at, which);
    let mut which = options.normal_from;
    let mut views = among(at, which);
    for _ in 0..options.normal_doublings {
        which = which.doubled();
        let needs_more = |view: &Option<LocalSurface>| {
            view.as_ref()
                .is_none_or(|v| options.mask.needs_more_points(v))
        };
        let open: Vec<usize> = (0..at.len()).filter(|&i| needs_more(&views[i])).collect();
        let of_open: Vec<u32> = open.iter().map(|&i| at[i]).collect();
        for (i, view) in open.into_iter().zip(among(&of_open, which)) {
            views[i] = view;
        }
    }
    views
}

fn check(scans: usize, poses: &[Isometry3<f64>], options: &DepthMapOptions) -> Result<(), DepthError> {
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

    /// A wall along x, 1.2 m aside, seen by columns a degree apart from places 1 m apart.
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
