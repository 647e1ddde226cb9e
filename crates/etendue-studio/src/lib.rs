//! `etendue studio`: a local page that shows a scene, its sensor and the scan, and edits them.
//!
//! [`Studio::open`] loads a scene by the readers of the command line and binds a port of this computer;
//! [`Studio::run`] serves the page until it is stopped. The page sends edits (JSON over a WebSocket), each of which
//! changes one value of the scene or sensor file, the pose, the weather or the seed. A thread that owns the
//! [session] applies them, has them simulated by the pipeline of `etendue simulate`, and publishes the newest
//! sweep (binary) and the newest state (JSON) to all pages. The command line that a session exports makes the
//! same sweep, bit for bit.
//!
//! The page is built from `page/` by Node (`just studio`) and embedded; without it the server answers with a
//! note of how to build it.
//!
//! # Security
//!
//! The server listens on loopback unless another address is given. All paths begin with a random token of the
//! session; requests with a foreign `Host` or `Origin` are refused. Pages name files only inside the folders of the
//! scene, the sensor, `ETENDUE_DATA` and their own uploads, and write only the files that are open. Messages are
//! bounded, and malformed ones are answered with an error. Foxglove, which is a page of another server, may connect if
//! [`StudioOptions::foxglove`] is set, with the token.
//!
//! ```no_run
//! use etendue_studio::{Opening, Studio, StudioOptions};
//!
//! let opening = Opening { seed: 1, ..Opening::default() };
//! let studio = Studio::open(&opening, &StudioOptions::default())?;
//! println!("{}", studio.url());
//! studio.run()?;
//! # Ok::<(), etendue_studio::Refusal>(())
//! ```

mod aim;
mod answer;
mod background;
mod foxglove;
mod message;
mod recording;
mod refusal;
mod robot;
mod server;
pub mod session;
mod simulator;
mod worker;

pub use foxglove::LiveServer;
pub use refusal::Refusal;
pub use server::{Studio, StudioOptions};
pub use session::Opening;
