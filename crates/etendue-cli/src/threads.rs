//! Number of worker threads of a command.

use crate::failure::Failure;
use crate::output::warn;
use clap::Args;
use std::num::NonZeroUsize;

/// Maximum number of threads for each processor: more of them wait and take memory.
const MAX_PER_PROCESSOR: usize = 8;

/// Worker threads.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Resources")]
pub struct Threads {
    /// Worker threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZeroUsize>,
}

/// Number of threads of an argument.
fn at_least_one(argument: &str) -> Result<NonZeroUsize, String> {
    argument
        .parse()
        .map_err(|_| "expected a whole number of at least 1".into())
}

impl Threads {
    /// Runs a function on this number of threads.
    pub fn install<R: Send>(
        self,
        command: impl FnOnce() -> Result<R, Failure> + Send,
    ) -> Result<R, Failure> {
        self.pool().build()?.install(command)
    }

    /// Makes this the number of threads of the process.
    #[cfg(feature = "studio")]
    pub fn install_globally(self) -> Result<(), Failure> {
        Ok(self.pool().build_global()?)
    }

    /// A pool of this number of threads; a warning where fewer are used.
    fn pool(self) -> rayon::ThreadPoolBuilder {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most = processors * MAX_PER_PROCESSOR;
        let requested = self.threads.map_or(0, NonZeroUsize::get);
        if requested > most {
            warn([format!(
                "--threads {requested}: {most} are used, {MAX_PER_PROCESSOR} for each processor"
            )]);
        }
        let threads = requested.min(most);
        rayon::ThreadPoolBuilder::new().num_threads(threads)
    }
}
