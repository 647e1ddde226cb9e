//! Instruction sets and their choice at run time.

use crate::lanes::{Kernel, Lanes, plain};
use std::fmt;
use std::str::FromStr;

/// An instruction set that the running processor supports.
///
/// Results are the same, bit for bit, with each. Values exist only for supported instruction sets:
/// [`Isa::detect`] gives the fastest, [`Isa::available`] all, and parsing a name fails where the
/// processor lacks it.
///
/// ```
/// use etendue_simd::Isa;
///
/// let plain: Isa = "plain".parse()?;
/// assert_eq!(plain, Isa::PLAIN);
/// assert!(Isa::available().contains(&Isa::detect()));
/// assert!("sse9".parse::<Isa>().is_err());
/// # Ok::<(), etendue_simd::IsaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Isa(InstructionSet);

/// An instruction set, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum InstructionSet {
    /// The compiler's baseline: any processor.
    Plain,
    /// 64-bit ARM.
    Neon,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, VL, DQ and BW.
    Avx512,
}

/// Why a name gives no [`Isa`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IsaError {
    /// No instruction set has this name.
    #[error("no instruction set is called \"{name}\"; the names are plain, neon, avx2 and avx512")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The processor lacks the instruction set.
    #[error("this processor does not support {name}; it supports {supported}")]
    Unavailable {
        /// The instruction set's name.
        name: &'static str,
        /// The names of those it supports.
        supported: String,
    },
}

impl InstructionSet {
    const ALL: [Self; 4] = [Self::Plain, Self::Neon, Self::Avx2, Self::Avx512];

    fn is_available(self) -> bool {
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

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl Isa {
    /// No special instructions: every processor supports it.
    pub const PLAIN: Self = Self(InstructionSet::Plain);

    /// The fastest that this processor supports. The processor's features are read once per
    /// process, so that this is cheap to call.
    pub fn detect() -> Self {
        let mut fastest_first = InstructionSet::ALL.into_iter().rev();
        fastest_first
            .find(|set| set.is_available())
            .map_or(Self::PLAIN, Self)
    }

    /// All that this processor supports, slowest first.
    pub fn available() -> Vec<Self> {
        let supported = InstructionSet::ALL.into_iter();
        supported
            .filter(|set| set.is_available())
            .map(Self)
            .collect()
    }

    /// The name that [`Isa::from_str`] reads.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Runs loops that the compiler vectorises for this instruction set.
    #[inline]
    pub fn run<V: Vectorized>(self, work: V) -> V::Output {
        self.run_kernel(Loops(work))
    }

    /// Runs code that is written with this instruction set's vectors.
    #[inline]
    pub fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => crate::lanes::avx512::Avx512::call(kernel),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => crate::lanes::avx2::Avx2::call(kernel),
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => crate::lanes::neon::Neon::call(kernel),
            _ => plain::Plain::call(kernel),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        let mut all = InstructionSet::ALL.into_iter();
        let Some(set) = all.find(|set| set.name() == name) else {
            return Err(IsaError::Unknown { name: name.into() });
        };
        if set.is_available() {
            return Ok(Self(set));
        }
        let supported: Vec<&str> = Self::available().into_iter().map(Self::name).collect();
        Err(IsaError::Unavailable {
            name: set.name(),
            supported: supported.join(", "),
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

/// Loops over arrays that the compiler vectorises, run by [`Isa::run`].
///
/// `run` and the functions that it calls in loops must be `#[inline(always)]`: only code that is
/// inlined is compiled for the instruction set.
pub trait Vectorized {
    /// The result.
    type Output;

    /// Runs the loops.
    fn run(self) -> Self::Output;
}

/// A [`Vectorized`] as a [`Kernel`] that uses no explicit vectors.
struct Loops<V>(V);

impl<V: Vectorized> Kernel for Loops<V> {
    type Output = V::Output;

    #[expect(
        clippy::inline_always,
        reason = "code must land in a function compiled for the instruction set"
    )]
    #[inline(always)]
    fn run<L: Lanes>(self) -> V::Output {
        self.0.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the products of eight lanes with explicit vectors.
    struct Dot([f32; 8], [f32; 8]);

    impl Kernel for Dot {
        type Output = f32;

        fn run<L: Lanes>(self) -> f32 {
            use crate::Float;
            let products = L::F8::load(&self.0).mul(L::F8::load(&self.1));
            products.to_array().iter().sum()
        }
    }

    #[test]
    fn every_available_instruction_set_gives_the_same_result() {
        let available = Isa::available();
        assert_eq!(available[0], Isa::PLAIN);
        for isa in available {
            let dot = Dot([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0.5; 8]);
            assert_eq!(isa.run_kernel(dot), 18.0, "{isa}");
        }
    }

    #[test]
    fn a_name_is_read_back_and_other_names_are_refused() {
        for isa in Isa::available() {
            assert_eq!(isa.name().parse(), Ok(isa));
        }
        let missing = if cfg!(target_arch = "x86_64") {
            "neon"
        } else {
            "avx2"
        };
        assert!(matches!(
            missing.parse::<Isa>(),
            Err(IsaError::Unavailable { .. })
        ));
        assert!(matches!(
            "mmx".parse::<Isa>(),
            Err(IsaError::Unknown { .. })
        ));
    }
}
