//! How often the server asks for memory to answer a call: counted beside a stock tonic service
//! that takes the same message, decides nothing and answers one that is empty, or one that is as
//! large. The caller asks for none.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::alloc::System;
use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::task::{Context, Poll};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use offbeat::config::ListenAddress;
use offbeat::proto;
use prost::Message as _;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tonic::body::Body;
use tonic::codegen::BoxFuture;
use tonic::service::Routes;
use tonic_prost::ProstCodec;

mod support;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: u32 = 1_000;

/// What tonic generates for a service with one unary method.
#[derive(Clone)]
struct Echo(proto::AssignSlotResponse);

impl tonic::server::NamedService for Echo {
    const NAME: &'static str = "offbeat.v1.SlotService";
}

impl tonic::server::UnaryService<proto::AssignSlotRequest> for Echo {
    type Response = proto::AssignSlotResponse;
    type Future = BoxFuture<tonic::Response<Self::Response>, tonic::Status>;

    fn call(&mut self, request: tonic::Request<proto::AssignSlotRequest>) -> Self::Future {
        let answer = self.0.clone();
        Box::pin(async move {
            drop(request);
            Ok(tonic::Response::new(answer))
        })
    }
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            let codec =
                ProstCodec::<proto::AssignSlotResponse, proto::AssignSlotRequest>::default();
            Ok(tonic::server::Grpc::new(codec).unary(method, request).await)
        })
    }
}

/// Serves until the process ends.
fn serve_echo(answer: proto::AssignSlotResponse) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let routes = Routes::new(Echo(answer)).prepare();
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                let service = TowerToHyperService::new(routes.clone());
                tokio::spawn(async move {
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
    });
    address
}

/// One call after the other, in memory that was there before.
struct Caller {
    socket: TcpStream,
    /// HEADERS and DATA of a call, but for the number of its stream.
    call: Vec<u8>,
    headers: usize,
    stream: u32,
    answer: Vec<u8>,
}

const HEADER: usize = 9;

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 0], payload].concat()
}

impl Caller {
    fn new(address: SocketAddr, request: &proto::AssignSlotRequest) -> Self {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        let window = frame(8, 0, &(1_u32 << 30).to_be_bytes());
        let begin = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, &[]), &window].concat();
        socket.write_all(&begin).unwrap();
        let mut block = vec![0x83, 0x86]; // POST, http; what follows never enters the table
        for (name, value) in [
            (":path", "/offbeat.v1.SlotService/AssignSlot"),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("grpc-timeout", "5S"),
        ] {
            block.push(0);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).unwrap());
                block.extend(text.as_bytes());
            }
        }
        let message = request.encode_to_vec();
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let headers = frame(1, 4, &block);
        let data = frame(0, 1, &[&[0][..], &length, &message].concat());
        let call = [&headers[..], &data].concat();
        Self { socket, call, headers: headers.len(), stream: 1, answer: vec![0; 1 << 16] }
    }

    /// The message of the answer.
    fn call(&mut self) -> &[u8] {
        let number = self.stream.to_be_bytes();
        self.call[5..HEADER].copy_from_slice(&number);
        self.call[self.headers + 5..self.headers + HEADER].copy_from_slice(&number);
        self.stream += 2;
        self.socket.write_all(&self.call).unwrap();
        let (mut filled, mut at, mut message) = (0, 0, 0..0);
        loop {
            while filled - at < HEADER {
                filled += self.socket.read(&mut self.answer[filled..]).unwrap();
            }
            let header = &self.answer[at..at + HEADER];
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
            let (kind, flags) = (header[3], header[4]);
            while filled - at < HEADER + length {
                filled += self.socket.read(&mut self.answer[filled..]).unwrap();
            }
            let payload = at + HEADER..at + HEADER + length;
            at = payload.end;
            match (kind, flags & 1) {
                (0, _) => message = payload,
                (1, 1) => return &self.answer[message],
                _ => {}
            }
        }
    }
}

fn request(placement: proto::Placement, kind: &str) -> proto::AssignSlotRequest {
    let period = prost_types::Duration { seconds: 28_800, nanos: 0 };
    let spec = proto::ScheduleSpec {
        cycle: Some(proto::schedule_spec::Cycle::Period(period)),
        placement: placement.into(),
        ..Default::default()
    };
    let uuid = "936da01f-9abd-4d9d-80c7-02af85c822a8".to_owned();
    proto::AssignSlotRequest {
        schedule: Some(proto::Schedule { schedule: Some(proto::schedule::Schedule::Spec(spec)) }),
        id: Some(proto::Id { id: Some(proto::id::Id::Uuid(uuid)) }),
        kind: kind.to_owned(),
        ..Default::default()
    }
}

/// Per call; rounded, since others may ask for memory now and then.
fn allocations(address: SocketAddr, request: &proto::AssignSlotRequest) -> (f64, Vec<u8>) {
    let mut caller = Caller::new(address, request);
    let answer = caller.call().to_vec();
    for _ in 0..CALLS / 4 {
        caller.call(); // until all memory is there that is used again
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..CALLS {
        caller.call();
    }
    let change = region.change();
    let count = u32::try_from(change.allocations + change.reallocations).unwrap();
    let each = f64::from(count) / f64::from(CALLS);
    ((each * 10.0).round() / 10.0, answer)
}

/// One test, since others would be counted too.
#[test]
fn a_plain_call_asks_for_no_more_memory_than_a_service_that_decides_nothing() {
    let server = support::Server::start(&support::config());
    let ListenAddress::Tcp(address) = server.address.clone() else { panic!("no TCP") };
    let empty = serve_echo(proto::AssignSlotResponse::default());
    for placement in [proto::Placement::Hash, proto::Placement::Twister] {
        let request = request(placement, "");
        let (ours, answer) = allocations(address, &request);
        let answer = proto::AssignSlotResponse::decode(&answer[5..]).unwrap();
        assert_eq!(answer.next_runs.len(), 1, "{answer:?}");
        let (nothing, _) = allocations(empty, &request);
        let (same, _) = allocations(serve_echo(answer), &request);
        println!(
            "{placement:?}: {ours} allocations a call; tonic that answers nothing {nothing}, \
             and the same {same}"
        );
        assert!(ours <= nothing, "{ours} against {nothing}");
    }
}
