//! `offbeat doctor`

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use offbeat_service::config::{SpreadStoreArgs, SpreadStoreConfig};
use offbeat_service::spreads::{Finding, Level, RedisStore};

use super::Failure;

/// The finding if no store is named.
const IN_MEMORY: &str = "named spreads are kept in memory: they end with the server, and one \
server must answer for each; producers submit again what was not settled";

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    store: SpreadStoreArgs,
}

pub(super) fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let store = SpreadStoreConfig::from(&args.store);
    let Some(url) = &store.url else {
        write(&Finding { level: Level::Fine, text: IN_MEMORY.to_owned() })?;
        return Ok(ExitCode::SUCCESS);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(RedisStore::examine(&store, url));
    let found = found.map_err(|why| Failure::Other(format!("--spread-store: {why}")))?;
    for finding in &found {
        write(finding)?;
    }
    if found.iter().any(|finding| finding.level == Level::Fatal) {
        let why = "--spread-store: a server does not start with this store";
        return Err(Failure::Other(why.to_owned()));
    }
    Ok(ExitCode::SUCCESS)
}

fn write(finding: &Finding) -> Result<(), Failure> {
    writeln!(io::stdout(), "{:<7}  {}", finding.level, finding.text)?;
    Ok(())
}
