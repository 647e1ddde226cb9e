//! The thread that simulates whole sweeps, so that edits go on meanwhile.

use crate::refusal::Refusal;
use crate::session::{SweepTask, WholeSweep};
use etendue::sensors::lidar::{Sweep, SweepScratch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The end of a simulation.
pub struct Ended {
    /// Revision of the inputs.
    pub revision: u64,
    /// Its stop, by which simulations differ.
    stop: Arc<AtomicBool>,
    /// The sweep; `None` if it was stopped.
    pub sweep: Result<Option<WholeSweep>, Refusal>,
}

struct Order {
    task: SweepTask,
    /// Memory for the sweep.
    memory: Sweep,
    stop: Arc<AtomicBool>,
}

/// A handle of the thread, which ends with it.
pub struct Simulator {
    orders: Sender<Order>,
    /// Revision of the sweep that is simulated, and its stop.
    running: Option<(u64, Arc<AtomicBool>)>,
}

impl Simulator {
    /// Starts the thread; `send` gets the end of each simulation.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(send: impl Fn(Ended) + Send + 'static) -> Result<Self, Refusal> {
        let (orders, waiting) = channel();
        let thread = std::thread::Builder::new().name("whole sweeps".into());
        let thread = thread.spawn(move || run(&waiting, send));
        thread.map_err(|error| Refusal::no_thread(&error))?;
        Ok(Self {
            orders,
            running: None,
        })
    }

    /// Revision of the sweep that is simulated and was not stopped.
    pub fn running(&self) -> Option<u64> {
        self.running.as_ref().map(|(revision, _)| *revision)
    }

    /// Simulates a sweep in place of the running one.
    pub fn simulate(&mut self, task: SweepTask, memory: Sweep) {
        self.stop();
        let stop = Arc::<AtomicBool>::default();
        self.running = Some((task.revision, stop.clone()));
        let order = Order { task, memory, stop };
        // The thread ends after this handle
        let _ = self.orders.send(order);
    }

    /// Stops the running sweep.
    pub fn stop(&mut self) {
        if let Some((_, stop)) = self.running.take() {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Notes the end of a simulation.
    pub fn note(&mut self, ended: &Ended) {
        self.running
            .take_if(|(_, stop)| Arc::ptr_eq(stop, &ended.stop));
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(waiting: &Receiver<Order>, send: impl Fn(Ended)) {
    let (mut memory, mut scratch) = (Sweep::default(), SweepScratch::default());
    for order in waiting {
        // The memory of a stopped sweep is used again
        if memory.shots.is_empty() {
            memory = order.memory;
        }
        let (revision, stop) = (order.task.revision, order.stop);
        let sweep = order.task.simulate(&mut memory, &mut scratch, &stop);
        send(Ended {
            revision,
            stop,
            sweep,
        });
    }
}
