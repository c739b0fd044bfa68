//! What the engine of each epoch talks to: the application, with this node's memory of rounds beside it.

use crate::{
    faults::Faults,
    seeds::{Scheme, Seeds},
};
use commonware_actor::Feedback;
use commonware_consensus::{Automaton, CertifiableAutomaton, Handoff, Relay, Reporter, simplex::types::Activity, types::Round};
use commonware_cryptography::blake3::Digest;
use commonware_utils::channel::{mpsc, oneshot};

/// A reporter that is yet to be made: what is reported meanwhile waits for it.
pub(crate) struct Later<A>(mpsc::UnboundedSender<A>);

impl<A> Later<A> {
    /// The reporter, and what [`deliver`] takes.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<A>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

impl<A> Clone for Later<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Send + 'static> Reporter for Later<A> {
    type Activity = A;

    fn report(&mut self, activity: A) -> Feedback {
        match self.0.send(activity) {
            Ok(()) => Feedback::Ok,
            Err(_) => Feedback::Closed,
        }
    }
}

/// Hands on what was reported, for as long as somebody may report.
pub(crate) async fn deliver<R: Reporter>(mut waiting: mpsc::UnboundedReceiver<R::Activity>, mut reporter: R) {
    while let Some(activity) = waiting.recv().await {
        // Who does not take it any more is ending, and the node with it.
        let _ = reporter.report(activity);
    }
}

/// An application whose reports pass by the memory of rounds first.
#[derive(Clone)]
pub(crate) struct Tap<A> {
    application: A,
    seeds: Seeds,
    faults: Faults,
}

impl<A> Tap<A> {
    pub(crate) fn new(application: A, seeds: Seeds, faults: Faults) -> Self {
        Self { application, seeds, faults }
    }
}

impl<A: Automaton<Context: Send>> Automaton for Tap<A> {
    type Context = A::Context;
    type Digest = A::Digest;

    async fn propose(&mut self, context: A::Context) -> oneshot::Receiver<A::Digest> {
        self.application.propose(context).await
    }

    async fn verify(&mut self, context: A::Context, payload: A::Digest) -> oneshot::Receiver<bool> {
        self.application.verify(context, payload).await
    }
}

impl<A: CertifiableAutomaton<Context: Send>> CertifiableAutomaton for Tap<A> {
    async fn prepare(&mut self, context: A::Context) -> oneshot::Receiver<Handoff<A::Digest>> {
        self.application.prepare(context).await
    }

    async fn certify(&mut self, round: Round, payload: A::Digest) -> oneshot::Receiver<bool> {
        self.application.certify(round, payload).await
    }
}

impl<A: Relay> Relay for Tap<A> {
    type Digest = A::Digest;
    type PublicKey = A::PublicKey;
    type Plan = A::Plan;

    fn broadcast(&mut self, payload: A::Digest, plan: A::Plan) -> Feedback {
        self.application.broadcast(payload, plan)
    }
}

impl<A: Reporter<Activity = Activity<Scheme, Digest>>> Reporter for Tap<A> {
    type Activity = A::Activity;

    fn report(&mut self, activity: Self::Activity) -> Feedback {
        // What it says is for the application's answer alone: these memories take everything at once.
        let _ = self.seeds.report(activity.clone());
        let _ = self.faults.report(activity.clone());
        self.application.report(activity)
    }
}
