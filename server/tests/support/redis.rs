//! A Redis for one test, on a Unix socket in a folder that is removed afterwards. The variable
//! `OFFBEAT_REDIS_SERVER` names the program, which may be another engine.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

/// A running Redis, killed when it is dropped.
pub(crate) struct Redis {
    folder: TempDir,
    flags: Vec<String>,
    process: Child,
}

impl Redis {
    pub(crate) async fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let process = spawn(&folder, &flags);
        let redis = Self { folder, flags, process };
        redis.answers().await;
        redis
    }

    /// A Redis that listens on a port as well.
    #[allow(dead_code, reason = "not every test has replicas")]
    pub(crate) async fn on_a_port(flags: &[&str]) -> Self {
        let port = free_port().to_string();
        Self::start(&[&["--port", &port], flags].concat()).await
    }

    /// A Sentinel on a port, with what it watches and further settings.
    #[allow(dead_code, reason = "not every test has Sentinels")]
    pub(crate) async fn sentinel(watched: &str, settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut text = format!("sentinel monitor {watched}\n");
        for setting in settings {
            text += &format!("sentinel {setting}\n");
        }
        let file = folder.path().join("sentinel.conf");
        std::fs::write(&file, text).unwrap();
        let (file, port) = (file.display().to_string(), port.to_string());
        let flags = vec![file, "--sentinel".to_owned(), "--port".to_owned(), port];
        let process = spawn(&folder, &flags);
        let redis = Self { folder, flags, process };
        redis.answers().await;
        redis
    }

    #[allow(dead_code, reason = "not every test asks")]
    pub(crate) fn port(&self) -> u16 {
        let mut flags = self.flags.iter().skip_while(|flag| *flag != "--port");
        flags.nth(1).unwrap().parse().unwrap()
    }

    #[allow(dead_code, reason = "not every test kills it")]
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    #[allow(dead_code, reason = "not every test looks there")]
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Kills Redis and starts it again with the data it wrote.
    #[allow(dead_code, reason = "not every test restarts it")]
    pub(crate) async fn restart(&mut self) {
        self.kill();
        std::fs::remove_file(self.socket()).unwrap();
        self.process = spawn(&self.folder, &self.flags);
        self.answers().await;
    }

    #[allow(dead_code, reason = "not every test freezes it")]
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    #[allow(dead_code, reason = "not every test freezes it")]
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// The answer to a command, as `redis-cli` prints it.
    pub(crate) async fn command(&self, words: &[&str]) -> String {
        let mut command = tokio::process::Command::new("redis-cli");
        let output = command.arg("-s").arg(self.socket()).args(words).output().await.unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    async fn answers(&self) {
        let start = Instant::now();
        while !["PONG", "NOAUTH Authentication required."]
            .contains(&&*self.command(&["PING"]).await)
        {
            assert!(start.elapsed() < Duration::from_secs(20), "redis-server does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A port on which no process listens.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn spawn(folder: &TempDir, flags: &[String]) -> Child {
    let program = std::env::var_os("OFFBEAT_REDIS_SERVER");
    let mut command = Command::new(program.unwrap_or_else(|| "redis-server".into()));
    let is_sentinel = flags.iter().any(|flag| flag == "--sentinel");
    let (file, flags) = flags.split_at(usize::from(is_sentinel)); // the file must come first
    command.args(file).args(["--port", "0", "--unixsocket"]).arg(folder.path().join("redis.sock"));
    command.arg("--dir").arg(folder.path());
    if !is_sentinel {
        command.args(["--save", ""]);
    }
    command.args(flags);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
