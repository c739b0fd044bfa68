//! Where images come from: the layouts and registries that the operator allows. What comes is what the job's digest names, wherever it is from.

use super::{
    outcome,
    task::{self, ContainerTask},
};
use crate::{
    config::{self, Config, Http},
    execute::{
        Fault,
        guard::{Guard, SystemLookup},
        http::USER_AGENT,
    },
};
use async_trait::async_trait;
use cowboy_image::{BlobKind, BlobReader, Digest, Image, ImageError, Layout, Options, Platform, Registry, Source, Store};
use cowboy_system::offchain::container::Source as Named;
use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// The images of a runner.
pub(super) struct Images {
    settings: config::Container,
    cache: PathBuf,
    store: OnceLock<Store>,
    guard: Guard,
    extra_ca: Vec<reqwest::Certificate>,
    /// Made when it is first used: an idle runner has no certificates in its memory.
    client: OnceLock<reqwest::Client>,
}

impl Images {
    /// Those of these settings. Registries may be at private addresses, because the operator named them, and nothing else that they lead to.
    pub(super) fn new(settings: &config::Container, config: &Config, http: &Http) -> Result<Self, String> {
        let rules = Http { private_hosts: settings.registry_hosts(), hosts: http.hosts.clone(), ..Http::default() };
        let extra_ca = http.extra_ca.as_deref().map(super::super::http::certificates).transpose()?.unwrap_or_default();
        Ok(Self {
            cache: settings.cache.clone().unwrap_or_else(|| config.runner.state.join("images")),
            settings: settings.clone(),
            store: OnceLock::new(),
            guard: Guard::new(&rules, Arc::new(SystemLookup)),
            extra_ca,
            client: OnceLock::new(),
        })
    }

    /// Opens the store, which no other process may use.
    pub(super) fn open(&self) -> Result<(), String> {
        self.check()?;
        let platform = if cfg!(target_arch = "aarch64") { Platform::Arm64 } else { Platform::Amd64 };
        let bytes = self.settings.cache_mib.saturating_mul(1 << 20);
        let store = Store::open(&self.cache, Options::new(platform), bytes).map_err(|error| error.to_string())?;
        // Whoever was faster has opened the same.
        let _ = self.store.set(store);
        Ok(())
    }

    /// Refuses layouts that are none.
    pub(super) fn check(&self) -> Result<(), String> {
        self.settings.layouts.iter().try_for_each(|folder| Layout::open(folder).map(drop).map_err(|error| error.to_string()))
    }

    /// The image of a job, unpacked.
    pub(super) async fn obtain(&self, task: &ContainerTask) -> Result<Image, Fault> {
        let job = &task.job;
        let store = self.store.get().ok_or_else(|| Fault::External("the image store is not open".into()))?;
        let digest: Digest =
            format!("sha256:{}", hex::encode(job.digest.0)).parse().map_err(|error| outcome::no_image(&ImageError::from(error)))?;
        let sources = self.sources(task)?;
        store.obtain(&digest, &sources).await.map_err(|error| outcome::no_image(&error))
    }

    fn sources(&self, task: &ContainerTask) -> Result<Sources, Fault> {
        let job = &task.job;
        let entries = self.settings.registries.iter().filter_map(|entry| config::registry(entry));
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        match &job.source {
            Named::Registry { host, name } => {
                let (scheme, authority) = entries.into_iter().find(|(_, authority)| authority == host).ok_or_else(|| {
                    Fault::External(format!(
                        "this runner takes no images from {host}: its operator does not name it in container.registries"
                    ))
                })?;
                sources.push(Box::new(self.registry(scheme, authority, name)?));
            }
            Named::Volume { id, path } => {
                let volumes = task.volumes.as_ref().ok_or_else(task::no_volumes)?;
                sources.push(volumes.layout(*id, path));
            }
            Named::Runner => {
                for folder in &self.settings.layouts {
                    sources.push(Box::new(Layout::open(folder).map_err(|error| outcome::no_image(&error))?));
                }
                // A name that no registry can have is one for people only.
                let registries = entries.filter_map(|(scheme, authority)| self.registry(scheme, authority, &job.name).ok());
                sources.extend(registries.map(|registry| Box::new(registry) as Box<dyn Source>));
            }
        }
        Ok(Sources(sources))
    }

    fn registry(&self, scheme: &str, authority: &str, name: &str) -> Result<Registry, Fault> {
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let built = self.build().map_err(|error| Fault::External(error.to_string()))?;
                self.client.get_or_init(|| built)
            }
        };
        let guard = self.guard.clone();
        let registry =
            Registry::new(client.clone(), &format!("{scheme}://{authority}/{name}")).map_err(|error| outcome::no_image(&error))?;
        Ok(registry.with_guard(move |url| guard.check(url).is_ok()))
    }

    /// A client that resolves names through the guard.
    fn build(&self) -> reqwest::Result<reqwest::Client> {
        Registry::client()
            .no_proxy()
            .dns_resolver(Arc::new(self.guard.clone()))
            .user_agent(USER_AGENT)
            .tls_certs_merge(self.extra_ca.clone())
            .build()
    }
}

/// Several places, of which the first that has a blob gives it.
struct Sources(Vec<Box<dyn Source>>);

#[async_trait]
impl Source for Sources {
    async fn open(&self, kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError> {
        let mut missing = ImageError::MissingBlob { digest: *digest, origin: "the sources of images of this runner".into() };
        for source in &self.0 {
            match source.open(kind, digest).await {
                Ok(reader) => return Ok(reader),
                // A source that does not answer says more than one that does not have it.
                Err(ImageError::MissingBlob { .. }) => {}
                Err(error) => missing = error,
            }
        }
        Err(missing)
    }
}
