//! SQL as text: names and values that can be nothing else.

use crate::ids::hexadecimal;
use crate::sql::column::{Dialect, ParameterStyle};
use crate::sql::predicate::{Parameter, Value};

/// A name in the quotes of its database, so that no name can be read as anything else.
///
/// SQLite takes backticks as well as double quotes, and reads a double-quoted name
/// that is no column as a string: a misspelt one would be compared as a constant.
pub(super) fn name(dialect: Dialect, name: &str) -> String {
    let quote = if dialect == Dialect::PostgreSql { '"' } else { '`' };
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push(quote);
    for character in name.chars() {
        if character == quote {
            quoted.push(quote);
        }
        quoted.push(character);
    }
    quoted.push(quote);
    quoted
}

/// A salt as the text of PostgreSQL. Characters that drivers look for, or that a
/// setting gives another meaning, are written by their number.
pub(super) fn postgresql_salt(salt: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut plain = String::new();
    for character in salt.chars() {
        if is_special(character) {
            if !plain.is_empty() {
                parts.push(format!("'{plain}'"));
                plain.clear();
            }
            parts.push(format!("chr({})", u32::from(character)));
        } else {
            plain.push(character);
        }
    }
    if !plain.is_empty() {
        parts.push(format!("'{plain}'"));
    }
    parts.join(" || ")
}

fn is_special(character: char) -> bool {
    character.is_control() || matches!(character, '\'' | '\\' | '%' | '?' | ':' | '$')
}

/// A salt as the bytes of MySQL and MariaDB: readable if it is plain, in hexadecimal
/// if the character set of the connection or an escape could change it.
pub(super) fn mysql_salt(salt: &str) -> String {
    if salt.chars().all(|character| character.is_ascii() && !is_special(character)) {
        format!("'{salt}'")
    } else {
        format!("X'{}'", hexadecimal(salt.as_bytes()))
    }
}

/// Collects what is to be bound, and writes what stands for it.
#[derive(Debug)]
pub(super) struct Binder {
    dialect: Dialect,
    style: ParameterStyle,
    first: i32,
    parameters: Vec<Parameter>,
}

impl Binder {
    pub(super) const fn new(dialect: Dialect, style: ParameterStyle, first: i32) -> Self {
        Self { dialect, style, first, parameters: Vec::new() }
    }

    pub(super) fn into_parameters(self) -> Vec<Parameter> {
        self.parameters
    }

    /// What stands for `value` in the statement.
    pub(super) fn bind(&mut self, value: Value) -> String {
        if self.style == ParameterStyle::Literal {
            return self.literal(&value);
        }
        // Some thousand values at most follow a first number of at most 65,000.
        let number = self.first + i32::try_from(self.parameters.len()).unwrap_or_default();
        let name = format!("offbeat_{number}");
        let (name, placeholder) = match self.style {
            ParameterStyle::Named => (name.clone(), format!(":{name}")),
            ParameterStyle::Dollar => (String::new(), format!("${number}")),
            ParameterStyle::Format => (String::new(), "%s".to_owned()),
            ParameterStyle::QuestionMark | ParameterStyle::Literal => {
                (String::new(), "?".to_owned())
            }
        };
        let placeholder = self.typed(&value, placeholder);
        self.parameters.push(Parameter { name, value });
        placeholder
    }

    /// Text that stands as it is; where `%` begins a placeholder, `%%` stands for one.
    pub(super) fn text(&self, sql: &str) -> String {
        if self.style == ParameterStyle::Format { sql.replace('%', "%%") } else { sql.to_owned() }
    }

    /// SQLite compares a number with text that looks like one by their types, and some
    /// drivers (PDO) bind everything as text. Not CAST: it has an affinity, which the
    /// indexed expression has not, so that the index would not be used.
    fn typed(&self, value: &Value, placeholder: String) -> String {
        match (self.dialect, value) {
            (Dialect::Sqlite, Value::Integer(_) | Value::Real(_)) => format!("({placeholder} + 0)"),
            _ => placeholder,
        }
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Integer(integer) => integer.to_string(),
            Value::Text(digits) => format!("'{digits}'"), // hexadecimal digits, all of them
            Value::Real(real) if self.dialect == Dialect::Sqlite => quotient(*real),
            // The exponent makes it a double in MySQL, where 0.5 is a decimal.
            Value::Real(real) => format!("{real:e}"),
        }
    }
}

/// A double in [0, 1] as a quotient of integers that doubles hold. SQLite (3.40, and
/// others before 3.43) reads some decimals an ulp off; whole numbers below 2^53 it
/// reads exactly, and a division by a power of two is exact.
fn quotient(real: f64) -> String {
    const WHOLE: f64 = 9_007_199_254_740_992.0; // 2^53
    if real == 0.0 {
        return "0.0".to_owned();
    }
    let mut scale = 1.0;
    while real * scale < 0.5 {
        scale *= 2.0; // bounds are a tick of a period or more: a few dozen times
    }
    format!("({:.1} / {WHOLE:.1} / {scale:.1})", real * scale * WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_their_quotes() {
        assert_eq!(name(Dialect::PostgreSql, r#"a"; DROP TABLE b"#), r#""a""; DROP TABLE b""#);
        for dialect in [Dialect::MySql, Dialect::MariaDb, Dialect::Sqlite] {
            assert_eq!(name(dialect, "a`b\"c"), "`a``b\"c`");
        }
    }

    #[test]
    fn salts_are_readable_where_they_can_be() {
        assert_eq!(postgresql_salt("café 1"), "'café 1'");
        assert_eq!(postgresql_salt("it's 5%"), "'it' || chr(39) || 's 5' || chr(37)");
        assert_eq!(mysql_salt("tenant-a"), "'tenant-a'");
        assert_eq!(mysql_salt("é'"), "X'c3a927'");
    }

    #[test]
    fn quotients_are_the_doubles_they_stand_for() {
        for real in [1.0, 0.5, 0.2, 1e-12, 0.999_999_999_999_999_9, 1.0 / 3.0] {
            let text = quotient(real);
            let parts: Vec<f64> =
                text[1..text.len() - 1].split(" / ").map(|part| part.parse().unwrap()).collect();
            assert!(parts[0] <= 9_007_199_254_740_992.0);
            assert_eq!((parts[0] / parts[1] / parts[2]).to_bits(), real.to_bits(), "{text}");
        }
    }
}
