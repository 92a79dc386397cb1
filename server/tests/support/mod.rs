//! A server in a thread of its own, and a client that can send arbitrary requests to it.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod authority;
pub mod named;
pub mod sidecar;
pub mod spread;

use std::convert::Infallible;
use std::path::Path;
use std::sync::OnceLock;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use offbeat::config::{Config, ListenAddress};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::mpsc;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

pub trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Socket for T {}

/// The flags of a test server: a free port, few places.
pub const FLAGS: [&str; 10] = [
    "--listen",
    "127.0.0.1:0",
    "--admin-listen",
    "off",
    "--grace-period",
    "5",
    "--max-connections",
    "64",
    "--unary-timeout",
    "20",
];

pub fn config() -> Config {
    config_with(&["--max-requests", "64"])
}

pub fn config_with(flags: &[&str]) -> Config {
    Config::from_flags([&FLAGS[..], flags].concat()).unwrap()
}

/// A server that stops when it is dropped.
pub struct Server {
    pub address: ListenAddress,
    pub admin: Option<ListenAddress>,
    stop: mpsc::UnboundedSender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub fn start(config: &Config) -> Self {
        let (bound, address) = std::sync::mpsc::channel();
        let (stop, mut stopped) = mpsc::unbounded_channel();
        let config = config.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = offbeat::Server::bind(&config).await.unwrap();
                let first = server.addresses().unwrap().remove(0);
                bound.send((first, server.admin_address().unwrap())).unwrap();
                server.run(async || stopped.recv().await.unwrap_or_default()).await.unwrap();
            });
            runtime.shutdown_background();
        });
        let (address, admin) = address.recv().unwrap();
        Self { address, admin, stop, thread: Some(thread) }
    }

    /// Signals the server to stop, without waiting. May be called more than once.
    pub fn signal(&self) {
        let _ = self.stop.send(());
    }

    /// Waits until it has stopped.
    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub async fn tcp(&self) -> TcpStream {
        match &self.address {
            ListenAddress::Tcp(address) => {
                let socket = TcpStream::connect(address).await.unwrap();
                socket.set_nodelay(true).unwrap(); // otherwise small frames wait 40 ms for an ACK
                socket
            }
            ListenAddress::Unix(_) => panic!("listens on a Unix socket"),
        }
    }

    pub async fn unix(&self) -> UnixStream {
        match &self.address {
            ListenAddress::Unix(path) => UnixStream::connect(path).await.unwrap(),
            ListenAddress::Tcp(_) => panic!("listens on TCP"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal();
        self.join();
    }
}

/// A complete response.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub trailers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub async fn of<B>(response: http::Response<B>) -> Self
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Debug,
    {
        let (head, body) = response.into_parts();
        let collected = body.collect().await.unwrap();
        let trailers = collected.trailers().cloned().unwrap_or_default();
        Self { status: head.status, headers: head.headers, trailers, body: collected.to_bytes() }
    }

    /// The gRPC status, from the trailers or else from the headers.
    pub fn grpc_status(&self) -> Status {
        Status::from_header_map(&self.trailers)
            .or_else(|| Status::from_header_map(&self.headers))
            .unwrap_or_else(|| panic!("no gRPC status in {self:?}"))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.body))
    }
}

pub type Body = BoxBody<Bytes, Infallible>;
pub type Http2 = http2::SendRequest<Body>;

pub async fn http2(socket: impl Socket) -> Http2 {
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A client that grants this many bytes to each response, and no more.
pub async fn http2_with_window(socket: impl Socket, bytes: u32) -> Http2 {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(bytes)
        .handshake(TokioIo::new(socket))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

pub async fn post1(socket: impl Socket, request: Request<Body>) -> Answer {
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    Answer::of(sender.send_request(request).await.unwrap()).await
}

pub async fn post2(sender: &mut Http2, request: Request<Body>) -> Answer {
    sender.ready().await.unwrap();
    Answer::of(sender.send_request(request).await.unwrap()).await
}

pub fn request(path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Body> {
    let mut request = Request::post(format!("http://localhost{path}")).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from(body.into()).boxed()).unwrap()
}

pub fn json_request(path: &str, json: &str) -> Request<Body> {
    request(path, &[("content-type", "application/json")], json.to_owned())
}

pub fn grpc_request(path: &str, body: impl Into<Bytes>) -> Request<Body> {
    request(path, &[("content-type", "application/grpc"), ("te", "trailers")], body)
}

/// A body whose parts are sent through the sender. The body ends when the sender is dropped.
pub fn open_body() -> (mpsc::UnboundedSender<Bytes>, Body) {
    let (sender, mut receiver) = mpsc::unbounded_channel::<Bytes>();
    let parts = futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let frames = futures_util::StreamExt::map(parts, |part| Ok(Frame::data(part)));
    (sender, StreamBody::new(frames).boxed())
}

/// A message with its gRPC prefix.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.extend_from_slice(message);
    frame.freeze()
}

pub fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(offbeat::proto::FILE_DESCRIPTOR_SET).unwrap())
}

/// A method of any service, by name.
pub fn method_of(name: &str) -> MethodDescriptor {
    known_method(name).unwrap_or_else(|| panic!("there is no method {name}"))
}

fn known_method(name: &str) -> Option<MethodDescriptor> {
    let mut methods = pool().services().flat_map(|service| service.methods().collect::<Vec<_>>());
    methods.find(|method| method.name() == name)
}

/// The path of a method. An unknown name gets a plausible path.
pub fn path_of(name: &str) -> String {
    let service = known_method(name).map(|method| method.parent_service().full_name().to_owned());
    format!("/{}/{name}", service.as_deref().unwrap_or("offbeat.v1.SlotService"))
}

pub fn message(
    descriptor: prost_reflect::MessageDescriptor,
    json: &serde_json::Value,
) -> DynamicMessage {
    DynamicMessage::deserialize(descriptor, json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

/// The request message of a method, as bytes.
pub fn encoded(method: &str, json: &serde_json::Value) -> Vec<u8> {
    message(method_of(method).input(), json).encode_to_vec()
}

/// Sends arbitrary bytes by gRPC, and returns the status.
pub async fn raw(sender: &mut Http2, method: &str, body: impl Into<Bytes>) -> Status {
    post2(sender, grpc_request(&path_of(method), body)).await.grpc_status()
}

/// The reason in the details of a refusal.
pub fn reason(status: &Status) -> String {
    let details = status.get_error_details();
    details.error_info().map(|info| info.reason.clone()).unwrap_or_default()
}

/// Calls a method by gRPC, and returns the response message or the status.
pub async fn grpc(
    sender: &mut Http2,
    method: &str,
    json: &serde_json::Value,
) -> Result<DynamicMessage, Status> {
    let descriptor = method_of(method);
    let body = frame(&encoded(method, json));
    let answer = post2(sender, grpc_request(&path_of(method), body)).await;
    let status = answer.grpc_status();
    match status.code() {
        Code::Ok => Ok(DynamicMessage::decode(descriptor.output(), &answer.body[5..]).unwrap()),
        _ => Err(status),
    }
}

/// A file below `tests/`, as JSON.
pub fn test_data(file: &str) -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The files in a folder below `tests/`, sorted.
pub fn test_files(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(folder);
    let mut names: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|file| format!("{folder}/{}", file.unwrap().file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

/// The schedule of tests that work with any schedule.
pub fn any_schedule() -> serde_json::Value {
    serde_json::json!({"spec": {"period": "28800s"}})
}

/// A valid request of `AssignSlot`.
pub fn good_request() -> serde_json::Value {
    serde_json::json!({"schedule": any_schedule(), "id": {"text": "acme"}})
}

/// A channel of tonic's own client.
pub async fn channel(server: &Server) -> tonic::transport::Channel {
    let endpoint = tonic::transport::Endpoint::try_from(format!("http://{}", server.address));
    endpoint.unwrap().connect().await.unwrap()
}
