//! TLS between services and their clients. Who a service is says the chain: the hash of its public key, and no authority.

use cowboy_types::Hash;
use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The certificate of a service, and the hash by which the chain knows it.
pub struct Identity {
    /// What a server is made of: TLS 1.3 alone, no certificates of clients.
    pub config: ServerConfig,
    /// The SHA-256 hash of the certificate's public key.
    pub certificate: Hash,
}

impl Identity {
    /// The certificate whose key is in this folder. The first call makes the key.
    ///
    /// # Errors
    ///
    /// If the key can be neither read nor made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join("tls.pem");
        let key = match std::fs::read_to_string(&path) {
            Ok(pem) => KeyPair::from_pem(&pem).map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = KeyPair::generate().map_err(io::Error::other)?;
                cowboy_host::files::replace(&path, key.serialize_pem().as_bytes())?;
                key
            }
            Err(error) => return Err(error),
        };
        let params = CertificateParams::new(vec!["service.invalid".to_string()]).map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let private = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], private.into()));
        Ok(Self { config: config.map_err(io::Error::other)?, certificate: hash(&key.subject_public_key_info()) })
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn hash(public_key: &[u8]) -> Hash {
    Hash(Sha256::digest(public_key).into())
}

/// What a client accepts: the key with this hash, whatever the certificate says beside it.
///
/// # Errors
///
/// If TLS 1.3 is not there.
pub fn client(certificate: Hash) -> Result<ClientConfig, rustls::Error> {
    let verifier = Arc::new(Pinned { certificate, provider: provider() });
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13])?;
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

#[derive(Debug)]
struct Pinned {
    certificate: Hash,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let parsed = ParsedCertificate::try_from(end_entity)?;
        if hash(&parsed.subject_public_key_info()) == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::InvalidCertificate(rustls::CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
