//! Messages are held until they are written ([decision 716](../../../../docs/decisions/0716-bytes-that-wait-for-all-peers.md)).
//!
//! The library's connection copies a message to encrypt it, drops what it was given, and writes the copy for as long as the peer takes. What counts the
//! bytes that wait for a peer ([`crate::serving`]) counts those of a message until it is dropped. So each is held until its write ends.

use commonware_runtime::{Clock, IoBufs, Sink, Stream};
use commonware_stream::{Sender, Upgrader};
use rand_core::CryptoRng;
use std::future::Future;

/// An [`Upgrader`] whose connections hold each message until it is written, or the [`Sender`] of such a connection.
#[derive(Clone)]
pub(crate) struct Holding<T>(pub(super) T);

impl<U: Upgrader> Upgrader for Holding<U> {
    const MAX_SIZE: u32 = U::MAX_SIZE;

    type PublicKey = U::PublicKey;
    type Error = U::Error;
    type Sender<I: Stream, O: Sink> = Holding<U::Sender<I, O>>;
    type Receiver<I: Stream, O: Sink> = U::Receiver<I, O>;

    fn public_key(&self) -> Self::PublicKey {
        self.0.public_key()
    }

    fn dial<C, I, O>(
        self,
        context: C,
        namespace: &[u8],
        max_message_size: u32,
        peer: Self::PublicKey,
        stream: I,
        sink: O,
    ) -> impl Future<Output = Result<(Self::Sender<I, O>, Self::Receiver<I, O>), Self::Error>> + Send
    where
        C: Clock + CryptoRng,
        I: Stream,
        O: Sink,
    {
        let dialing = self.0.dial(context, namespace, max_message_size, peer, stream, sink);
        async move { dialing.await.map(|(sender, receiver)| (Holding(sender), receiver)) }
    }

    fn listen<C, I, O, B, F>(
        self,
        context: C,
        namespace: &[u8],
        max_message_size: u32,
        bouncer: B,
        stream: I,
        sink: O,
    ) -> impl Future<Output = Result<(Self::PublicKey, Self::Sender<I, O>, Self::Receiver<I, O>), Self::Error>> + Send
    where
        C: Clock + CryptoRng,
        I: Stream,
        O: Sink,
        B: FnOnce(Self::PublicKey) -> F + Send,
        F: Future<Output = bool> + Send,
    {
        let listening = self.0.listen(context, namespace, max_message_size, bouncer, stream, sink);
        async move { listening.await.map(|(peer, sender, receiver)| (peer, Holding(sender), receiver)) }
    }
}

/// Of several messages, each is written on its own, and held until then.
impl<S: Sender> Sender for Holding<S> {
    type Error = S::Error;

    async fn send(&mut self, message: impl Into<IoBufs> + Send) -> Result<(), Self::Error> {
        let message: IoBufs = message.into();
        // Clones share their bytes. Where the connection ends while it writes, this is dropped with the task that writes.
        let _held = message.clone();
        self.0.send(message).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::handshake;
    use bytes::Bytes;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_runtime::{Runner as _, Supervisor as _, deterministic, mocks};
    use std::{pin::pin, sync::Arc};

    /// A message whose owner is counted for as long as somebody holds it.
    struct Counted {
        bytes: Vec<u8>,
        _count: Arc<()>,
    }

    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }

    /// Each of two messages is held until the peer has taken it, and none where the connection has ended.
    #[test]
    fn messages_are_held_while_they_are_written() {
        deterministic::Runner::default().start(|context| async move {
            let [caller, called] = [1, 2].map(PrivateKey::from_seed);
            let (name, largest) = (called.public_key(), 1024 * 1024);
            // A channel takes 64 KiB before its other end reads them.
            let ((sink, taken), (back, stream)) = (mocks::Channel::init(), mocks::Channel::init());
            let dial = Holding(handshake(caller)).dial(context.child("dials"), b"test", largest, name, stream, sink);
            let listen = handshake(called).listen(context.child("listens"), b"test", largest, |_| async { true }, taken, back);
            let (dialed, listened) = futures::join!(dial, listen);
            let (mut sender, _receiver) = dialed.expect("somebody listens");
            let (_, _sender, mut receiver) = listened.expect("somebody dials");
            let count = Arc::new(());
            let held = || Arc::strong_count(&count) - 1;
            let message = || IoBufs::from(Bytes::from_owner(Counted { bytes: vec![7; 200_000], _count: count.clone() }));
            {
                let mut sending = pin!(sender.send_many([message(), message()]));
                for expected in [2, 1] {
                    assert!(futures::poll!(sending.as_mut()).is_pending(), "the peer takes nothing");
                    assert_eq!(held(), expected);
                    assert_eq!(receiver.recv().await.expect("it comes").len(), 200_000);
                }
                assert!(sending.await.is_ok());
            }
            assert_eq!(held(), 0, "both are written");
            let mut sending = pin!(sender.send(message()));
            assert!(futures::poll!(sending.as_mut()).is_pending());
            assert_eq!(held(), 1);
            drop(receiver);
            assert!(sending.await.is_err());
            assert_eq!(held(), 0, "the peer has gone");
        });
    }
}
