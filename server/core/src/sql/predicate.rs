//! Conditions of a query, and the values to bind.

/// A condition, for a query's WHERE clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The condition, in parentheses.
    pub sql: String,
    /// What to bind, in the order of the placeholders.
    pub parameters: Vec<Parameter>,
}

/// A value to bind.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name (`Named`), else empty.
    pub name: String,
    /// The value.
    pub value: Value,
}

/// A value of SQL.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// Hexadecimal digits.
    Text(String),
    /// A double.
    Real(f64),
}
