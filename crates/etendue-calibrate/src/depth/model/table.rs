//! Tabulated model of the depth bias.

/// Piecewise linear bias over the incidence, $\epsilon = \sum_i w_i\\,h_i(\gamma)$ with the hat functions $h_i$
/// of the nodes: zero at normal incidence, constant beyond the last node.
///
/// It assumes no shape and does not depend on the depth. Trained on the same map, it measures the bias that a
/// model of a given shape leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct TableBias {
    /// Incidences of the nodes, ascending and above zero, rad.
    pub incidences: Vec<f64>,
    /// Bias $w_i$ at each node, m.
    pub biases: Vec<f64>,
}

/// Incidences of the nodes of [`TableBias::standard`], degrees.
const NODES: [f64; 9] = [20.0, 35.0, 50.0, 60.0, 67.5, 72.5, 77.5, 81.0, 84.0];

impl TableBias {
    /// No bias, with nodes from 20 to 84 degrees, denser where the bias of a receiver is steep.
    pub fn standard() -> Self {
        Self::zero(NODES.map(f64::to_radians).to_vec())
    }

    /// No bias, with nodes at the given incidences, rad.
    pub fn zero(incidences: Vec<f64>) -> Self {
        let biases = vec![0.0; incidences.len()];
        Self { incidences, biases }
    }

    pub(super) fn bias(&self, incidence: f64) -> f64 {
        let terms = (0..self.biases.len()).map(|node| self.hat(node, incidence));
        terms.zip(&self.biases).map(|(hat, bias)| hat * bias).sum()
    }

    pub(super) fn slopes(&self, incidence: f64, slopes: &mut [f64]) {
        for (node, slope) in slopes.iter_mut().take(self.biases.len()).enumerate() {
            *slope = -self.hat(node, incidence);
        }
    }

    /// Hat function of a node: 1 at its incidence, 0 at the adjacent ones.
    fn hat(&self, node: usize, incidence: f64) -> f64 {
        let centre = self.incidences[node];
        if incidence <= centre {
            let below = node.checked_sub(1).map_or(0.0, |i| self.incidences[i]);
            return ((incidence - below) / (centre - below)).max(0.0);
        }
        match self.incidences.get(node + 1) {
            Some(above) => ((above - incidence) / (above - centre)).max(0.0),
            None => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_linear_between_its_nodes_and_constant_beyond() {
        let table = TableBias {
            incidences: vec![0.5, 1.0],
            biases: vec![0.01, -0.03],
        };
        for (incidence, expected) in [
            (0.0, 0.0),
            (0.25, 0.005),
            (0.5, 0.01),
            (0.75, -0.01),
            (1.0, -0.03),
            (1.5, -0.03),
        ] {
            let bias = table.bias(incidence);
            assert!((bias - expected).abs() < 1e-15, "{incidence}: {bias}");
        }
    }
}
