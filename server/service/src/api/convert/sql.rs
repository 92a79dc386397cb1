//! Columns that callers name, and the predicates over them.

use offbeat_core::sql::{
    ColumnSpec, ColumnType, Dialect, Index, Membership, ParameterStyle, Predicate, Value,
};
use offbeat_core::{Reason, Rejection, Schedule};

use super::scalars::{required, unknown_enum_value};
use offbeat_proto as proto;

/// The field that names the column, in every request.
const FIELD: &str = "sql_target";

/// Predicates of a schedule over the column that a request names.
pub(in crate::api) fn membership(
    schedule: &Schedule,
    message: proto::SqlTarget,
) -> Result<Membership<'_>, Rejection> {
    sql_target(message)
        .and_then(|column| Membership::try_new(schedule, &column))
        .map_err(|rejection| rejection.under(FIELD))
}

/// Refuses a column of time zones that would be ignored.
pub(in crate::api) fn without_zones(message: Option<&proto::SqlTarget>) -> Result<(), Rejection> {
    let Some(column) = message.filter(|column| !column.time_zone_column.is_empty()) else {
        return Ok(());
    };
    let field = format!("{FIELD}.time_zone_column");
    let value = format_args!("{:?}", column.time_zone_column);
    let allowed = "must be set with time_zones of GetWindowPredicate alone";
    Err(Rejection::new(Reason::Contradictory, field, value, allowed))
}

/// Like [`membership`], for requests that must name a column.
pub(in crate::api) fn required_membership(
    schedule: &Schedule,
    message: Option<proto::SqlTarget>,
) -> Result<Membership<'_>, Rejection> {
    membership(schedule, required(FIELD, message, "it must be set")?)
}

/// The column, not yet checked; refusals name fields without `sql_target`.
pub(in crate::api) fn sql_target(message: proto::SqlTarget) -> Result<ColumnSpec, Rejection> {
    let proto::SqlTarget {
        dialect,
        schema,
        table,
        column,
        column_type,
        table_alias,
        parameter_style,
        first_parameter_number,
        time_zone_column,
    } = message;
    Ok(ColumnSpec {
        dialect: dialect_of(dialect)?,
        schema,
        table,
        column,
        column_type: type_of(column_type)?,
        table_alias,
        parameter_style: style_of(parameter_style)?,
        first_parameter_number,
        time_zone_column,
    })
}

fn dialect_of(number: i32) -> Result<Dialect, Rejection> {
    const ALLOWED: &str = "1 to 4, a value of SqlDialect";
    match proto::SqlDialect::try_from(number) {
        Ok(proto::SqlDialect::Unspecified) => Err(not_set("dialect", ALLOWED)),
        Ok(proto::SqlDialect::Postgresql) => Ok(Dialect::PostgreSql),
        Ok(proto::SqlDialect::Mysql) => Ok(Dialect::MySql),
        Ok(proto::SqlDialect::Mariadb) => Ok(Dialect::MariaDb),
        Ok(proto::SqlDialect::Sqlite) => Ok(Dialect::Sqlite),
        Err(_) => Err(unknown_enum_value("dialect", number, ALLOWED)),
    }
}

fn type_of(number: i32) -> Result<ColumnType, Rejection> {
    use proto::SqlColumnType as Wire;
    const ALLOWED: &str = "1 to 9, a value of SqlColumnType";
    match Wire::try_from(number) {
        Ok(Wire::Unspecified) => Err(not_set("column_type", ALLOWED)),
        Ok(Wire::Uuid) => Ok(ColumnType::Uuid),
        Ok(Wire::UuidBytes) => Ok(ColumnType::UuidBytes),
        Ok(Wire::UuidBytesSwapped) => Ok(ColumnType::UuidBytesSwapped),
        Ok(Wire::UuidText) => Ok(ColumnType::UuidText),
        Ok(Wire::UuidDigits) => Ok(ColumnType::UuidDigits),
        Ok(Wire::Integer) => Ok(ColumnType::Integer),
        Ok(Wire::Text) => Ok(ColumnType::Text),
        Ok(Wire::Fraction) => Ok(ColumnType::Fraction),
        Ok(Wire::HashDigits) => Ok(ColumnType::HashDigits),
        Err(_) => Err(unknown_enum_value("column_type", number, ALLOWED)),
    }
}

fn style_of(number: i32) -> Result<ParameterStyle, Rejection> {
    use proto::SqlParameterStyle as Wire;
    match Wire::try_from(number) {
        Ok(Wire::Unspecified) => Ok(ParameterStyle::default()),
        Ok(Wire::Literal) => Ok(ParameterStyle::Literal),
        Ok(Wire::QuestionMark) => Ok(ParameterStyle::QuestionMark),
        Ok(Wire::Format) => Ok(ParameterStyle::Format),
        Ok(Wire::Dollar) => Ok(ParameterStyle::Dollar),
        Ok(Wire::Named) => Ok(ParameterStyle::Named),
        Err(_) => {
            let allowed = "0 to 5, a value of SqlParameterStyle";
            Err(unknown_enum_value("parameter_style", number, allowed))
        }
    }
}

fn not_set(field: &str, allowed: &str) -> Rejection {
    Rejection::new(Reason::FieldMissing, field, "nothing", format!("must be {allowed}"))
}

pub(in crate::api) fn predicate(predicate: Predicate) -> proto::SqlPredicate {
    use proto::sql_parameter::Value as Wire;
    let Predicate { sql, parameters } = predicate;
    let parameters = parameters
        .into_iter()
        .map(|parameter| proto::SqlParameter {
            name: parameter.name,
            value: Some(match parameter.value {
                Value::Integer(integer) => Wire::Integer(integer),
                Value::Text(text) => Wire::Text(text),
                Value::Real(real) => Wire::Real(real),
            }),
        })
        .collect();
    proto::SqlPredicate { sql, parameters }
}

pub(in crate::api) fn sql_index(index: &Index) -> proto::SqlIndex {
    let Index { name, create_statements } = index.clone();
    proto::SqlIndex { name, create_statements }
}
