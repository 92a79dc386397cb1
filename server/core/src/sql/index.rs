//! Indexes that serve the predicates.

use sha2::{Digest, Sha256};

use crate::ids::hexadecimal;
use crate::sql::column::{ColumnSpec, Dialect};
use crate::sql::key::{Key, KeyKind};
use crate::sql::text;

/// An index over what predicates compare, under a name that is always the same for the same
/// expression over the same table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name; in MySQL and MariaDB also that of the generated column, if there is one.
    pub name: String,
    /// The statements that make it, in order.
    pub create_statements: Vec<String>,
}

impl Index {
    pub(super) fn of(column: &ColumnSpec, key: &Key) -> Self {
        let ColumnSpec { dialect, schema, table, .. } = column;
        let expression = &key.expression;
        let name = name(*dialect, table, key);
        let quoted = |name: &str| text::name(*dialect, name);
        let in_schema = |name: &str| match schema.as_str() {
            "" => quoted(name),
            schema => format!("{}.{}", quoted(schema), quoted(name)),
        };
        let (index, table_name) = (quoted(&name), in_schema(table));
        let create_statements = match dialect {
            Dialect::PostgreSql => {
                vec![format!("CREATE INDEX IF NOT EXISTS {index} ON {table_name} (({expression}))")]
            }
            Dialect::Sqlite => {
                let (index, table) = (in_schema(&name), quoted(table));
                vec![format!("CREATE INDEX IF NOT EXISTS {index} ON {table} ({expression})")]
            }
            // Two statements: both at once would lock the table against writes.
            Dialect::MySql | Dialect::MariaDb => {
                let alter = format!("ALTER TABLE {table_name} ADD");
                let unless = if *dialect == Dialect::MariaDb { "IF NOT EXISTS " } else { "" };
                let add_index = |over: &str| format!("{alter} INDEX {unless}{index} ({over})");
                match &key.generated {
                    None => vec![add_index(expression)],
                    Some(generated_type) => vec![
                        format!(
                            "{alter} COLUMN {unless}{index} {generated_type} \
                             GENERATED ALWAYS AS ({expression}) VIRTUAL INVISIBLE"
                        ),
                        add_index(&index),
                    ],
                }
            }
        };
        Self { name, create_statements }
    }
}

/// Columns and indexes of MySQL live in their table; names of indexes elsewhere in a schema.
fn name(dialect: Dialect, table: &str, key: &Key) -> String {
    let table = if dialect.is_mysql_like() { "" } else { table };
    let digest = hexadecimal(&Sha256::digest([table, &key.expression].join("\0")));
    let what = match key.kind {
        KeyKind::HashDigits => "hash",
        KeyKind::BucketDigits(_) | KeyKind::Bucket(_) => "bucket",
        KeyKind::Fraction => "fraction",
    };
    format!("offbeat_{what}_{}", digest.get(..8).unwrap_or(&digest))
}
