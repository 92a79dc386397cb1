//! The settings in force and where each comes from, for `offbeat serve --check-config`, the log and
//! the console. They hold no secrets: passwords in URLs are hidden, and files of secrets are named,
//! but not read here.

use std::fmt;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _, Command};

use super::ServeArgs;
use super::spread_store::without_password;

/// A setting of `offbeat serve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The flag, with its dashes.
    pub flag: String,
    /// The value in force, as text; if it is not set, the default that the help names.
    pub value: String,
    /// Where the value comes from.
    pub source: Source,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Flag,
    /// The environment variable with this name.
    Variable(String),
    /// The default.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Variable(name) => name,
            Self::Default => "default",
        })
    }
}

/// All settings in the order of the help, from the arguments of `offbeat serve` and the variables
/// of the process.
#[must_use]
pub fn settings(matches: &ArgMatches) -> Vec<Setting> {
    let command = ServeArgs::augment_args(Command::new("serve"));
    command.get_arguments().filter_map(|argument| setting(argument, matches)).collect()
}

fn setting(argument: &Arg, matches: &ArgMatches) -> Option<Setting> {
    let (id, flag) = (argument.get_id().as_str(), argument.get_long()?);
    let source = match matches.value_source(id) {
        Some(ValueSource::CommandLine) => Source::Flag,
        Some(ValueSource::EnvVariable) => {
            let variable = argument.get_env().unwrap_or_default();
            Source::Variable(variable.to_string_lossy().into_owned())
        }
        _ => Source::Default,
    };
    let raw = matches.get_raw(id).into_iter().flatten();
    let raw: Vec<_> = raw.map(|value| without_password(&value.to_string_lossy())).collect();
    let value = if raw.is_empty() { documented_default(argument) } else { raw.join(",") };
    Some(Setting { flag: format!("--{flag}"), value, source })
}

/// The default that the help of a flag without a default value names: `[default: none]`.
fn documented_default(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default = help.split_once("[default: ").and_then(|(_, rest)| rest.split_once(']'));
    default.map_or_else(|| "none".to_owned(), |(default, _)| default.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flags: &[&str]) -> Vec<Setting> {
        let command = ServeArgs::augment_args(Command::new("serve"));
        settings(&command.get_matches_from([&["serve"], flags].concat()))
    }

    fn one(settings: &[Setting], flag: &str) -> (String, String) {
        let setting = settings.iter().find(|setting| setting.flag == flag).unwrap();
        (setting.value.clone(), setting.source.to_string())
    }

    #[test]
    fn each_setting_has_a_value_and_a_source() {
        let settings = of(&["--listen", "127.0.0.1:1,unix:/a", "--reflection", "--max-requests=7"]);
        for (flag, value, source) in [
            ("--listen", "127.0.0.1:1,unix:/a", "flag"),
            ("--reflection", "true", "flag"),
            ("--insecure", "false", "default"),
            ("--max-requests", "7", "flag"),
            ("--max-connections", "1024", "default"),
            ("--grace-period", "10", "default"),
            ("--token-file", "none", "default"),
            ("--admin-listen", "127.0.0.1:2329, if it is free", "default"),
            ("--log-format", "text", "default"),
            ("--spread-store", "memory", "default"),
            ("--spread-store-prefix", "offbeat:", "default"),
        ] {
            let found = one(&settings, flag);
            assert_eq!((found.0.as_str(), found.1.as_str()), (value, source), "{flag}");
        }
    }
}
