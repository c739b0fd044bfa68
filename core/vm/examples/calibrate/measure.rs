//! How a program's cycles are timed.

use cowboy_vm::{Entry, Exit, HostValue, Image, Limits, Unit, Vm, compile, script_image};
use rustix::time::ClockId;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Cycles that a setup may use.
const SETUP: u64 = 1 << 25;
/// Nanoseconds for which a whole program is repeated.
const LONG_ENOUGH: f64 = 2e6;
/// Nanoseconds of processor time after which one measurement means that something is hardly charged at all: that is the finding, and the bench ends.
const STUCK: f64 = 30e9;

/// What a cycle of a program takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Nanoseconds a cycle: the middle of the rounds, at the computer's fastest speed.
    pub(crate) time: f64,
    /// The same by the modelled execution times.
    pub(crate) weight: f64,
}

/// One measurement.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// The row's name.
    pub(crate) name: String,
    /// A short name of what ran.
    pub(crate) program: String,
    /// The whole program, with its mark.
    pub(crate) whole: String,
    /// What it takes.
    pub(crate) cost: Cost,
}

/// Nanoseconds that this thread has been running on a processor: what others do meanwhile does not count.
fn processor_time() -> f64 {
    clock(ClockId::ThreadCPUTime)
}

fn clock(which: ClockId) -> f64 {
    let time = rustix::time::clock_gettime(which);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// A bit of everything, so that it is slowed down as programs are: by what takes caches away, too.
const REFERENCE: &str = "\
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)
def work(turns):
    table, words = {}, []
    total = Point(0, 0.5)
    for turn in range(turns):
        total = total + Point(turn, 1.5)
        table[turn % 50, 'key'] = [turn, str(turn)]
        words.append(f'{turn:>5}')
        try:
            int(words[-1] if turn % 9 else 'x')
        except ValueError:
            words.sort()
    return total.x, sorted(table), ','.join(words).split(',')
work(250)
";

/// Nanoseconds of some fixed work, which others on the same machine make slower as they make everything slower.
fn reference_time(fixed: &Arc<Unit>) -> f64 {
    let begin = processor_time();
    let mut vm = Vm::start(script_image(fixed), Entry::Script, Limits::default());
    let exit = vm.run();
    let time = processor_time() - begin;
    assert!(matches!(exit, Exit::Return(_)), "the fixed work is done");
    time
}

/// One run of a program, to its end: what it weighs.
pub(crate) fn run_whole(image: &Arc<Image>) -> u64 {
    let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(image.clone(), Entry::Script, limits);
    // However it ends: what it used is what counts.
    let _ = vm.run();
    vm.usage().weight_ns
}

/// What is being measured, and the processor time of the process when that began.
type Running = Arc<Mutex<Option<(f64, String)>>>;

/// A run of the bench.
pub(crate) struct Bench {
    end: Instant,
    /// The reference at the computer's fastest speed.
    quickest: f64,
    references: Vec<f64>,
    fixed: Arc<Unit>,
    running: Running,
}

impl Bench {
    /// `known` are microseconds in which the fixed work was done at some time: figures are those of the computer at that speed.
    pub(crate) fn new(known: u64) -> Self {
        let fixed = compile(REFERENCE, "reference.py").expect("it compiles");
        let quickest = (0..200).map(|_| reference_time(&fixed)).fold(if known == 0 { f64::MAX } else { known as f64 * 1e3 }, f64::min);
        let running: Running = Arc::default();
        let watched = Arc::clone(&running);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let running = watched.lock().expect("nobody panics with it");
                if let Some((_, program)) = running.as_ref().filter(|(since, _)| clock(ClockId::ProcessCPUTime) - since > STUCK) {
                    println!("A measurement does not end; what it does is hardly charged:\n\n{program}");
                    std::process::exit(1);
                }
            }
        });
        Self { end: Instant::now(), quickest, references: Vec::new(), fixed, running }
    }

    /// Gives the part that begins so much time.
    pub(crate) fn allow(&mut self, seconds: u64) {
        self.end = Instant::now() + Duration::from_secs(seconds);
    }

    /// Microseconds of the fixed work at the computer's fastest speed: it tells apart the computers of two runs.
    pub(crate) fn reference(&self) -> f64 {
        self.quickest / 1e3
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// How many times slower than at its fastest the computer was, in the median of the measurements.
    pub(crate) fn slowness(&self) -> f64 {
        let mut references = self.references.clone();
        references.sort_by(f64::total_cmp);
        references.get(references.len() / 2).map_or(1.0, |middle| middle / self.quickest)
    }

    /// Runs a compiled program beyond its mark, `rounds` times. None where it has no mark, or uses too little to be measured.
    pub(crate) fn measure(&mut self, unit: &Arc<Unit>, shown: &str, budget: u64, rounds: usize) -> Option<Cost> {
        *self.running.lock().expect("nobody panics with it") = Some((clock(ClockId::ProcessCPUTime), shown.to_owned()));
        let mut costs: Vec<Cost> = (0..rounds).map_while(|_| self.round(unit, budget)).collect();
        *self.running.lock().expect("nobody panics with it") = None;
        costs.sort_by(|one, other| one.time.total_cmp(&other.time));
        costs.get(costs.len().saturating_sub(1) / 2).copied()
    }

    /// Runs a program from its beginning to its end, for as long as one run can be told from none: nanoseconds of one, not
    /// scaled.
    pub(crate) fn whole(&mut self, image: &Arc<Image>) -> f64 {
        self.references.push(reference_time(&self.fixed));
        let (begin, mut turns) = (processor_time(), 0.0);
        loop {
            run_whole(image);
            turns += 1.0;
            let time = processor_time() - begin;
            if time >= LONG_ENOUGH {
                return time / turns;
            }
        }
    }

    /// What the quickest of the measurements so far has to be divided by, for the computer at its quickest.
    pub(crate) fn quickest_slowness(&self) -> f64 {
        self.references.iter().copied().fold(f64::MAX, f64::min) / self.quickest
    }

    fn round(&mut self, unit: &Arc<Unit>, budget: u64) -> Option<Cost> {
        let limits = Limits { cycles: SETUP, memory_bytes: 64 << 20, weight_ns: 1 << 50, ..Limits::default() };
        let mut vm = Vm::start(script_image(unit), Entry::Script, limits);
        if !matches!(vm.run(), Exit::HostCall(_)) {
            return None;
        }
        let left = SETUP.saturating_sub(vm.usage().cycles);
        vm.charge(left.saturating_sub(budget), 0, 0).ok()?;
        let start = vm.usage();
        let before = reference_time(&self.fixed);
        let begin = processor_time();
        let exit = vm.resume(Ok(HostValue::None));
        let time = processor_time() - begin;
        let reference = before.min(reference_time(&self.fixed));
        let used = vm.usage();
        if !matches!(exit, Exit::Return(_) | Exit::Raise(_) | Exit::Trap(_)) {
            return None;
        }
        let cycles = used.cycles.saturating_sub(start.cycles);
        // What ends by itself shows how quick a machine is that has just begun.
        if !matches!(exit, Exit::Trap(_)) && cycles < budget && time < 2e7 {
            return None;
        }
        self.quickest = self.quickest.min(reference);
        self.references.push(reference);
        let cycles = cycles.max(1) as f64;
        Some(Cost {
            time: time / cycles * self.quickest / reference,
            weight: used.weight_ns.saturating_sub(start.weight_ns) as f64 / cycles,
        })
    }
}
