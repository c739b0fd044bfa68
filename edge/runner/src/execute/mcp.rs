//! Calls of tools of MCP servers: programs that talk over their standard streams, or addresses.
//!
//! Fields: `server` (a name of the configuration), `tool`, and maybe `arguments` (an object) and `reaches` (patterns of hosts). The result is
//! the tool's structured content as JSON, else its text.

use super::{
    Executor, Fault, Task, Usage,
    guard::{MANIFEST, outside},
};
use crate::config::McpServer;
use cowboy_types::{entitlement::domain, job::JobKind};
use futures::future::BoxFuture;
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult, ContentBlock},
    service::{Peer, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::Value as Json;
use std::{collections::BTreeMap, process::Stdio, time::Duration};
use tokio::{process::Command, sync::Mutex};
use url::Url;

/// How long a server may take to begin.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A server, connected where somebody asked it something.
struct Server {
    settings: McpServer,
    connection: Mutex<Option<RunningService<RoleClient, ()>>>,
}

/// Calls tools.
pub struct McpExecutor {
    servers: BTreeMap<String, Server>,
}

impl McpExecutor {
    /// One with these servers. They begin with their first job.
    pub fn new(servers: &BTreeMap<String, McpServer>) -> Self {
        let server =
            |(name, settings): (&String, &McpServer)| (name.clone(), Server { settings: settings.clone(), connection: Mutex::new(None) });
        Self { servers: servers.iter().map(server).collect() }
    }
}

impl Server {
    /// The server's end of the connection, begun anew where there is none.
    async fn peer(&self) -> Result<Peer<RoleClient>, Fault> {
        let mut connection = self.connection.lock().await;
        if let Some(running) = connection.as_ref().filter(|running| !running.is_closed()) {
            return Ok(running.peer().clone());
        }
        let begun = tokio::time::timeout(START_TIMEOUT, self.begin()).await;
        let running = begun.map_err(|_| Fault::External("the server of tools does not begin".into()))??;
        let peer = running.peer().clone();
        *connection = Some(running);
        Ok(peer)
    }

    async fn begin(&self) -> Result<RunningService<RoleClient, ()>, Fault> {
        let failed = |error: &dyn std::fmt::Display| Fault::External(format!("the server of tools does not begin: {error}"));
        if let Some(url) = &self.settings.url {
            return ().serve(StreamableHttpClientTransport::from_uri(url.as_str())).await.map_err(|error| failed(&error));
        }
        let (program, arguments) = self.settings.command.split_first().ok_or_else(|| failed(&"it has neither command nor url"))?;
        let mut command = if self.settings.isolated { isolated(program) } else { Command::new(program) };
        // It gets nothing of the runner's environment, where keys are.
        command.args(arguments).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(&self.settings.env);
        let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn().map_err(|error| failed(&error))?;
        ().serve(transport).await.map_err(|error| failed(&error))
    }
}

/// A program in a network namespace of its own, which has no interface. Where the system does not allow one, the program does not begin.
fn isolated(program: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-current-user", "--net", "--", program]);
    command
}

impl Executor for McpExecutor {
    fn kind(&self) -> JobKind {
        JobKind::Mcp
    }

    fn check(&self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let mut said = Vec::new();
            for (name, server) in &self.servers {
                let peer = server.peer().await.map_err(|fault| format!("{name}: {fault}"))?;
                let tools = peer.list_all_tools().await.map_err(|error| format!("{name}: {error}"))?;
                let names: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
                if let Some(missing) = server.settings.tools.iter().find(|tool| !names.contains(tool)) {
                    return Err(format!("{name} has no tool {missing:?}; it has {}", names.join(", ")));
                }
                said.push(format!("{name}: {}", names.join(", ")));
            }
            Ok(said.join("; "))
        })
    }

    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            let (name, tool) = (task.request.text("server")?, task.request.text("tool")?.to_owned());
            let server = self.servers.get(name).ok_or_else(|| Fault::External(format!("this runner has no server {name:?}")))?;
            if !server.settings.tools.is_empty() && !server.settings.tools.contains(&tool) {
                return Err(Fault::External(format!("this runner does not call {tool} of {name}")));
            }
            within(task, name, &server.settings)?;
            let mut call = CallToolRequestParams::new(tool);
            match task.request.get("arguments") {
                None => {}
                Some(Json::Object(arguments)) => call = call.with_arguments(arguments.clone()),
                Some(_) => return Err(Fault::Actor("arguments is not an object".into())),
            }
            let peer = server.peer().await?;
            usage.requests += 1;
            let answer = peer.call_tool(call).await.map_err(|error| Fault::External(format!("the server of tools: {error}")))?;
            result(answer)
        })
    }
}

/// Holds a server to the hosts that the job names, and to those of the asking actor's manifest: what its operator says that it reaches, and the
/// address where it is reached itself.
pub(super) fn within(task: &Task, name: &str, server: &McpServer) -> Result<(), Fault> {
    let named = match task.request.get("reaches") {
        None => None,
        Some(Json::Array(hosts)) => Some(hosts.iter().filter_map(|host| host.as_str().map(str::to_owned)).collect::<Vec<String>>()),
        Some(_) => return Err(Fault::Actor("reaches is not a list of hosts".into())),
    };
    let bounds = [("the job", named.as_deref()), (MANIFEST, task.hosts.as_deref())];
    let bounds = || bounds.into_iter().filter_map(|(whose, patterns)| Some((whose, patterns?)));
    if bounds().all(|(_, patterns)| patterns.iter().any(|pattern| pattern == domain::ANY)) {
        return Ok(());
    }
    let Some(reached) = server.reached() else {
        return Err(Fault::External(format!("this runner does not say which hosts {name} reaches")));
    };
    let own = server.url.as_deref().and_then(|url| Url::parse(url).ok()).and_then(|url| url.host_str().map(str::to_owned));
    for host in reached.iter().chain(own.as_ref()) {
        if let Some(reason) = bounds().find_map(|bound| outside(name, host, bound)) {
            return Err(Fault::External(reason));
        }
    }
    Ok(())
}

/// What a tool said.
fn result(answer: CallToolResult) -> Result<Vec<u8>, Fault> {
    let texts = answer.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if answer.is_error == Some(true) {
        return Err(Fault::External(format!("the tool failed: {text}")));
    }
    match answer.structured_content {
        Some(value) if !value.is_null() => Ok(value.to_string().into_bytes()),
        _ => Ok(text.into_bytes()),
    }
}
