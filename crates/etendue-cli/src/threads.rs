//! Number of worker threads of a command.

use crate::failure::Failure;
use clap::Args;
use std::num::NonZeroUsize;

/// Worker threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Worker threads; without it, one per processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Threads {
    /// Runs a function on this number of threads.
    pub fn install<R: Send>(
        self,
        command: impl FnOnce() -> Result<R, Failure> + Send,
    ) -> Result<R, Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()?.install(command)
    }
}
