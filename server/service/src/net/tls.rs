//! TLS by rustls. Certificates can be replaced while connections are open: those keep the
//! certificates that they began with.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// The protocols of the port, in the order of preference (RFC 7301).
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Accepts TLS connections with the newest certificates.
#[derive(Debug, Clone)]
pub(crate) struct Tls(Arc<RwLock<Arc<ServerConfig>>>);

impl Tls {
    /// Uses these certificates, in the order of [`configure`].
    pub(crate) fn new(contents: &[Vec<u8>]) -> Result<Self, String> {
        Ok(Self(Arc::new(RwLock::new(configure(contents)?))))
    }

    /// Uses other certificates from now on.
    pub(crate) fn replace(&self, contents: &[Vec<u8>]) -> Result<(), String> {
        let config = configure(contents)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Configures TLS from PEM: the certificate, its key and, if clients must have certificates, their
/// authorities.
fn configure(contents: &[Vec<u8>]) -> Result<Arc<ServerConfig>, String> {
    let [certificate, key, rest @ ..] = contents else {
        return Err("there is no certificate".to_owned());
    };
    let chain = certificates("--tls-certificate", certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("--tls-key: must be a private key (PEM): {error}"))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match rest {
        [] => builder.with_no_client_auth(),
        [authorities, ..] => builder.with_client_cert_verifier(verifier(authorities, provider)?),
    };
    let asks_for_certificates = !rest.is_empty();
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|error| format!("--tls-certificate and --tls-key: {error}"))?;
    if asks_for_certificates {
        // A resumed session would outlive the certificate that began it.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(Arc::new(config))
}

fn verifier(
    authorities: &[u8],
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let refused = |why: &dyn std::fmt::Display| format!("--tls-client-ca: {why}");
    let mut roots = RootCertStore::empty();
    for certificate in certificates("--tls-client-ca", authorities)? {
        roots.add(certificate).map_err(|error| refused(&error))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map_err(|error| refused(&error))
}

fn certificates(flag: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|error| format!("{flag}: must be certificates (PEM): {error}"))?;
    if read.is_empty() {
        return Err(format!("{flag}: there is no certificate (PEM) in the file"));
    }
    Ok(read)
}
