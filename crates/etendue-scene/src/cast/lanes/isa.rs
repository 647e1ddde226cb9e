//! The instruction sets and their choice at run time.

use super::{Lanes, plain::Plain};
use std::fmt;
use std::str::FromStr;

/// Which vector instructions cast rays. The answers are the same, bit for bit, with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// No special instructions: any processor.
    Plain,
    /// 64-bit ARM.
    Neon,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, VL, DQ and BW.
    Avx512,
}

impl Isa {
    /// All of them, slowest first.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Neon, Self::Avx2, Self::Avx512];

    /// The fastest that this processor has.
    pub fn detect() -> Self {
        let mut found = Self::ALL.into_iter().filter(|isa| isa.is_available());
        found.next_back().unwrap_or(Self::Plain)
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The name [`Isa::from_str`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A word that names no instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no instruction set is called \"{name}\"; known are plain, neon, avx2 and avx512")]
pub struct UnknownIsa {
    /// The word.
    pub name: String,
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Self, UnknownIsa> {
        let known = Self::ALL.into_iter().find(|isa| isa.name() == name);
        known.ok_or_else(|| UnknownIsa {
            name: name.to_owned(),
        })
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
}

/// Work written once for every instruction set. `run` and all it calls with lanes must be inlined.
pub(crate) trait Job {
    type Output;
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Loops that the compiler turns into vector instructions by itself, see
/// [`Scene::vectorised`](crate::Scene::vectorised). `run` and what it calls in loops must be inlined.
pub trait Loops {
    /// What comes out.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// [`Loops`] as a [`Job`] that takes no lanes.
pub(crate) struct Plainly<W>(pub W);

impl<W: Loops> Job for Plainly<W> {
    type Output = W::Output;

    #[inline(always)]
    fn run<L: Lanes>(self) -> W::Output {
        self.0.run()
    }
}

/// An instruction set that this processor was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen(Isa);

impl Chosen {
    /// The wanted one, or plain instructions where the processor lacks it.
    pub fn new(wanted: Isa) -> Self {
        Self(if wanted.is_available() {
            wanted
        } else {
            Isa::Plain
        })
    }

    pub fn isa(self) -> Isa {
        self.0
    }
}

/// Does the job with the chosen instructions.
#[inline]
pub(crate) fn run<J: Job>(chosen: Chosen, job: J) -> J::Output {
    match chosen.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Chosen` holds this only where the processor has the function's features.
        Isa::Avx512 => unsafe { run_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Chosen` holds this only where the processor has the function's features.
        Isa::Avx2 => unsafe { run_avx2(job) },
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => job.run::<super::neon::Neon>(),
        _ => job.run::<Plain>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<J: Job>(job: J) -> J::Output {
    job.run::<super::avx2::Avx2>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx512<J: Job>(job: J) -> J::Output {
    job.run::<super::avx512::Avx512>()
}
