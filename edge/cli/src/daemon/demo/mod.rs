//! The demo services of a devnet: web pages, a model and tools for the examples, on loopback and offline.
//!
//! The pages are under names of `example.com`, which RFC 2606 keeps free of real sites. Only the runners inside the devnet are told where
//! the services are: the pages' certificate is signed by an authority that nobody else trusts and that ends with the process.

mod model;
mod pages;
mod shop;

use super::node_failure;
use axum::{Router, body::Body};
use cowboy_console::failure::Failure;
use cowboy_runner::{Config, config};
use cowboy_serve::{Settings, Slots};
use cowboy_types::Address;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{net::TcpListener, sync::watch};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};
use tower::Service as _;

/// Connections of all runners at once, to the pages and to model and tools each.
const CONNECTIONS: usize = 256;

/// Limits of one connection. All runners are one client: they come from one address.
const SETTINGS: Settings = Settings::of_service(CONNECTIONS);

/// The MCP server's name in jobs of `examples/shopper`.
const SHOP: &str = "shop";

/// Running demo services. Dropping it ends them.
pub(crate) struct Demo {
    pages: SocketAddr,
    services: SocketAddr,
    /// Holds the authority's certificate while runners may read it.
    folder: tempfile::TempDir,
    /// The servers run until this is dropped.
    _stop: watch::Sender<bool>,
}

impl Demo {
    /// Starts the services on free ports of loopback. Orders of the shop are paid to `seller`. Fails where the system gives no port or file.
    pub(crate) async fn start(seller: Address) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("cowboy-demo-").tempdir().map_err(Failure::file(std::env::temp_dir()))?;
        let (authority, tls) = certificate().map_err(node_failure)?;
        let path = folder.path().join("authority.pem");
        std::fs::write(&path, authority).map_err(Failure::file(path))?;
        let stop = watch::Sender::new(false);
        let pages = serve("demo pages", pages::router(), Some(tls), stop.subscribe()).await?;
        let services = serve("demo model and tools", model::router().merge(shop::router(seller)), None, stop.subscribe()).await?;
        Ok(Self { pages, services, folder, _stop: stop })
    }

    /// Tells a runner where the services are. What its configuration has of its own stays: an authority, without which it does not trust the
    /// pages, a model, and a server called `shop`.
    pub(crate) fn configure(&self, config: &mut Config) {
        let http = config.http.get_or_insert_default();
        if http.extra_ca.is_none() {
            for host in pages::HOSTS {
                http.hosts.entry(host.to_owned()).or_insert(self.pages);
            }
            http.extra_ca = Some(self.folder.path().join("authority.pem"));
        }
        if config.llm.is_none() {
            config.llm = Some(config::Llm {
                url: format!("http://{}/v1", self.services),
                model: model::CHAT.to_owned(),
                embedding_model: Some(model::EMBEDDING.to_owned()),
                ..config::Llm::default()
            });
        }
        let shop = || config::McpServer { url: Some(format!("http://{}/mcp", self.services)), ..config::McpServer::default() };
        config.mcp.entry(SHOP.to_owned()).or_insert_with(shop);
    }
}

/// Serves a router on a free port of loopback in the background, and returns the address.
async fn serve(
    name: &'static str,
    router: Router,
    tls: Option<TlsAcceptor>,
    stopped: watch::Receiver<bool>,
) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(node_failure)?;
    let address = listener.local_addr().map_err(node_failure)?;
    let server = cowboy_serve::Server::new(name, Slots::new(CONNECTIONS), SETTINGS);
    tokio::spawn(server.accept(listener, tls, stopped, Duration::ZERO, move |_, request| {
        let mut router = router.clone();
        async move {
            match router.call(request.map(Body::new)).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    }));
    Ok(address)
}

/// A new authority's certificate in PEM, and the server side of TLS with a certificate that it signed for all pages.
fn certificate() -> Result<(String, TlsAcceptor), Box<dyn std::error::Error>> {
    let mut params = rcgen::CertificateParams::new(Vec::new())?;
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    params.distinguished_name.push(rcgen::DnType::CommonName, "Cowboy devnet");
    let authority = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate()?)?;
    let key = rcgen::KeyPair::generate()?;
    let leaf = rcgen::CertificateParams::new(pages::HOSTS.map(str::to_owned))?.signed_by(&key, &authority)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)?;
    Ok((authority.pem(), TlsAcceptor::from(Arc::new(config))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A runner with services of its own keeps them, and gets the others.
    #[tokio::test]
    async fn what_a_runner_has_stays() {
        let demo = Demo::start(Address([7; 20])).await.expect("the loopback has free ports");
        let mut plain = Config::default();
        demo.configure(&mut plain);
        let http = plain.http.expect("pages are fetched");
        assert!(http.extra_ca.is_some() && pages::HOSTS.iter().all(|host| http.hosts.get(*host) == Some(&demo.pages)));
        assert_eq!((plain.llm.map(|llm| llm.model).as_deref(), plain.mcp.contains_key(SHOP)), (Some(model::CHAT), true));
        let authority = std::path::PathBuf::from("own.pem");
        let http = config::Http { extra_ca: Some(authority.clone()), ..config::Http::default() };
        let llm = config::Llm { url: "http://127.0.0.1:1/v1".into(), ..config::Llm::default() };
        let mut own = Config { http: Some(http), llm: Some(llm), ..Config::default() };
        demo.configure(&mut own);
        let http = own.http.expect("it had them");
        assert_eq!((http.extra_ca, http.hosts.is_empty()), (Some(authority), true), "its authority does not vouch for the pages");
        assert_eq!((own.llm.map(|llm| llm.url).as_deref(), own.mcp.contains_key(SHOP)), (Some("http://127.0.0.1:1/v1"), true));
    }
}
