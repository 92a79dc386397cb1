//! Conditions of a query, and the values to bind.

/// A condition, for a query's WHERE clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The condition, in parentheses.
    pub sql: String,
    /// Values to bind, in the order of the placeholders.
    pub parameters: Vec<Parameter>,
}

/// A value to bind.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name (`Named`), else empty.
    pub name: String,
    /// A value to bind, of the type that the comparison needs.
    pub value: Value,
}

/// A value of SQL.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A bucket, 0 to 65,535.
    Integer(i64),
    /// Hexadecimal digits in lower case, of a hash or a bucket.
    Text(String),
    /// A fraction of the cycle, in [0, 1].
    Real(f64),
}
