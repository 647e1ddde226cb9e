//! Answers to requests; those that take long are computed on threads of their own.

use super::Worker;
use super::job::{ComparisonRequest, Job, Request};
use crate::aim::{self, AimEvent, AimSource};
use crate::answer::{self, PictureRequest};
use crate::background;
use crate::foxglove;
use crate::message::mesh;
use crate::recording::fit::{self, Fit, FitEvent, UnknownRequest};
use crate::recording::{Comparison, Recording, compare};
use crate::refusal::Refusal;
use crate::session::{Document, PanelHintRequest, WholeSweep};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

impl Worker {
    pub(super) fn answer(&mut self, job: Job) {
        match job {
            Job::Request(Request::Panel(hint), answer) => self.find_panel(hint, answer),
            Job::Request(request, answer) => {
                let _ = answer.send(self.answer_of(&request));
            }
            Job::Mesh(number, answer) => {
                let _ = answer.send(self.meshes.get(number).map(|found| mesh::encode(&found)));
            }
            Job::Points(answer) => {
                let _ = answer.send(self.session.points());
            }
            Job::Record(sweeps, answer) => {
                let task = self.session.sweep_task();
                // Without a thread the answer is dropped, which the page sees as a failure
                let _ = background::start("recording", move || {
                    let _ = answer.send(background::compute(|| task.record_first(sweeps)));
                });
            }
            Job::Upload(name, bytes, answer) => {
                let gesture = self.own_gesture();
                let uploaded = self.session.upload(&name, bytes, gesture);
                let uploaded = uploaded.and_then(|uploaded| {
                    self.follow_robot().inspect_err(|_| {
                        // The robot is not opened
                        let _ = self.session.undo();
                    })?;
                    Ok(uploaded)
                });
                let _ = answer.send(uploaded.map(|uploaded| json!({ "upload": uploaded })));
            }
            Job::Picture(request, answer) => self.render(&request, answer),
            Job::Robot(query, answer) => {
                let robot = self.robot.as_ref();
                let _ = answer.send(robot.and_then(|robot| robot.answer(query)));
            }
            Job::Compare(request, answer) => self.compare(request, answer),
            Job::Parameters(answer) => {
                let _ = answer.send(foxglove::parameters(&self.session));
            }
            Job::Show => self.show(),
            Job::Simulated(ended) => self.take(*ended),
            Job::Recorded(recorded) => self.publish_recorded(recorded),
            Job::Panel(task, found) => self.session.keep_panel(&task, found),
            Job::End => {}
        }
    }

    /// Computes the message of a comparison on a thread of its own; `None` without a recorded scan of this number.
    fn compare(&self, request: ComparisonRequest, answer: oneshot::Sender<Option<Vec<u8>>>) {
        let Some(recording) = self.session.recording().cloned() else {
            let _ = answer.send(None);
            return;
        };
        let whole = self.session.whole().clone();
        let comparison = Comparison {
            world_from_sensor: whole.simulated.sweep.world_from_sensor,
            is_in_world: request.is_in_world,
            with_numbers: request.with_numbers,
        };
        let task = move || {
            let simulated = Recording::of_sweep(&whole.simulated, &whole.loaded);
            let recorded = recording.scans.get(request.scan)?;
            Some(compare(recorded, simulated.scans.first()?, comparison))
        };
        // Without a thread the answer is dropped, which the page sees as a failure
        let _ = background::start("comparison", move || {
            let _ = answer.send(background::compute(task));
        });
    }

    /// Renders a picture on a thread of its own.
    fn render(&self, request: &PictureRequest, answer: oneshot::Sender<Result<Vec<u8>, Refusal>>) {
        let task = self.session.picture_task(request);
        let _ = background::start("picture", move || {
            let _ = answer.send(background::compute(|| task.render()));
        });
    }

    /// Finds the panel of the recording on a thread of its own.
    fn find_panel(&self, hint: PanelHintRequest, answer: oneshot::Sender<Result<Json, Refusal>>) {
        let open = self.session.profile(None);
        let task = open.and_then(|open| Ok((open, self.session.panel_task(hint)?)));
        let ((_, profile), task) = match task {
            Ok(task) => task,
            Err(refusal) => {
                let _ = answer.send(Err(refusal));
                return;
            }
        };
        let (seed, jobs) = (self.session.inputs().seed, self.jobs.clone());
        let _ = background::start("panel", move || {
            let found = background::compute(|| {
                let found = task.find()?;
                let shown = serde_json::to_value(answer::panel(&found, &profile, seed));
                let shown = shown.map_err(|error| unencodable(&error))?;
                Ok((found, shown))
            });
            let _ = answer.send(found.map(|(found, shown)| {
                let _ = jobs.send(Job::Panel(task.into(), found));
                shown
            }));
        });
    }

    /// Starts a fit on a thread of its own.
    fn fit(&mut self, unknowns: &[UnknownRequest], scan: usize) -> Result<Json, Refusal> {
        self.stop_fit.store(true, Ordering::Relaxed);
        let recording = self.session.recording();
        let recorded = recording.and_then(|recording| recording.scans.get(scan));
        let recorded = recorded.ok_or_else(|| {
            Refusal::new(
                "there is no recorded scan",
                "keep a sweep, or drop a recording",
            )
        })?;
        let fit = Fit::new(
            self.session.inputs(),
            self.session.loaded(),
            recorded,
            unknowns,
        )?;
        let stop = Arc::new(AtomicBool::new(false));
        self.stop_fit = stop.clone();
        let events = self.events.clone();
        let send = move |event: FitEvent| {
            let message: Arc<str> = json!({ "fit": event }).to_string().into();
            // Without a page nobody receives it
            let _ = events.send(message);
        };
        background::start("fit", move || fit.run(&stop, &send))?;
        Ok(Json::Null)
    }

    /// Starts the aim on a thread of its own, in place of the running one.
    fn aim(&mut self, hint: PanelHintRequest) -> Result<Json, Refusal> {
        self.stop_aim.store(true, Ordering::Relaxed);
        let given = self.session.aim().map(|word| AimSource::Word(word.into()));
        let recording = || self.session.recording().cloned();
        let source = given.or_else(|| recording().map(AimSource::Recording));
        let source = source.ok_or_else(|| {
            Refusal::new(
                "there is no source of scans",
                "drop a recording of a panel, or start etendue studio with --aim FILE|DEVICE",
            )
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        self.stop_aim = stop.clone();
        let events = self.events.clone();
        let of_thread = stop.clone();
        let send = move |event: AimEvent| {
            // Another aim may have begun while this one waited for scans
            if of_thread.load(Ordering::Relaxed) && event != AimEvent::Done {
                return;
            }
            let message: Arc<str> = json!({ "aim": event }).to_string().into();
            // Without a page nobody receives it
            let _ = events.send(message);
        };
        background::start("aim", move || aim::run(&source, hint, &stop, &send))?;
        Ok(Json::Null)
    }

    fn answer_of(&mut self, request: &Request) -> Result<Json, Refusal> {
        if let Request::Aim(hint) = request {
            return self.aim(*hint);
        }
        if let Request::Fit { unknowns, scan } = request {
            return self.fit(unknowns, *scan);
        }
        if let Request::RunRobot = request {
            let file = self.session.reread_robot()?;
            self.run_robot(file)?;
            return Ok(Json::Null);
        }
        let session = &mut self.session;
        let encoded = match request {
            Request::Keep => {
                let whole = session.whole();
                let kept = Recording::of_sweep(&whole.simulated, &whole.loaded);
                session.set_recording(Some(kept));
                Ok(Json::Null)
            }
            Request::Forget => {
                session.set_recording(None);
                Ok(Json::Null)
            }
            Request::FitPaths => serde_json::to_value(fit::paths(session.loaded())?),
            Request::StopFit => {
                self.stop_fit.store(true, Ordering::Relaxed);
                Ok(Json::Null)
            }
            Request::StopAim => {
                self.stop_aim.store(true, Ordering::Relaxed);
                Ok(Json::Null)
            }
            Request::Save(document) => {
                let path = session.save(*document)?;
                Ok(json!({ "path": path.display().to_string() }))
            }
            Request::Beam(pixel) => {
                let WholeSweep {
                    inputs,
                    loaded,
                    simulated,
                } = session.whole();
                serde_json::to_value(answer::beam(inputs, loaded, simulated, *pixel)?)
            }
            Request::Reflectance(material) => {
                serde_json::to_value(answer::reflectance(session.loaded(), *material)?)
            }
            Request::Profile(name) => {
                let (file, profile) = session.profile(name.as_deref())?;
                serde_json::to_value(answer::profile(&file, &profile))
            }
            Request::Text(Document::Profile) => {
                let file = session.inputs().profile.as_ref();
                Ok(json!({ "text": file.map_or("", |file| &file.text) }))
            }
            Request::Text(Document::Scene) => Ok(json!({ "text": *session.inputs().scene.text })),
            Request::Text(Document::Sensor) => {
                Ok(json!({ "text": *session.loaded().sensor_file.text }))
            }
            _ => Ok(Json::Null),
        };
        encoded.map_err(|error| unencodable(&error))
    }
}

/// The refusal of an answer that has no JSON.
fn unencodable(error: &serde_json::Error) -> Refusal {
    Refusal::new(error.to_string(), "report this error")
}
