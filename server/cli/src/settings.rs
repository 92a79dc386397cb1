//! The settings that are in force, for people, and variables that set nothing.

use std::env;
use std::io::{self, Write as _};

use clap::{Arg, ArgMatches, Command, CommandFactory as _};
use offbeat_core::rejection::shorten;
use offbeat_service::config::{Setting, Source, UnknownVariable, settings, unknown_variables};

use super::{Cli, Failure};

/// Maximum number of unknown variables that a line names.
const SHOWN: usize = 8;

/// The settings of `offbeat serve`.
pub(crate) fn of_serve(matches: &ArgMatches) -> Vec<Setting> {
    matches.subcommand_matches("serve").map(settings).unwrap_or_default()
}

/// The settings that are not the default, on one line.
pub(crate) fn changed(settings: &[Setting]) -> String {
    let changed = settings.iter().filter(|setting| setting.source != Source::Default);
    let shown = changed
        .map(|Setting { flag, value, source }| format!("{flag}={} ({source})", shorten(value)));
    shown.collect::<Vec<_>>().join(", ")
}

/// Writes all settings as a table, each with its source.
pub(crate) fn print(settings: &[Setting]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let widest = |text: fn(&Setting) -> usize| settings.iter().map(text).max().unwrap_or(0);
    let flags = widest(|setting| setting.flag.len());
    let sources = widest(|setting| setting.source.to_string().len());
    writeln!(out, "{:<flags$}  {:<sources$}  VALUE", "SETTING", "FROM")?;
    for Setting { flag, value, source } in settings {
        let source = source.to_string();
        writeln!(out, "{flag:<flags$}  {source:<sources$}  {value}")?;
    }
    Ok(())
}

/// The variables `OFFBEAT_…` of this process that set nothing, on one line, if there are any.
pub(crate) fn unknown() -> Option<String> {
    let mut known = Vec::new();
    collect(&Cli::command(), &mut known);
    let unknown = unknown_variables(env::vars_os(), &known);
    if unknown.is_empty() {
        return None;
    }
    let shown: Vec<_> = unknown.iter().take(SHOWN).map(UnknownVariable::to_string).collect();
    let more = unknown.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", shown.join(", ")))
}

fn collect(command: &Command, variables: &mut Vec<String>) {
    let named = command.get_arguments().filter_map(Arg::get_env);
    variables.extend(named.map(|name| name.to_string_lossy().into_owned()));
    command.get_subcommands().for_each(|command| collect(command, variables));
}
