//! The IDs that a command is about, with their weights: from arguments, or from standard input.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;
use offbeat_core::{Id, PlacementKind, Reason, Rejection};

use super::Failure;
use super::input::IdType;
use offbeat_text::{Line, for_each_line};

#[derive(Debug, Args)]
pub(super) struct IdArgs {
    /// The IDs. Without any, each line of standard input is an ID, without its line end (LF or CR LF)
    /// but with all its spaces; a blank line is an ID too. IDs that begin with a hyphen and are not
    /// integers go after `--`
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub(super) ids: Vec<String>,

    /// The type of the IDs
    #[arg(long, value_enum, default_value_t = IdType::Auto)]
    pub(super) id_type: IdType,

    /// The text after the last tab of an ID is its weight (with --weight-quantum)
    #[arg(long)]
    pub(super) weighted: bool,
}

/// An ID as it was given.
pub(super) struct IdInput<'a> {
    pub(super) text: &'a str,
    pub(super) id: Id<'a>,
    pub(super) weight: Option<i64>,
}

impl IdArgs {
    /// Calls `visit` with each ID. Reports refused IDs on standard error, and returns their number.
    pub(super) fn each(
        &self,
        placement: PlacementKind,
        mut visit: impl FnMut(IdInput<'_>) -> Result<Result<(), Rejection>, Failure>,
    ) -> Result<u64, Failure> {
        if self.ids.is_empty() && io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "offbeat: reading IDs, one a line, until Ctrl-D");
        }
        let mut bad = 0;
        let mut take = |place: &str, number: u64, line: Line<'_>| -> Result<(), Failure> {
            let refused = match line {
                Line::Text(text) => match self.read(text, placement) {
                    Ok(given) => match visit(given)? {
                        Ok(()) => return Ok(()),
                        Err(rejection) => rejection,
                    },
                    Err(rejection) => rejection,
                },
                Line::Refused(rejection) => rejection,
            };
            bad += 1;
            let Rejection { value, allowed, .. } = refused;
            let _ =
                writeln!(io::stderr(), "offbeat: {place} {number}: {value} is refused: {allowed}");
            Ok(())
        };
        if self.ids.is_empty() {
            for_each_line(io::stdin().lock(), |number, line| take("line", number, line))?;
        } else {
            for (number, id) in (1..).zip(&self.ids) {
                take("argument", number, Line::Text(id))?;
            }
        }
        Ok(bad)
    }

    fn read<'t>(&self, text: &'t str, placement: PlacementKind) -> Result<IdInput<'t>, Rejection> {
        let (text, weight) = if self.weighted { weighted(text)? } else { (text, None) };
        Ok(IdInput { text, id: self.id_type.read(text, placement)?, weight })
    }
}

fn weighted(text: &str) -> Result<(&str, Option<i64>), Rejection> {
    let parts = text.rsplit_once('\t').and_then(|(id, weight)| Some((id, weight.parse().ok()?)));
    let (id, weight) = parts.ok_or_else(|| {
        let allowed = "must be an ID, a tab and its weight, a whole number";
        Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed)
    })?;
    Ok((id, Some(weight)))
}
