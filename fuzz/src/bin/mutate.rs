//! Changes the seeds of every target at random and reads the result.
//!
//! ```text
//! mutate SECONDS [TARGET...]     # at least 100 inputs of each target, for SECONDS together on all processors
//! mutate SECONDS --corpus FOLDER [TARGET...]     # the files in FOLDER/TARGET are seeds, too
//! mutate --seeds FOLDER          # writes seeds, kept inputs and dictionaries: FOLDER/TARGET/*, FOLDER/TARGET.dict
//! mutate --keep FOLDER           # packs the files of FOLDER/TARGET into the kept inputs of each target
//! mutate --list                  # names of the targets
//! ```
//!
//! The inputs depend on the number of the input only. A panic is printed with the number of its input and
//! the name of a file that contains it. An input that takes more than five seconds is a failure.

use etendue_fuzz::{Target, targets};
use std::fs;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Longest time of one input.
const LIMIT: Duration = Duration::from_secs(5);

/// Inputs of each target, whatever the time.
const LEAST: u64 = 100;

fn main() -> ExitCode {
    // The first argument is the name of the program
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => {
            targets()
                .iter()
                .for_each(|target| println!("{}", target.name));
            ExitCode::SUCCESS
        }
        ["--seeds", folder] => {
            targets()
                .iter()
                .for_each(|target| write_seeds(target, Path::new(folder)));
            ExitCode::SUCCESS
        }
        ["--keep", folder] => {
            targets()
                .iter()
                .for_each(|target| keep(target, Path::new(folder)));
            ExitCode::SUCCESS
        }
        [seconds, ref rest @ ..] => {
            let (corpus, names) = match rest {
                ["--corpus", folder, names @ ..] => (Some(Path::new(folder)), names),
                names => (None, names),
            };
            let seconds: f64 = seconds.parse().expect("a number of seconds");
            let chosen = |target: &Target| names.is_empty() || names.contains(&target.name);
            let chosen: Vec<Target> = targets().into_iter().filter(chosen).collect();
            let results = run_all(&chosen, corpus, seconds);
            let inputs: u64 = results.iter().map(|(_, result)| result.inputs).sum();
            let failures: u64 = results.iter().map(|(_, result)| result.failures).sum();
            let slowest = results
                .iter()
                .map(|(_, result)| result.slowest)
                .max()
                .unwrap_or_default();
            for (target, result) in &results {
                println!(
                    "{}: {} inputs, slowest {:.1?}",
                    target.name, result.inputs, result.slowest
                );
            }
            println!(
                "{inputs} inputs of {} targets, {failures} failures, slowest {slowest:.1?}",
                chosen.len()
            );
            if failures == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        [] => panic!("give the number of seconds"),
    }
}

/// Writes the seeds and the dictionary of a target in the form of libFuzzer.
fn write_seeds(target: &Target, folder: &Path) {
    let own = folder.join(target.name);
    fs::create_dir_all(&own).expect("a folder for the seeds");
    for (number, seed) in seeds(target, None).iter().enumerate() {
        fs::write(own.join(format!("seed-{number}")), seed).expect("writes a seed");
    }
    let escaped = |word: &&str| {
        let letters = word.bytes().map(|byte| format!("\\x{byte:02x}"));
        format!("\"{}\"\n", letters.collect::<String>())
    };
    let words: String = target.words.iter().map(escaped).collect();
    fs::write(folder.join(format!("{}.dict", target.name)), words).expect("writes a dictionary");
}

/// File with the kept inputs of a target: for each its length, in two bytes (little endian), and its bytes.
fn kept_file(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("inputs")
        .join(target.name)
}

/// Packs the files of a folder, in the order of their names, into the kept inputs of a target.
fn keep(target: &Target, folder: &Path) {
    let mut packed = Vec::new();
    for input in files(&folder.join(target.name)) {
        let length = u16::try_from(input.len()).expect("kept inputs are short");
        packed.extend(length.to_le_bytes());
        packed.extend(input);
    }
    let file = kept_file(target);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder for the inputs");
    fs::write(file, packed).expect("writes the inputs");
}

/// The kept inputs of a target.
fn kept(target: &Target) -> Vec<Vec<u8>> {
    let packed = fs::read(kept_file(target)).unwrap_or_default();
    let mut rest = &packed[..];
    let mut inputs = Vec::new();
    while let [low, high, after @ ..] = rest {
        let (input, next) = after.split_at(u16::from_le_bytes([*low, *high]).into());
        inputs.push(input.to_vec());
        rest = next;
    }
    inputs
}

/// The files of a folder in the order of their names.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|file| file.path()).collect();
    paths.sort();
    let read = |path| fs::read(path).expect("reads an input");
    paths.into_iter().map(read).collect()
}

struct Outcome {
    inputs: u64,
    failures: u64,
    slowest: Duration,
}

/// The seeds of a target, its kept inputs, and the files of its folder in a corpus.
fn seeds(target: &Target, corpus: Option<&Path>) -> Vec<Vec<u8>> {
    let corpus = corpus.map(|corpus| files(&corpus.join(target.name)));
    let corpus = corpus.into_iter().flatten();
    (target.seeds)()
        .into_iter()
        .chain(kept(target))
        .chain(corpus)
        .collect()
}

/// Runs the targets on all processors: each processor has every n-th target, and each target the same share of the time.
fn run_all<'a>(
    chosen: &'a [Target],
    corpus: Option<&Path>,
    seconds: f64,
) -> Vec<(&'a Target, Outcome)> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let share = Duration::from_secs_f64(seconds * processors as f64 / chosen.len() as f64);
    let part = |first| -> Vec<_> {
        // Every n-th target from `first` on: the processors share the targets, and none is left out.
        let targets = chosen.iter().skip(first).step_by(processors);
        targets
            .map(|target| (target, run(target, corpus, share)))
            .collect()
    };
    thread::scope(|scope| {
        let part = &part;
        let threads: Vec<_> = (0..processors)
            .map(|first| scope.spawn(move || part(first)))
            .collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("panics of targets are caught"));
        results.flatten().collect()
    })
}

/// Reads changed seeds of a target for a time.
fn run(target: &Target, corpus: Option<&Path>, time: Duration) -> Outcome {
    let seeds = seeds(target, corpus);
    let mut outcome = Outcome {
        inputs: 0,
        failures: 0,
        slowest: Duration::ZERO,
    };
    let begun = Instant::now();
    // Every seed itself is an input
    let least = LEAST.max(seeds.len() as u64);
    while outcome.inputs < least || begun.elapsed() < time {
        let number = outcome.inputs;
        let input = input(&seeds, target.words, number);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        let elapsed = start.elapsed();
        outcome.inputs += 1;
        outcome.slowest = outcome.slowest.max(elapsed);
        if result.is_err() || elapsed > LIMIT {
            outcome.failures += 1;
            let path = std::env::temp_dir().join(format!("etendue-{}-{number}", target.name));
            fs::write(&path, &input).expect("writes the input");
            println!(
                "{}: input {number} of {} bytes: {elapsed:.1?}: {}",
                target.name,
                input.len(),
                path.display()
            );
            if outcome.failures > 5 {
                break;
            }
        }
    }
    outcome
}

/// The seed itself for the first inputs, then a seed with one to eight changes.
fn input(seeds: &[Vec<u8>], words: &[&str], number: u64) -> Vec<u8> {
    let mut random = Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    let Some(seed) = seeds.get(number as usize) else {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(8) {
            change(&mut bytes, seeds, words, &mut random);
        }
        return bytes;
    };
    seed.clone()
}

/// Numbers at the limits of their types.
const LIMITS: [u64; 10] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    u64::MAX / 2,
    u64::MAX,
];

/// Decimal numbers at the limits of their types.
const NUMBERS: [&str; 8] = [
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "4294967295",
    "18446744073709551615",
    "1e-308",
];

/// Applies one change.
fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(9) {
        // A bit, a byte, or a number at a limit
        0 => flip(bytes, at, random),
        1 => replace(bytes, at, &[random.byte()]),
        2 | 3 => {
            let number = LIMITS[random.below(LIMITS.len())].to_le_bytes();
            replace(bytes, at, &number[..1 << random.below(4)]);
        }
        // The end of the file, or a part of it
        4 => bytes.truncate(at),
        5 => {
            let end = (at + random.below(64)).min(bytes.len());
            bytes.drain(at..end);
        }
        // Inserted words, numbers and parts of other seeds
        6 if !words.is_empty() => insert(bytes, at, words[random.below(words.len())].as_bytes()),
        7 => insert(bytes, at, NUMBERS[random.below(NUMBERS.len())].as_bytes()),
        _ => {
            let other = &seeds[random.below(seeds.len())];
            let start = random.below(other.len() + 1);
            let end = (start + random.below(256)).min(other.len());
            insert(bytes, at, &other[start..end]);
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn replace(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(with) {
        *byte = *new;
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.splice(at..at, new.iter().copied());
}

/// SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}
