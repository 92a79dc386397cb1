//! The expression that decides an ID's slot, as each database computes it.

use crate::placement::{Placement, PlacementKind};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::sql::column::{ColumnType, Dialect};
use crate::sql::text;

/// The expression that an index holds and a predicate compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// The expression over the column.
    pub(super) expression: String,
    /// The type of its values.
    pub(super) kind: KeyKind,
    /// MySQL and MariaDB: the type of the generated column that holds it; none where the key
    /// is a column already.
    pub(super) generated: Option<String>,
}

/// Types of a key's values; all are ordered like the offsets or slots that they decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// The first 16 hexadecimal digits of the MD5 or more of them, in lower case.
    HashDigits,
    /// The bucket, of so many, as hexadecimal digits in lower case: 2 of 256, 4 of 65,536.
    BucketDigits(u32),
    /// The bucket, of so many.
    Bucket(u32),
    /// The stored fraction.
    Fraction,
}

/// The key of `schedule` over a quoted `column`.
pub(super) fn key(
    schedule: &Schedule,
    dialect: Dialect,
    column_type: ColumnType,
    column: &str,
) -> Result<Key, Rejection> {
    exists(dialect, column_type)?;
    let itself = |kind| Key { expression: column.to_owned(), kind, generated: None };
    let computed = |expression, kind: KeyKind| {
        let generated = dialect.is_mysql_like().then(|| kind.generated_type());
        Key { expression, kind, generated }
    };
    match (schedule.placement(), column_type) {
        (Placement::Fraction, ColumnType::Fraction) => Ok(itself(KeyKind::Fraction)),
        // Not in the column's own collation: under a Danish one, "aa" comes after "ff".
        (Placement::Hash { .. }, ColumnType::HashDigits) => Ok(match dialect {
            Dialect::Sqlite => itself(KeyKind::HashDigits),
            Dialect::PostgreSql => {
                computed(format!(r#"{column} COLLATE "C""#), KeyKind::HashDigits)
            }
            Dialect::MySql | Dialect::MariaDb => {
                computed(format!("LEFT(RTRIM({column}), 16)"), KeyKind::HashDigits)
            }
        }),
        (Placement::Hash { salt }, column_type) if column_type.is_id() => {
            Ok(computed(hashed(dialect, column_type, column, salt)?, KeyKind::HashDigits))
        }
        (&Placement::Twister { bucket_count, .. }, ColumnType::Integer) => {
            Ok(computed(remainder(dialect, column, bucket_count), KeyKind::Bucket(bucket_count)))
        }
        (&Placement::Twister { bucket_count, .. }, column_type) if column_type.is_uuid() => {
            let kind = KeyKind::BucketDigits(bucket_count);
            let expression = last_digits(dialect, column_type, column, kind.digits());
            Ok(computed(expression, kind))
        }
        (placement, column_type) => Err(unsuitable(placement.kind(), column_type)),
    }
}

impl KeyKind {
    /// How many hexadecimal digits a value has; 0 of those that have none.
    pub(super) const fn digits(self) -> usize {
        match self {
            Self::HashDigits => 16,
            Self::BucketDigits(256) => 2,
            Self::BucketDigits(_) => 4,
            Self::Bucket(_) | Self::Fraction => 0,
        }
    }

    fn generated_type(self) -> String {
        match self.digits() {
            0 => "SMALLINT UNSIGNED".to_owned(),
            digits => format!("CHAR({digits}) CHARACTER SET ascii COLLATE ascii_bin"),
        }
    }
}

fn exists(dialect: Dialect, column_type: ColumnType) -> Result<(), Rejection> {
    let refused = |allowed: &str| {
        let value = format_args!("{} of {}", column_type.name(), dialect.name());
        Err(Rejection::new(Reason::Contradictory, "column_type", value, allowed))
    };
    match (dialect, column_type) {
        (Dialect::MySql | Dialect::Sqlite, ColumnType::Uuid) => {
            refused("only PostgreSQL and MariaDB have a type uuid: say how the column stores it")
        }
        _ => Ok(()),
    }
}

fn unsuitable(placement: PlacementKind, column_type: ColumnType) -> Rejection {
    let allowed = match placement {
        PlacementKind::Hash => "HASH takes columns of UUIDs, integers and text, and of their hash",
        PlacementKind::Twister => "TWISTER takes columns of UUIDs and integers",
        PlacementKind::Fraction => "FRACTION takes a column of doubles: the stored fractions",
    };
    Rejection::new(Reason::IdTypeUnsuitable, "column_type", column_type.name(), allowed)
}

/// MD5 of salt and canonical text; MySQL's index holds 16 digits of it.
fn hashed(
    dialect: Dialect,
    column_type: ColumnType,
    column: &str,
    salt: &str,
) -> Result<String, Rejection> {
    let text = canonical_text(dialect, column_type, column);
    Ok(match dialect {
        Dialect::PostgreSql if salt.contains('\0') => {
            let allowed = "PostgreSQL's text cannot hold U+0000, and the salt does";
            let reason = Reason::Contradictory;
            return Err(Rejection::new(reason, "dialect", dialect.name(), allowed));
        }
        // COLLATE, for an order that is the same in every database, and quick.
        Dialect::PostgreSql if salt.is_empty() => format!(r#"md5({text}) COLLATE "C""#),
        Dialect::PostgreSql => {
            format!(r#"md5({} || {text}) COLLATE "C""#, text::postgresql_salt(salt))
        }
        // In sql_mode ORACLE, CONCAT passes over NULL.
        Dialect::MySql | Dialect::MariaDb => {
            let hashed = match salt {
                "" => text,
                salt => format!("CONCAT({}, {text})", utf8(&text::mysql_salt(salt))),
            };
            let stored = stored(column_type, column);
            format!("IF({stored} IS NULL, NULL, LEFT(MD5({hashed}), 16))")
        }
        Dialect::Sqlite => {
            let value = format_args!("{} of SQLite", column_type.name());
            let allowed = "SQLite has no MD5: store the first 16 hexadecimal digits of MD5(salt ‖ \
                           canonical text of the ID) in a column of their own, and name that with \
                           SQL_COLUMN_TYPE_HASH_DIGITS (or use TWISTER)";
            return Err(Rejection::new(Reason::Contradictory, "column_type", value, allowed));
        }
    })
}

/// The canonical text of an ID: of UUIDs in lower case and with hyphens.
fn canonical_text(dialect: Dialect, column_type: ColumnType, column: &str) -> String {
    let is_postgresql = dialect == Dialect::PostgreSql;
    match column_type {
        ColumnType::Uuid | ColumnType::Integer if is_postgresql => {
            format!("CAST({column} AS text)")
        }
        ColumnType::Uuid => utf8(&format!("CAST({column} AS CHAR)")),
        ColumnType::UuidBytes if is_postgresql => hyphenated_digits(&hexadecimal(column)),
        ColumnType::UuidBytes => hyphenated_bytes(column, [(1, 4), (5, 2), (7, 2)]),
        ColumnType::UuidBytesSwapped if is_postgresql => {
            let digits = hexadecimal(column);
            let part = |from, count| format!("substr({digits}, {from}, {count})");
            let digits =
                [part(9, 8), part(5, 4), part(1, 4), format!("substr({digits}, 17)")].join(" || ");
            hyphenated_digits(&digits)
        }
        // UUID_TO_BIN(x, 1) puts the third group first, and the first third.
        ColumnType::UuidBytesSwapped => hyphenated_bytes(column, [(5, 4), (3, 2), (1, 2)]),
        ColumnType::UuidText if is_postgresql => format!("lower({column})"),
        ColumnType::UuidText => format!("LOWER({})", utf8(&stored(column_type, column))),
        ColumnType::UuidDigits if is_postgresql => hyphenated_digits(&format!("lower({column})")),
        ColumnType::UuidDigits => {
            let digits = format!("LOWER({})", utf8(&stored(column_type, column)));
            let part = |from, count| format!("SUBSTR({digits}, {from}, {count})");
            let parts = [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)];
            utf8(&joined_by_hyphens(&parts))
        }
        ColumnType::Text if is_postgresql => column.to_owned(),
        ColumnType::Text => utf8(column),
        // As a number: ZEROFILL is how it is shown.
        ColumnType::Integer => utf8(&format!("CONCAT({column} + 0)")),
        ColumnType::Fraction | ColumnType::HashDigits => column.to_owned(),
    }
}

/// MySQL: a column in an expression. MariaDB takes no CHAR into a generated column, since
/// a mode decides whether it has spaces behind it; without them it is always the same.
fn stored(column_type: ColumnType, column: &str) -> String {
    match column_type {
        ColumnType::UuidText | ColumnType::UuidDigits => format!("RTRIM({column})"),
        _ => column.to_owned(),
    }
}

/// The bytes are those of UTF-8, for any character set of column, table and connection.
fn utf8(text: &str) -> String {
    format!("CONVERT({text} USING utf8mb4)")
}

/// PostgreSQL: hexadecimal digits as the text of a UUID.
fn hyphenated_digits(digits: &str) -> String {
    format!("CAST(CAST({digits} AS uuid) AS text)")
}

/// PostgreSQL: bytes as hexadecimal digits.
fn hexadecimal(column: &str) -> String {
    format!("encode({column}, 'hex')")
}

/// MySQL: bytes as the text of a UUID whose first three groups are these bytes, by
/// position (from 1) and count.
fn hyphenated_bytes(column: &str, first_groups: [(u8, u8); 3]) -> String {
    let groups: Vec<String> = first_groups
        .into_iter()
        .chain([(9, 2), (11, 6)])
        .map(|(from, count)| format!("HEX(SUBSTR({column}, {from}, {count}))"))
        .collect();
    utf8(&format!("LOWER({})", joined_by_hyphens(&groups)))
}

fn joined_by_hyphens(groups: &[String]) -> String {
    format!("CONCAT({})", groups.join(", '-', "))
}

/// The last bytes of a UUID as hexadecimal digits; byte swapping leaves them in place.
fn last_digits(dialect: Dialect, column_type: ColumnType, column: &str, digits: usize) -> String {
    let is_bytes = matches!(column_type, ColumnType::UuidBytes | ColumnType::UuidBytesSwapped);
    match dialect {
        Dialect::PostgreSql => {
            let text = match column_type {
                ColumnType::Uuid => format!("CAST({column} AS text)"),
                _ if is_bytes => hexadecimal(column),
                _ => format!("lower({column})"),
            };
            format!(r#"right({text}, {digits}) COLLATE "C""#)
        }
        Dialect::MySql | Dialect::MariaDb => {
            let text = match column_type {
                ColumnType::Uuid => format!("CAST({column} AS CHAR)"),
                _ if is_bytes => format!("HEX({column})"),
                _ => utf8(&stored(column_type, column)),
            };
            format!("LOWER(RIGHT({text}, {digits}))")
        }
        Dialect::Sqlite => {
            let text = if is_bytes { format!("hex({column})") } else { column.to_owned() };
            format!("lower(substr({text}, -{digits}))")
        }
    }
}

/// The Euclidean remainder, never negative.
fn remainder(dialect: Dialect, column: &str, bucket_count: u32) -> String {
    match dialect {
        // SQLite's integers are of 64 bits, and its mod() is not always there.
        Dialect::Sqlite => format!("({column} & {})", bucket_count - 1),
        // MySQL has &, but of 64 bits where decimals have more; % looks like a placeholder.
        _ => format!("mod(mod({column}, {bucket_count}) + {bucket_count}, {bucket_count})"),
    }
}
