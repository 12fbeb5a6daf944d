//! Tells whether a connection to the hub was opened by a process that a server started.
//!
//! Theory of operation: the kernel names the inode of the socket at the other end (`sock_diag(7)`; reading `/proc/net/tcp`
//! takes milliseconds, and longer with every socket of the computer). Then the processes that could belong to a server are
//! searched for it: those below the hub ([`super::ancestry`]), and those with the mark in their environment. Programs of
//! people are not looked into, unless one of the others keeps its files to itself: then a connection that nobody else has is
//! its own. Linux only: other systems do not tell whose socket it is without privileges.

use std::net::SocketAddr;

use tokio::task::spawn_blocking;

use super::ancestry::{Caller, Process};

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The two addresses of a TCP connection on this computer.
    Tcp {
        /// That of the client.
        theirs: SocketAddr,
        /// That of the hub.
        ours: SocketAddr,
    },
    /// The process that the system names, for other sockets.
    Process(Caller),
    /// Nothing is known about it.
    Unknown,
}

/// Whose connection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Of a process that a server started.
    Server(Process),
    /// The client has closed it already, so nobody can tell whose it was.
    Gone,
    /// Of another program, as far as the system tells.
    Other,
}

/// Looks at connections. Those that wait at the same time are looked at together, and no thread waits with them.
#[derive(Debug, Default)]
pub struct Peers {
    #[cfg(target_os = "linux")]
    looks: linux::Looks,
}

impl Peers {
    /// Whose connection it is. Every process below `hub` counts as a server's, and `is_server` knows the processes that
    /// this hub started as servers.
    pub async fn holder(
        &self,
        peer: Peer,
        hub: u32,
        is_server: impl Fn(u32) -> bool + Send + 'static,
    ) -> Holder {
        match peer {
            Peer::Unknown | Peer::Process(Caller::Unknown) => Holder::Other,
            Peer::Process(Caller::Gone) => Holder::Gone,
            Peer::Process(Caller::Process(process)) => {
                let look = move || process.is_of_a_server(Some(hub), is_server);
                match spawn_blocking(look).await {
                    Ok(Some(true)) => Holder::Server(process),
                    Ok(Some(false)) => Holder::Other,
                    Ok(None) | Err(_) => Holder::Gone,
                }
            }
            Peer::Tcp { theirs, ours } => self.holder_of_socket(theirs, ours, hub).await,
        }
    }

    #[cfg(target_os = "linux")]
    async fn holder_of_socket(&self, theirs: SocketAddr, ours: SocketAddr, hub: u32) -> Holder {
        match linux::socket(theirs, ours) {
            Ok(linux::Socket::Open { inode, user }) if user == nix::unistd::getuid().as_raw() => {
                let found = self.looks.suspect_with(inode, hub).await;
                found.and_then(Process::of).map_or(Holder::Other, Holder::Server)
            }
            // Servers run as the hub's user.
            Ok(linux::Socket::Open { .. }) => Holder::Other,
            Ok(linux::Socket::Closed) => Holder::Gone,
            Err(error) => {
                tracing::debug!(%error, "the system does not tell whose a connection is");
                Holder::Other
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_async, reason = "there is nothing to look at")]
    async fn holder_of_socket(&self, _theirs: SocketAddr, _ours: SocketAddr, _hub: u32) -> Holder {
        Holder::Other
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::{HashMap, HashSet},
        fs, io,
        net::{IpAddr, SocketAddr},
        os::fd::AsRawFd,
    };

    use nix::sys::socket::{
        AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket as open,
    };

    use parking_lot::Mutex;
    use tokio::task::spawn_blocking;

    use crate::upstream::{
        ancestry::{SeenProcess, system},
        watchdog::MARK,
    };

    /// The socket at the other end of a connection.
    pub(super) enum Socket {
        Open { inode: u64, user: u32 },
        Closed,
    }

    // `linux/netlink.h`, `linux/sock_diag.h` and `linux/inet_diag.h`.
    const HEADER: usize = 16;
    const REQUEST: u16 = 1;
    const ERROR: u16 = 2;
    const BY_FAMILY: u16 = 20;
    const TCP: u8 = 6;
    const FOUR: u8 = 2;
    const SIX: u8 = 10;
    /// No cookie: any socket with these addresses.
    const ANY: [u8; 8] = [0xff; 8];
    const USER_AT: usize = HEADER + 64;
    const INODE_AT: usize = HEADER + 68;
    const LONGEST: usize = 1_024;
    /// How many results are kept for connections that wait.
    const MOST_FOUND: usize = 4_096;

    /// Asks the kernel for the socket with these addresses.
    pub(super) fn socket(theirs: SocketAddr, ours: SocketAddr) -> io::Result<Socket> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let diag = open(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkSockDiag)?;
        send(diag.as_raw_fd(), &request(theirs, ours), MsgFlags::empty())?;
        let mut answer = [0; LONGEST];
        // The kernel answers before `send` returns.
        let length = recv(diag.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
        read(&answer[..length])
    }

    fn request(theirs: SocketAddr, ours: SocketAddr) -> Vec<u8> {
        let family = if theirs.is_ipv4() { FOUR } else { SIX };
        let mut body = vec![family, TCP, 0, 0];
        // In any state.
        body.extend(u32::MAX.to_ne_bytes());
        body.extend(theirs.port().to_be_bytes());
        body.extend(ours.port().to_be_bytes());
        body.extend(address(theirs.ip()));
        body.extend(address(ours.ip()));
        // At any interface.
        body.extend(0u32.to_ne_bytes());
        body.extend(ANY);
        let length = u32::try_from(HEADER + body.len()).unwrap_or_default();
        let mut request = length.to_ne_bytes().to_vec();
        request.extend(BY_FAMILY.to_ne_bytes());
        request.extend(REQUEST.to_ne_bytes());
        // A number that nobody reads, and the kernel as the receiver.
        request.extend([0; 8]);
        request.extend(body);
        request
    }

    fn address(ip: IpAddr) -> [u8; 16] {
        let mut address = [0; 16];
        match ip {
            IpAddr::V4(ip) => address[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => address = ip.octets(),
        }
        address
    }

    fn read(answer: &[u8]) -> io::Result<Socket> {
        let number = |at: usize| {
            let bytes = answer.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_ne_bytes).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
        };
        let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        match kind {
            Some(BY_FAMILY) => match (number(INODE_AT)?, number(USER_AT)?) {
                (0, _) => Ok(Socket::Closed),
                (inode, user) => Ok(Socket::Open { inode: inode.into(), user }),
            },
            Some(ERROR) => {
                let code = number(HEADER)?.cast_signed().saturating_neg();
                let error = io::Error::from_raw_os_error(code);
                if error.kind() == io::ErrorKind::NotFound { Ok(Socket::Closed) } else { Err(error) }
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// The looks that wait, and what was found.
    #[derive(Debug, Default)]
    pub(super) struct Looks {
        wanted: Mutex<HashSet<u64>>,
        turn: tokio::sync::Mutex<LookTurn>,
    }

    /// State of whoever looks.
    #[derive(Debug, Default)]
    struct LookTurn {
        marks: Marks,
        /// The holders of sockets that others had waited for; `None` for no suspect. Each is taken by its waiter.
        found: HashMap<u64, Option<u32>>,
    }

    impl Looks {
        /// The process with this socket, among those that could be a server's.
        pub(super) async fn suspect_with(&self, inode: u64, hub: u32) -> Option<u32> {
            self.wanted.lock().insert(inode);
            let mut turn = self.turn.lock().await;
            if let Some(found) = turn.found.remove(&inode) {
                return found;
            }
            let mut wanted = std::mem::take(&mut *self.wanted.lock());
            // An earlier look may have been for it, and was given up.
            wanted.insert(inode);
            let mut marks = std::mem::take(&mut turn.marks);
            let looked = spawn_blocking(move || {
                let suspects = marks.suspects(hub);
                (marks, look(&wanted, &suspects, processes, sockets_of))
            });
            let (marks, mut found) = looked.await.unwrap_or_default();
            turn.marks = marks;
            let own = found.remove(&inode).flatten();
            // What nobody took is of connections that were given up.
            turn.found.extend(found);
            if turn.found.len() > MOST_FOUND {
                turn.found.clear();
            }
            own
        }
    }

    /// Looks for these sockets in these processes. One that nobody has whose files can be read belongs to a suspect whose files
    /// cannot.
    fn look(
        wanted: &HashSet<u64>,
        suspects: &[u32],
        all: impl FnOnce() -> Vec<u32>,
        sockets: impl Fn(u32) -> io::Result<Vec<u64>>,
    ) -> HashMap<u64, Option<u32>> {
        let mut found: HashMap<u64, Option<u32>> = wanted.iter().map(|inode| (*inode, None)).collect();
        let mut closed = None;
        for pid in suspects {
            match sockets(*pid) {
                Ok(open) => open.iter().for_each(|inode| {
                    if let Some(holder) = found.get_mut(inode) {
                        *holder = Some(*pid);
                    }
                }),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => closed = Some(*pid),
                // It has ended.
                Err(_) => {}
            }
        }
        let Some(closed) = closed.filter(|_| found.values().any(Option::is_none)) else { return found };
        let others = all().into_iter().filter(|pid| !suspects.contains(pid));
        let of_others: HashSet<u64> = others.filter_map(|pid| sockets(pid).ok()).flatten().collect();
        for (inode, holder) in &mut found {
            if holder.is_none() && !of_others.contains(inode) {
                *holder = Some(closed);
            }
        }
        found
    }

    /// The sockets that a process has open.
    fn sockets_of(pid: u32) -> io::Result<Vec<u64>> {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).map_err(|error| match has_ended(pid) {
            // Nobody may read those of one whose parent has not looked yet.
            true => io::ErrorKind::NotFound.into(),
            false => error,
        })?;
        let socket = |entry: fs::DirEntry| inode_in(fs::read_link(entry.path()).ok()?.to_str()?);
        Ok(open.flatten().filter_map(socket).collect())
    }

    /// Has it ended, though its parent has not looked yet?
    fn has_ended(pid: u32) -> bool {
        system::look_at(pid).is_none_or(|seen| seen.dead)
    }

    fn processes() -> Vec<u32> {
        let Ok(entries) = fs::read_dir("/proc") else { return vec![] };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// The inode in the name of an open socket, `socket:[7]`.
    fn inode_in(link: &str) -> Option<u64> {
        link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    }

    /// Which processes have the mark, by id and start time. A process keeps the environment it was started with.
    #[derive(Debug, Default)]
    pub(super) struct Marks(HashMap<(u32, u64), bool>);

    impl Marks {
        /// The processes that could be a server's: all below the hub, and those with the mark.
        pub(super) fn suspects(&mut self, hub: u32) -> Vec<u32> {
            let pids = processes().into_iter();
            let all: HashMap<u32, SeenProcess> =
                pids.filter_map(|pid| Some((pid, system::look_at(pid)?))).collect();
            let mut marks = HashMap::with_capacity(all.len());
            let suspects = all.iter().filter(|(pid, seen)| {
                let known = self.0.get(&(**pid, seen.started)).copied();
                let marked = known.unwrap_or_else(|| system::is_marked(**pid, MARK));
                marks.insert((**pid, seen.started), marked);
                marked || is_below(**pid, hub, &all)
            });
            let suspects = suspects.map(|(pid, _)| *pid).collect();
            self.0 = marks;
            suspects
        }
    }

    fn is_below(pid: u32, hub: u32, all: &HashMap<u32, SeenProcess>) -> bool {
        let mut parent = all.get(&pid).map_or(0, |seen| seen.parent);
        // As many steps as there are processes: parents that were read at different times could form a circle.
        for _ in 0..all.len() {
            if parent == hub {
                return true;
            }
            match all.get(&parent) {
                Some(seen) if parent > 1 => parent = seen.parent,
                _ => return false,
            }
        }
        false
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_connection_that_nobody_else_has_is_of_the_suspect_that_hides_its_files() {
            let sockets = |pid: u32| match pid {
                1 => Ok(vec![10]),
                2 => Err(io::ErrorKind::PermissionDenied.into()),
                3 => Ok(vec![30]),
                _ => Err(io::ErrorKind::NotFound.into()),
            };
            let wanted = HashSet::from([10, 20, 30]);
            let look = |suspects: &[u32]| {
                let found = look(&wanted, suspects, || vec![1, 2, 3, 4], sockets);
                [10, 20, 30].map(|inode| found[&inode])
            };
            assert_eq!(look(&[1, 4]), [Some(1), None, None], "all of them can be looked into");
            assert_eq!(look(&[1, 2]), [Some(1), Some(2), None], "the last one is a program's of a person");
            assert_eq!(look(&[2]), [None, Some(2), None]);
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        net::{Shutdown, TcpListener, TcpStream},
        process::{Child, Command, Stdio},
        sync::Arc,
    };

    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::upstream::watchdog::MARK;

    const NO_HUB: u32 = u32::MAX;

    fn accepted(listener: &TcpListener) -> (TcpStream, Peer) {
        let (stream, theirs) = listener.accept().unwrap();
        let ours = stream.local_addr().unwrap();
        (stream, Peer::Tcp { theirs, ours })
    }

    async fn look(peer: Peer, hub: u32) -> Holder {
        Peers::default().holder(peer, hub, |_| false).await
    }

    /// A shell that connects to this address and stays. It is bash that can.
    fn connecting(address: SocketAddr, with: impl FnOnce(&mut Command) -> &mut Command) -> Child {
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!(
            "exec 3<>/dev/tcp/{}/{}; echo here; read -r line",
            address.ip(),
            address.port()
        ));
        let mut child = with(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        child
    }

    #[tokio::test]
    async fn a_connection_is_of_the_process_that_opened_it() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let address = listener.local_addr().unwrap();
            let own = TcpStream::connect(address).unwrap();
            let (_stream, peer) = accepted(&listener);
            assert_eq!(look(peer, std::process::id()).await, Holder::Other, "the hub is not below itself");
            let mut child = connecting(address, |command| command.env_remove(MARK));
            let (_of_child, peer) = accepted(&listener);
            let process = Process::of(child.id()).unwrap();
            assert_eq!(look(peer, std::process::id()).await, Holder::Server(process), "{address}");
            assert_eq!(look(peer, NO_HUB).await, Holder::Other, "it is below another program");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(look(peer, std::process::id()).await, Holder::Gone);
            drop(own);
        }
    }

    #[tokio::test]
    async fn a_process_with_the_mark_is_a_servers_wherever_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut child = connecting(address, |command| command.env(MARK, "1.2.3"));
        let (_stream, peer) = accepted(&listener);
        let process = Process::of(child.id()).unwrap();
        assert_eq!(look(peer, NO_HUB).await, Holder::Server(process));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn a_client_that_only_ended_its_side_is_still_known() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_stream, peer) = accepted(&listener);
        own.shutdown(Shutdown::Write).unwrap();
        assert_eq!(look(peer, NO_HUB).await, Holder::Other);
        drop(own);
        assert_eq!(look(peer, NO_HUB).await, Holder::Gone);
    }

    #[tokio::test]
    async fn connections_that_wait_are_looked_at_together_and_each_is_told_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut child = connecting(address, |command| command.env_remove(MARK));
        let mut peers = vec![accepted(&listener)];
        let own: Vec<_> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
        peers.extend(own.iter().map(|_| accepted(&listener)));
        let (all, tracker) = (Arc::new(Peers::default()), TaskTracker::new());
        let look = |peer: Peer| {
            let all = all.clone();
            tracker.spawn(async move { all.holder(peer, std::process::id(), |_| false).await })
        };
        let looks: Vec<_> = peers.iter().map(|(_, peer)| look(*peer)).collect();
        let mut holders = Vec::new();
        for look in looks {
            holders.push(look.await.unwrap());
        }
        assert_eq!(holders[0], Holder::Server(Process::of(child.id()).unwrap()));
        assert!(holders[1..].iter().all(|holder| *holder == Holder::Other), "{holders:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
