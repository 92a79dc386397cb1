//! The flags that declare kinds of job.

use clap::{Args, ValueEnum};
use offbeat_core::reciprocal::Spacing;
use offbeat_core::{KindSpec, Span};
use offbeat_text::parse_span;

/// The kind in run keys, if none is given and the schedule declares none.
const DEFAULT_KIND: &str = "default";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Kinds")]
pub(super) struct KindArgs {
    /// The kinds of job that must not meet on one ID, each with how long it runs at most, or none of
    /// them: "import,export" or "import=10m,export=5m"
    #[arg(id = "kinds", long = "kinds", requires = "cycle", value_name = "NAME[=SPAN]", value_parser = parse_kind, value_delimiter = ',')]
    kinds: Vec<KindSpec>,

    /// How the kinds are spread over the cycle: evenly, or so that another one moves none
    #[arg(long, requires = "kinds", value_enum, value_name = "SPACING")]
    kind_spacing: Option<SpacingArg>,

    /// Which kinds must not meet, where others may: "import:export,export:report"
    #[arg(id = "kind_conflicts", long = "kind-conflicts", requires = "kinds", value_name = "NAME:NAME", value_parser = parse_pair, value_delimiter = ',')]
    conflicts: Vec<(String, String)>,

    /// Over how much of the cycle late runs are spread [default: an eighth, or what keeps them apart]
    #[arg(long, requires = "kinds", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    pub(super) catch_up_span: Option<Span>,
}

/// How kinds are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpacingArg {
    /// As far from one another as can be
    Even,
    /// So that adding a kind moves none
    Stable,
}

impl KindArgs {
    pub(super) fn kinds(&self) -> Vec<KindSpec> {
        self.kinds.clone()
    }

    pub(super) fn spacing(&self) -> Spacing {
        match self.kind_spacing {
            None | Some(SpacingArg::Even) => Spacing::Even,
            Some(SpacingArg::Stable) => Spacing::Stable,
        }
    }

    pub(super) fn conflicts(&self) -> Vec<(String, String)> {
        self.conflicts.clone()
    }
}

/// The kind that a question is about.
#[derive(Debug, Args)]
pub(super) struct KindArg {
    /// The kind of job, a part of the run keys: one of those that the schedule declares, or else any
    /// name [default without --kinds: default]
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
}

impl KindArg {
    /// The kind, if one is given.
    pub(super) fn given(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The kind in run keys.
    pub(super) fn label(&self) -> &str {
        self.given().unwrap_or(DEFAULT_KIND)
    }
}

fn parse_kind(text: &str) -> Result<KindSpec, String> {
    let (name, run_time) = match text.split_once('=') {
        Some((name, span)) => (name, Some(parse_span(span)?)),
        None => (text, None),
    };
    Ok(KindSpec { name: name.to_owned(), run_time })
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once(':').map(|(first, second)| (first.to_owned(), second.to_owned()));
    pair.ok_or_else(|| "must be the names of two kinds, such as import:export".to_owned())
}
