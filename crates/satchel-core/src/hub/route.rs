//! Resolves a tool path or resource URI to the server that serves it.

use super::{Hub, call::CallFailure, registry::Registered};
use crate::{
    catalog::{Catalog, ToolEntry},
    model::{Code, NameError, ResourcePath, ServerName, ToolPath, TransportConfig, approvals::Kind},
    upstream::{LeaseError, Outcome},
};

/// Where a call goes: looked up once, and used by everything that decides about it.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) server: Registered,
    pub(super) path: ToolPath,
    /// What the caller saw when it was looked up.
    catalog: Catalog,
}

impl Route {
    /// The tool as the caller saw it.
    pub(super) fn tool(&self) -> Option<&ToolEntry> {
        self.catalog.tool(&self.path)
    }
}

impl Hub {
    /// The server and tool a path means.
    ///
    /// # Errors
    /// A [`CallFailure`] that names the nearest paths, or says why the server cannot be used. Nothing was sent.
    pub(super) async fn route_tool(&self, named: &str) -> Result<Route, CallFailure> {
        match self.read_path(named) {
            Ok(path) => self.route_path(named, path).await,
            Err(_) => Err(self.unknown_tool(named, "a tool path has the form server:tool")),
        }
    }

    /// The same for a path that was read already.
    ///
    /// # Errors
    /// As [`Self::route_tool`].
    pub(super) async fn route_path(&self, named: &str, path: ToolPath) -> Result<Route, CallFailure> {
        let server = match self.route_server(&path.server) {
            Ok(server) => server,
            Err(Some(failure)) => return Err(failure),
            Err(None) => {
                return Err(self.unknown_tool(named, &format!("there is no server \"{}\"", path.server)));
            }
        };
        let mut route = Route { server, path, catalog: self.catalog() };
        if route.tool().is_some() {
            return Ok(route);
        }
        self.refuse_hidden_tool(&route.path)?;
        // A server that was just added: its tools are not known before it has told them.
        if route.catalog.offer(route.path.server.as_str()).is_none() {
            let (name, server) = (&route.path.server, &route.server);
            let leased = self.lease_with_credentials(name, server).await;
            let lease = leased.map_err(|error| refused(name, server, &error))?;
            let read = self.first_lists(name, &server.upstream, lease).await;
            read.map_err(|error| refused(name, server, &error))?;
            route.catalog = self.catalog();
        }
        if route.tool().is_none() {
            self.refuse_hidden_tool(&route.path)?;
            let ToolPath { server, tool } = &route.path;
            return Err(self.unknown_tool(named, &format!("{server} has no tool \"{tool}\"")));
        }
        Ok(route)
    }

    fn unknown_tool(&self, named: &str, why: &str) -> CallFailure {
        let near = self.catalog().near(named, 3);
        let action = match near.as_slice() {
            [] => "Use discover_mcp_tools to find tools.".to_owned(),
            near => format!("Did you mean {}?", near.join(", ")),
        };
        CallFailure::not_sent(None, None, format!("\"{named}\" cannot be called: {why}"), action)
    }

    /// A path whose server's name may have colons of its own: read in the way in which there is such a server, and such a
    /// tool of it where several ways are.
    pub(super) fn read_path(&self, path: &str) -> Result<ToolPath, NameError> {
        let usual = path.parse::<ToolPath>();
        let catalog = self.catalog();
        let servers = self.servers();
        let there: Vec<_> =
            ToolPath::readings(path).filter(|reading| servers.contains_key(&reading.server)).collect();
        let known = there.iter().find(|reading| catalog.tool(reading).is_some());
        known.or(there.first()).cloned().map_or(usual, Ok)
    }

    /// The server a resource path means. Whether the resource exists is the server's to say: templates make resources
    /// that are in no list.
    pub(super) fn route_resource(&self, path: &str) -> Result<(Registered, ResourcePath), CallFailure> {
        let action = || "Use list_mcp_resources to see what there is.".to_owned();
        let parsed = path
            .parse::<ResourcePath>()
            .map_err(|error| CallFailure::not_sent(None, None, error.to_string(), action()))?;
        match self.route_server(&parsed.server) {
            Ok(server) => {
                self.refuse_held(&parsed.server, Kind::Resource, &parsed.uri)?;
                Ok((server, parsed))
            }
            Err(Some(failure)) => Err(failure),
            Err(None) => {
                let message = format!("there is no server \"{}\"", parsed.server);
                Err(CallFailure::not_sent(None, None, message, action()))
            }
        }
    }

    /// A server that may be used; `None` as the error where there is none of that name.
    pub(super) fn route_known_server(&self, name: &ServerName) -> Result<Registered, CallFailure> {
        self.route_server(name).map_err(|failure| {
            failure.unwrap_or_else(|| {
                let message = format!("there is no server \"{name}\"");
                let action = "Look at the list of servers in Satchel, or with `satchel list`.".to_owned();
                CallFailure::not_sent(None, None, message, action)
            })
        })
    }

    fn route_server(&self, name: &ServerName) -> Result<Registered, Option<CallFailure>> {
        let known = self.servers().get(name).cloned();
        let Some(server) = known.filter(|_| self.knows(name.as_str())) else { return Err(None) };
        if !server.config.enabled {
            return Err(Some(refused(name, &server, &LeaseError::Off)));
        }
        self.refuse_server_off(name).map_err(Some)?;
        if server.held {
            self.refuse_held_launch(name).map_err(Some)?;
        }
        Ok(server)
    }
}

/// Why a server cannot be used, and what to do about it.
pub(super) fn refused(server: &ServerName, registered: &Registered, error: &LeaseError) -> CallFailure {
    let hosted = matches!(registered.config.transport, TransportConfig::Http { .. });
    let mend = |code: Code| if hosted { code.action_at_address() } else { code.action() };
    let (code, action): (Option<Code>, String) = match error {
        LeaseError::Off => (None, format!("Switch it on in Satchel, or with `satchel enable {server}`.")),
        LeaseError::Manual => (None, format!("Start it in Satchel, or with `satchel restart {server}`.")),
        LeaseError::GivenUp => (None, "Call it again to start it again.".to_owned()),
        LeaseError::StillStarting { .. } => {
            (None, "Its start goes on; call it again in a moment.".to_owned())
        }
        LeaseError::Failed(failure) | LeaseError::Waiting { failure, .. } => (
            Some(failure.code),
            match failure.code.is_sign_in() {
                true => failure.code.action_for(server.as_str()),
                false => mend(failure.code).to_owned(),
            },
        ),
        LeaseError::Closing => (None, "Try again when Satchel is running.".to_owned()),
    };
    let message = match error {
        // Says itself of which server it is.
        LeaseError::Failed(failure) if failure.code.is_sign_in() => failure.message.clone(),
        error => format!("\"{server}\" cannot be used: {error}"),
    };
    CallFailure { outcome: Outcome::NotSent, server: Some(server.to_string()), code, message, action }
}
