//! Number of worker threads of a command.

use crate::failure::Failure;
use clap::Args;
use std::num::NonZeroUsize;

/// Worker threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Worker threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZeroUsize>,
}

/// Number of threads of an argument.
fn at_least_one(argument: &str) -> Result<NonZeroUsize, String> {
    argument
        .parse()
        .map_err(|_| "--threads is a whole number of at least 1".into())
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
