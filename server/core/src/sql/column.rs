//! The column that holds the IDs, and how statements about it are written.

use crate::limits::{FIRST_PARAMETER_NUMBER, SQL_NAME};
use crate::rejection::{Reason, Rejection};

/// A database whose SQL is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL 12 and later; the encoding of the database must be UTF8.
    PostgreSql,
    /// MySQL 8.0.23 and later.
    MySql,
    /// MariaDB 10.6 and later.
    MariaDb,
    /// SQLite 3.9 and later.
    Sqlite,
}

impl Dialect {
    /// As its makers write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PostgreSql => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
            Self::Sqlite => "SQLite",
        }
    }

    pub(super) const fn is_mysql_like(self) -> bool {
        matches!(self, Self::MySql | Self::MariaDb)
    }
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// The database's own type uuid.
    Uuid,
    /// 16 bytes in order.
    UuidBytes,
    /// 16 bytes as `UUID_TO_BIN(x, 1)` writes them.
    UuidBytesSwapped,
    /// Text with hyphens, in any case.
    UuidText,
    /// Text of 32 hexadecimal digits, in any case.
    UuidDigits,
    /// Integers of up to 64 bits and a sign.
    Integer,
    /// Text, as it is.
    Text,
    /// Fractions in [0, 1), as doubles.
    Fraction,
    /// The first 16 hexadecimal digits of MD5(salt ‖ canonical text), or all 32, in lower case.
    HashDigits,
}

impl ColumnType {
    /// The name in refusals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uuid => "UUID",
            Self::UuidBytes => "UUID_BYTES",
            Self::UuidBytesSwapped => "UUID_BYTES_SWAPPED",
            Self::UuidText => "UUID_TEXT",
            Self::UuidDigits => "UUID_DIGITS",
            Self::Integer => "INTEGER",
            Self::Text => "TEXT",
            Self::Fraction => "FRACTION",
            Self::HashDigits => "HASH_DIGITS",
        }
    }

    pub(super) const fn is_uuid(self) -> bool {
        matches!(
            self,
            Self::Uuid
                | Self::UuidBytes
                | Self::UuidBytesSwapped
                | Self::UuidText
                | Self::UuidDigits
        )
    }

    pub(super) const fn is_id(self) -> bool {
        self.is_uuid() || matches!(self, Self::Integer | Self::Text)
    }
}

/// How a predicate holds its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParameterStyle {
    /// Written into the text.
    #[default]
    Literal,
    /// `?`
    QuestionMark,
    /// `%s`, and `%%` for a percent sign (the format style of PEP 249).
    Format,
    /// `$1`, `$2`, …
    Dollar,
    /// `:offbeat_1`, `:offbeat_2`, …
    Named,
}

/// A column as a caller describes it, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The database that the statements are for.
    pub dialect: Dialect,
    /// The schema (in MySQL, the database) of the table; empty for the current one.
    pub schema: String,
    /// The table, 1 to 256 bytes; quoted as it is written.
    pub table: String,
    /// The column of the IDs, 1 to 256 bytes; quoted as it is written.
    pub column: String,
    /// The type of the column, which decides the expression that is compared.
    pub column_type: ColumnType,
    /// Alias of the table in the caller's query; empty for none.
    pub table_alias: String,
    /// How predicates hold their bounds.
    pub parameter_style: ParameterStyle,
    /// The number of the first placeholder (`Dollar` and `Named` only). Default: 1.
    pub first_parameter_number: Option<i32>,
    /// The column of the time zones that rows live in; empty if there is none.
    pub time_zone_column: String,
}

impl ColumnSpec {
    /// Refuses names that are empty, too long or hold U+0000.
    pub(super) fn check_names(&self) -> Result<(), Rejection> {
        check_name("schema", &self.schema, true)?;
        check_name("table", &self.table, false)?;
        check_name("column", &self.column, false)?;
        check_name("table_alias", &self.table_alias, true)?;
        check_name("time_zone_column", &self.time_zone_column, true)
    }

    /// The number of the first placeholder.
    pub(super) fn first_number(&self) -> Result<i32, Rejection> {
        const FIELD: &str = "first_parameter_number";
        let Some(number) = self.first_parameter_number else {
            return Ok(1);
        };
        if !matches!(self.parameter_style, ParameterStyle::Dollar | ParameterStyle::Named) {
            let allowed = "must not be set with placeholders that have no numbers";
            return Err(Rejection::new(Reason::Contradictory, FIELD, number, allowed));
        }
        if !FIRST_PARAMETER_NUMBER.allows(number.into()) {
            let allowed = format!("must be {FIRST_PARAMETER_NUMBER}");
            return Err(Rejection::new(Reason::OutOfRange, FIELD, number, allowed));
        }
        Ok(number)
    }
}

fn check_name(field: &str, name: &str, optional: bool) -> Result<(), Rejection> {
    if name.is_empty() {
        if optional {
            return Ok(());
        }
        let allowed = format!("must be {SQL_NAME}");
        return Err(Rejection::new(Reason::FieldMissing, field, "nothing", allowed));
    }
    if name.len() > SQL_NAME.max_size() {
        let value = format_args!("a name of {} bytes", name.len());
        let allowed = format!("must be {SQL_NAME}");
        return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
    }
    if name.contains('\0') {
        let allowed = "must not hold U+0000, which no name can";
        return Err(Rejection::new(Reason::Malformed, field, format_args!("{name:?}"), allowed));
    }
    Ok(())
}
