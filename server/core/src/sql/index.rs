//! Indexes that serve the predicates.

use sha2::{Digest, Sha256};

use crate::digits::hexadecimal;
use crate::sql::column::{ColumnSpec, Dialect};
use crate::sql::key::{Key, KeyKind};
use crate::sql::text;

/// An index over a key, under a name that is always the same for the same key.
pub(super) struct Index {
    /// Its name; in MySQL and MariaDB also that of the generated column.
    pub(super) name: String,
    /// The statement that makes it.
    pub(super) create: String,
}

impl Index {
    pub(super) fn of(column: &ColumnSpec, key: &Key) -> Self {
        let ColumnSpec { dialect, schema, table, .. } = column;
        let digest =
            Sha256::digest([schema, table, &key.expression].map(String::as_str).join("\0"));
        let what = match key.kind {
            KeyKind::HashDigits => "hash",
            KeyKind::BucketDigits(_) | KeyKind::Bucket => "bucket",
            KeyKind::Fraction => "fraction",
        };
        let name =
            format!("offbeat_{what}_{}", hexadecimal(digest.first_chunk::<4>().unwrap_or(&[0; 4])));
        let quoted = |name: &str| text::name(*dialect, name);
        let in_schema = |name: &str| match schema.as_str() {
            "" => quoted(name),
            schema => format!("{}.{}", quoted(schema), quoted(name)),
        };
        let (index, table_name) = (quoted(&name), in_schema(table));
        let expression = &key.expression;
        let create = match dialect {
            Dialect::PostgreSql => {
                format!("CREATE INDEX IF NOT EXISTS {index} ON {table_name} (({expression}))")
            }
            Dialect::Sqlite => {
                let index = in_schema(&name);
                format!("CREATE INDEX IF NOT EXISTS {index} ON {} ({expression})", quoted(table))
            }
            Dialect::MySql | Dialect::MariaDb => {
                let unless = if *dialect == Dialect::MariaDb { "IF NOT EXISTS " } else { "" };
                let add_index = |over: &str| format!("ADD INDEX {unless}{index} ({over})");
                if key.is_column {
                    format!("ALTER TABLE {table_name} {}", add_index(expression))
                } else {
                    format!(
                        "ALTER TABLE {table_name} ADD COLUMN {unless}{index} {} \
                         GENERATED ALWAYS AS ({expression}) VIRTUAL INVISIBLE, {}",
                        generated_type(key.kind),
                        add_index(&index)
                    )
                }
            }
        };
        Self { name, create }
    }
}

/// MySQL: the type of a generated column.
fn generated_type(kind: KeyKind) -> String {
    let digits = |count| format!("CHAR({count}) CHARACTER SET ascii COLLATE ascii_bin");
    match kind {
        KeyKind::HashDigits => digits(16),
        KeyKind::BucketDigits(count) => digits(count),
        KeyKind::Bucket => "SMALLINT UNSIGNED".to_owned(),
        KeyKind::Fraction => "DOUBLE".to_owned(),
    }
}
