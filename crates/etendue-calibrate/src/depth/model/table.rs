//! Tabulated model of the depth bias.

/// Bias that is piecewise linear in the incidence and linear in the depth,
/// $\epsilon = \sum_i h_i(\gamma)\,(b_i + s_i\,d)$ with the hat functions $h_i$ of the nodes: zero at normal
/// incidence, constant beyond the last node.
///
/// It assumes no shape over the incidence. Trained on the same map, it measures the bias that a model of a given
/// shape leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct TableBias {
    /// Incidences of the nodes, ascending and above zero, rad.
    pub incidences: Vec<f64>,
    /// Constant part $b_i$ of the bias at each node, m.
    pub biases: Vec<f64>,
    /// Increase $s_i$ of the bias with the depth at each node.
    pub slopes: Vec<f64>,
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
        let zeros = vec![0.0; incidences.len()];
        Self {
            incidences,
            biases: zeros.clone(),
            slopes: zeros,
        }
    }

    /// Weights: the constant parts, then the slopes.
    pub(super) fn weights(&self) -> Vec<f64> {
        [&self.biases[..], &self.slopes].concat()
    }

    pub(super) fn set_weights(&mut self, weights: &[f64]) {
        let (biases, slopes) = weights.split_at(self.biases.len());
        self.biases.copy_from_slice(biases);
        self.slopes.copy_from_slice(slopes);
    }

    pub(super) fn bias(&self, depth: f64, incidence: f64) -> f64 {
        let [constant, slope] = self.parts(incidence);
        constant + slope * depth
    }

    pub(super) fn distort(&self, depth: f64, incidence: f64) -> f64 {
        let [constant, slope] = self.parts(incidence);
        (depth + constant) / (1.0 - slope)
    }

    /// Derivatives of the corrected depth by the weights.
    pub(super) fn derivatives(&self, depth: f64, incidence: f64, derivatives: &mut [f64]) {
        let count = self.biases.len();
        for node in 0..count {
            let hat = self.hat(node, incidence);
            derivatives[node] = -hat;
            derivatives[count + node] = -hat * depth;
        }
    }

    /// Constant part and slope at an incidence.
    fn parts(&self, incidence: f64) -> [f64; 2] {
        let nodes = self.biases.iter().zip(&self.slopes).enumerate();
        nodes.fold([0.0; 2], |[constant, slope], (node, (b, s))| {
            let hat = self.hat(node, incidence);
            [constant + hat * b, slope + hat * s]
        })
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
            slopes: vec![0.0, 0.001],
        };
        for (incidence, expected) in [
            (0.0, 0.0),
            (0.25, 0.005),
            (0.5, 0.01),
            (0.75, -0.009),
            (1.0, -0.028),
            (1.5, -0.028),
        ] {
            let bias = table.bias(2.0, incidence);
            assert!((bias - expected).abs() < 1e-15, "{incidence}: {bias}");
        }
    }
}
