//! `etendue studio`.

use crate::desktop;
use crate::failure::Failure;
use crate::output::{print, remark, warn};
use crate::pose::Pose;
use crate::threads::Threads;
use clap::Args;
use etendue_studio::session::pose::to_numbers;
use etendue_studio::{Opening, Refusal, StudioOptions};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Arguments of `etendue studio`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue studio\n          \
    etendue studio glass-door --sensor velodyne-vlp-16\n          \
    etendue studio patio --sensor ouster-os1-128\n          \
    etendue studio examples/cart.toml\n          \
    etendue studio examples/street.toml --trajectory examples/street.tum\n          \
    etendue studio --foxglove\n\n\
    The page is open until Ctrl-C. Its address contains a secret of the session; the server listens on this \
    computer only, unless --listen gives another address.")]
pub struct Studio {
    /// Scene file (.toml) or the name of a built-in scene, a robot file or a noise profile (.toml)
    /// [default: the built-in arena with a mirror and a glass pane]
    scene: Option<String>,
    /// Name of a preset (see `etendue sensors`) or a sensor file (.toml) [default: the sensor of the
    /// scene file, else hokuyo-urg-04lx]
    #[arg(long, value_name = "PRESET|FILE")]
    sensor: Option<String>,
    /// Pose of the sensor: x,y,z,yaw[,pitch,roll] in metres and degrees [default: the pose in the
    /// scene file]
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// Trajectory of the sensor: a TUM file (time x y z qx qy qz qw per line) or a KITTI file (twelve
    /// numbers per line, 0.1 s apart)
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    trajectory: Option<PathBuf>,
    /// Source of scans of a panel for the tab Aim: a recording, or the output of a driver: - (standard
    /// input), host:port, a device or a pipe
    #[arg(long, value_name = "FILE|DEVICE", allow_hyphen_values = true)]
    aim: Option<String>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Port of the page; 0 for any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Address on which the server listens
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    listen: IpAddr,
    /// Serve the topics and parameters to Foxglove too: prints the address for its WebSocket connection
    #[arg(long)]
    foxglove: bool,
    /// Print the address of the page without opening a browser
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    threads: Threads,
}

impl Studio {
    /// Serves the page until Ctrl-C.
    pub fn run(self) -> Result<(), Failure> {
        self.threads.install_globally()?;
        // Load the scene
        let opening = Opening {
            scene: self.scene.clone(),
            sensor: self.sensor.clone(),
            pose: self
                .pose
                .as_ref()
                .map(|pose| to_numbers(&pose.world_from_sensor)),
            trajectory: self.trajectory.clone(),
            seed: self.seed,
            aim: self.aim.clone(),
        };
        let options = StudioOptions {
            address: self.listen,
            port: self.port,
            foxglove: self.foxglove,
        };
        let studio = etendue_studio::Studio::open(&opening, &options)?;

        // Announce the page
        if !self.listen.is_loopback() {
            warn([
                "other computers can reach the page: who has its address can edit the opened files",
            ]);
        }
        if !etendue_studio::Studio::has_page() {
            warn([
                "this program was built without the page of the studio: build it with `just studio`, which needs Node",
            ]);
        }
        print(&format!("{}\n", studio.url()))?;
        if let Some(url) = studio.foxglove_url() {
            print(&format!("{url}\n"))?;
        }
        remark("Ctrl-C ends the studio");
        if !self.no_open {
            let is_open = desktop::open(studio.url());
            if !is_open {
                remark("no browser was found: open the address above");
            }
        }
        Ok(studio.run()?)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::usage(refusal.message, refusal.remedy)
    }
}
