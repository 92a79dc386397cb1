//! Compiles the protos with the defaults of a stock tonic service.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const INCLUDE: &str = "../../proto";
    println!("cargo::rerun-if-changed={INCLUDE}");
    let mut compiler = protox::Compiler::new([INCLUDE])?;
    let files = compiler.include_imports(true).open_files(["offbeat/v1/slots.proto"])?;
    tonic_prost_build::configure().compile_fds(files.file_descriptor_set())?;
    Ok(())
}
