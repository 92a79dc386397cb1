//! Compiles the protos, without protoc.

use std::path::PathBuf;

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const INCLUDE: &str = "../../proto";
    println!("cargo::rerun-if-changed={INCLUDE}");
    const FILES: [&str; 10] = [
        "offbeat/v1/slots.proto",
        "offbeat/v1/spread.proto",
        "offbeat/v1/named_spread.proto",
        "offbeat/v1/stages.proto",
        "offbeat/v1/lanes.proto",
        "offbeat/v1/server_info.proto",
        "offbeat/v1/error_reason.proto",
        "offbeat/v1beta1/lane_planning.proto",
        "offbeat/v1beta1/lateness.proto",
        "offbeat/v1beta1/simulation.proto",
    ];
    let mut compiler = protox::Compiler::new([INCLUDE])?;
    let descriptors = compiler.include_imports(true).open_files(FILES)?.file_descriptor_set();
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.binpb"), descriptors.encode_to_vec())?;
    let mut prost = tonic_prost_build::Config::new();
    prost.enable_type_names();
    tonic_prost_build::configure()
        .build_transport(false) // the server calls nobody by gRPC
        .bytes(".")
        .codec_path("crate::codec::Codec")
        .compile_fds_with_config(descriptors, prost)?;
    Ok(())
}
