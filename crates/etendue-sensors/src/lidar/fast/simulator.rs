//! Vectorised pipeline of pulsed lidars: what all batches of a sweep share.

use super::direct_returns::DirectReturns;
use super::order::CastOrder;
use super::rotor::RotorBeams;
use crate::lidar::batches::Batches;
use crate::lidar::firing::Firing;
use crate::lidar::pattern::ScanPattern;
use crate::lidar::returns::Reporter;
use crate::lidar::shots::Shots;
use crate::lidar::sweep::Simulator;
use etendue_simd::Isa;

/// The vectorised pipeline of a pulsed lidar.
pub(in crate::lidar) struct FastSimulator<'p, 'a> {
    /// The plain pipeline, for shots that hit mirrors or glass.
    pub plain: &'p Simulator<'a, f64>,
    pub reporter: Reporter<'p>,
    pub isa: Isa,
    pub direct: DirectReturns,
    /// Precomputed cast orders of a rotor, whose columns are rotated copies of each other: of a group of
    /// columns ([`Batches::together`]), and of a whole batch.
    pub orders: [CastOrder; 2],
    /// Beams of a group of columns, for single-ray beams on a rotor without nod.
    pub rotor: Option<RotorBeams>,
}

impl<'p, 'a> FastSimulator<'p, 'a> {
    /// The vectorised pipeline of a sweep; `None` if [`DirectReturns::new`] is.
    pub fn new(
        isa: Isa,
        plain: &'p Simulator<'a, f64>,
        reporter: Reporter<'p>,
        firing: &Firing,
        shots: &Shots,
        batches: &Batches,
    ) -> Option<Self> {
        let mut simulator = Self {
            direct: DirectReturns::new(plain)?,
            plain,
            reporter,
            isa,
            orders: Default::default(),
            rotor: None,
        };
        if let ScanPattern::Spinning(_) = plain.lidar.pattern {
            simulator.prepare_rotor(firing, shots, batches);
        }
        Some(simulator)
    }

    /// The same in a world that differs only in its deforming meshes.
    pub fn with_plain<'q, 'b>(
        &self,
        plain: &'q Simulator<'b, f64>,
        reporter: Reporter<'q>,
    ) -> FastSimulator<'q, 'b> {
        FastSimulator {
            plain,
            reporter,
            isa: self.isa,
            direct: self.direct.clone(),
            orders: self.orders.clone(),
            rotor: self.rotor.clone(),
        }
    }

    /// Precomputes the cast orders and beams that all groups of columns of a rotor share.
    fn prepare_rotor(&mut self, firing: &Firing, shots: &Shots, batches: &Batches) {
        let together = batches.together.min(shots.len());
        let mut memory = Vec::new();
        let shots = shots.part(self.isa, 0..together, &mut memory);
        let order = CastOrder::new(shots);
        if self.plain.beam_rays.count() == 1 {
            self.rotor = RotorBeams::new(firing, order.shots());
        }
        let whole = order.repeated(batches.times);
        self.orders = [order, whole];
    }
}
