//! QUIC over TLS 1.3 between nodes (003 §3.2). Certificates are self-signed and prove nothing: each protocol proves who the peer is
//! inside the connection.

use crate::admission::{Admission, Caps, Full, Permit};
use quinn::{ClientConfig, Incoming, ServerConfig, TransportConfig, congestion::BbrConfig};
use rustls::{
    DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime},
};
use std::{fmt, net::IpAddr, sync::Arc};

/// The server name that both ends use; no certificate is checked against it.
pub const SERVER_NAME: &str = "peer";

/// QUIC cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up QUIC: {0}")]
pub struct SetupError(String);

fn setup(error: impl fmt::Display) -> SetupError {
    SetupError(error.to_string())
}

/// The transport of every connection: it has these limits, sends as fast as the path delivers, does not take each lost packet for a full link
/// ([decision 660], [decision 669]), and takes no datagrams, of which QUIC would keep more than a MiB that counts nowhere and nobody reads ([decision 748]).
///
/// [decision 660]: ../../../docs/decisions/0660-lost-packets-are-no-full-links.md
/// [decision 669]: ../../../docs/decisions/0669-one-transport.md
/// [decision 748]: ../../../docs/decisions/0748-turns-of-clients-and-reads-that-are-refused.md
pub fn paced(mut limits: TransportConfig) -> Arc<TransportConfig> {
    limits.congestion_controller_factory(Arc::new(BbrConfig::default())).datagram_receive_buffer_size(None);
    Arc::new(limits)
}

/// The configuration of both ends of a protocol with this ALPN name, with a new self-signed certificate. The transport is [`paced`].
pub fn configs(alpn: &[u8], limits: TransportConfig) -> Result<(ServerConfig, ClientConfig), SetupError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let certified = rcgen::generate_simple_self_signed(vec![SERVER_NAME.into()]).map_err(setup)?;
    let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let mut server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(setup)?
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .map_err(setup)?;
    server.alpn_protocols = vec![alpn.to_vec()];
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(setup)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    client.alpn_protocols = vec![alpn.to_vec()];
    let transport = paced(limits);
    let mut server = ServerConfig::with_crypto(Arc::new(quinn::crypto::rustls::QuicServerConfig::try_from(server).map_err(setup)?));
    server.transport_config(transport.clone());
    let mut client = ClientConfig::new(Arc::new(quinn::crypto::rustls::QuicClientConfig::try_from(client).map_err(setup)?));
    client.transport_config(transport);
    Ok((server, client))
}

/// Connections that QUIC brings in. Handshakes count apart, so that those that are never finished keep nobody out who is in.
#[derive(Clone, Debug)]
pub struct Gate {
    handshakes: Admission,
    connections: Admission,
}

/// A connection whose handshake may be done.
#[derive(Debug)]
pub struct Admitted {
    /// The handshake, to finish.
    pub incoming: Incoming,
    /// Counts until the handshake is over.
    pub handshake: Permit,
}

impl Gate {
    /// At most these handshakes and these connections at a time.
    pub fn new(handshakes: Caps, connections: Caps) -> Self {
        Self { handshakes: Admission::new(handshakes), connections: Admission::new(connections) }
    }

    /// Lets a handshake begin, or sends it away. An address that was not shown to be the sender's costs no state until it is.
    pub fn admit(&self, incoming: Incoming) -> Option<Admitted> {
        if !incoming.remote_address_validated() {
            // Fails only for addresses that are validated already.
            let _ = incoming.retry();
            return None;
        }
        match self.begin(incoming.remote_address().ip()) {
            Some(handshake) => Some(Admitted { incoming, handshake }),
            None => {
                incoming.refuse();
                None
            }
        }
    }

    /// The permit of a handshake, where there would be room for its connection. Nobody's connection is closed for a peer that may still be turned away.
    fn begin(&self, address: IpAddr) -> Option<Permit> {
        if !self.connections.has_room(address) {
            return None;
        }
        self.handshakes.admit(address).ok()
    }

    /// Counts a connection whose peer may stay, until the permit is dropped. Another one may be closed for it.
    ///
    /// # Errors
    ///
    /// Where that is beyond a cap.
    pub fn enter(&self, address: IpAddr) -> Result<Permit, Full> {
        self.connections.admit(address)
    }
}

/// Accepts every certificate whose holder signs the handshake.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not supported".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handshake closes nobody's connection, whether it is refused or only begins; a peer that enters does.
    #[test]
    fn only_who_enters_makes_room() {
        let gate = Gate::new(Caps { total: 1, client: 1, subnet: 1 }, Caps { total: 2, client: 2, subnet: 2 });
        let of = |host: u8| IpAddr::from([192, 0, 2, host]);
        let mut held = [1, 2].map(|host| gate.enter(of(host)).expect("there is room"));
        let mut closed: Vec<_> = held.iter_mut().map(Permit::closable).collect();
        let other = IpAddr::from([198, 51, 100, 1]);
        let handshake = gate.begin(other).expect("its connection would have room");
        assert!(gate.begin(other).is_none(), "there is one handshake at a time");
        drop(handshake);
        assert!(gate.begin(of(3)).is_none(), "nobody makes room for a neighbour");
        assert!(closed.iter_mut().all(|closed| closed.try_recv().is_err()));
        let _entered = gate.enter(other).expect("one is closed for it");
        assert_eq!(closed.iter_mut().filter_map(|closed| closed.try_recv().ok()).count(), 1);
    }
}
