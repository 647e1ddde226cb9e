//! Depth models in files.

use etendue_calibrate::depth::{
    DepthModel, InverseCosineBias, LinearBias, PolynomialBias, PosePrior, ScanSignature, TableBias,
    WaveformBias,
};
use etendue_config::depth_model::{HeldOutThickness, Learnt, LearntModel, LearntStatus, parse};
use etendue_config::toml_file::Document;
use nalgebra::DMatrix;

fn models() -> Vec<DepthModel> {
    vec![
        DepthModel::Polynomial(PolynomialBias::scaled([0.1 / 3.0, -1e-7])),
        DepthModel::Linear(LinearBias {
            depth: 0.01,
            incidence: -0.02,
            constant: 1.0 / 3.0,
        }),
        DepthModel::InverseCosine(InverseCosineBias {
            weight: -0.004,
            scaled: true,
        }),
        DepthModel::Waveform(WaveformBias::START),
        DepthModel::Table(TableBias {
            incidences: vec![1.0 / 3.0, 1.2],
            biases: vec![0.001, -0.02 / 3.0],
            slopes: vec![0.0, -0.001],
        }),
    ]
}

fn statuses() -> [LearntStatus; 3] {
    [
        LearntStatus::Usable,
        LearntStatus::NotDetermined(vec!["the \"poses\" drift".into(), "too few".into()]),
        LearntStatus::Untested,
    ]
}

#[test]
fn what_is_written_is_read_back_to_the_last_digit() {
    for (model, status) in models().into_iter().zip(statuses().into_iter().cycle()) {
        let count = model.weight_count();
        let written = LearntModel {
            sensor: "an \"OS0\"".into(),
            learnt: Some(Learnt {
                status,
                hold_out: Some(HeldOutThickness {
                    before: 0.01 / 3.0,
                    after: 0.003,
                    improvement: 0.1,
                    improvement_sd: 0.02,
                }),
                poses: Some(PosePrior {
                    position: 0.01,
                    rotation: 0.0,
                }),
                scans: 8,
                neighbourhoods: 9000,
                verdict: "the bias is determined".into(),
                covariance: DMatrix::from_fn(count, count, |i, j| 1e-9 / (1 + i + j) as f64),
                noise: 0.01 / 3.0,
                depth: 7.1,
                seen: [0.0, 80_f64.to_radians()],
                determined: None,
                incidences: vec![1; 18],
                signature: ScanSignature {
                    elevations: [-45_f64.to_radians(), 45_f64.to_radians()],
                    points: 131_072,
                },
            }),
            model,
        };
        let read = parse(&Document::new("model.toml", written.text())).unwrap();
        assert_eq!(read, written);
    }
}

#[test]
fn models_that_cannot_be_are_pointed_at() {
    let error = |text: &str| {
        parse(&Document::new("m.toml", text))
            .unwrap_err()
            .to_string()
    };
    assert!(
        error("version = 3\n[model.linear]\ndepth = 0\nincidence_m_per_rad = 0\nconstant_m = 0\n")
            .contains("version 3")
    );
    assert!(
        error("version = 1\n[model.polynomial]\nexponents = [2, 4]\nweights = [1]\n")
            .contains("exponents and weights differ")
    );
    let waveform =
        "version = 1\n[model.waveform]\npulse_sd_m = 0\nangular_sd_rad = 1e-3\nfraction = 0.5\n";
    assert!(error(waveform).contains("not positive"));
    assert!(error("version = 1\n[model.polynomal]\nweights = [1]\n").starts_with("m.toml:2:"));
}

/// A file of version 1 has no verdict: its trained model is untested, one without `[learnt]` is not.
#[test]
fn trained_models_of_version_1_are_untested() {
    let model = "[model.linear]\ndepth = 0\nincidence_m_per_rad = 0\nconstant_m = 0\n";
    let learnt = "[learnt]\nverdict = \"determined\"\nscans = 8\nneighbourhoods = 9\n\
                  covariance = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nnoise_m = 0.01\n\
                  median_depth_m = 2\nseen_deg = [0, 80]\nincidences = []\n\
                  elevations_deg = [-45, 45]\npoints = 1000\n";
    let read = |text: String| parse(&Document::new("m.toml", text)).expect("a model");
    let trained = read(format!("version = 1\n{model}{learnt}")).learnt;
    assert_eq!(trained.map(|l| l.status), Some(LearntStatus::Untested));
    assert_eq!(read(format!("version = 1\n{model}")).learnt, None);
}
