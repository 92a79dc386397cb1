from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
SQL_COLUMN_TYPE_FRACTION: SqlColumnType
SQL_COLUMN_TYPE_HASH_DIGITS: SqlColumnType
SQL_COLUMN_TYPE_INTEGER: SqlColumnType
SQL_COLUMN_TYPE_TEXT: SqlColumnType
SQL_COLUMN_TYPE_UNSPECIFIED: SqlColumnType
SQL_COLUMN_TYPE_UUID: SqlColumnType
SQL_COLUMN_TYPE_UUID_BYTES: SqlColumnType
SQL_COLUMN_TYPE_UUID_BYTES_SWAPPED: SqlColumnType
SQL_COLUMN_TYPE_UUID_DIGITS: SqlColumnType
SQL_COLUMN_TYPE_UUID_TEXT: SqlColumnType
SQL_DIALECT_MARIADB: SqlDialect
SQL_DIALECT_MYSQL: SqlDialect
SQL_DIALECT_POSTGRESQL: SqlDialect
SQL_DIALECT_SQLITE: SqlDialect
SQL_DIALECT_UNSPECIFIED: SqlDialect
SQL_PARAMETER_STYLE_DOLLAR: SqlParameterStyle
SQL_PARAMETER_STYLE_FORMAT: SqlParameterStyle
SQL_PARAMETER_STYLE_LITERAL: SqlParameterStyle
SQL_PARAMETER_STYLE_NAMED: SqlParameterStyle
SQL_PARAMETER_STYLE_QUESTION_MARK: SqlParameterStyle
SQL_PARAMETER_STYLE_UNSPECIFIED: SqlParameterStyle

class SqlIndex(_message.Message):
    __slots__ = ["create_statements", "name"]
    CREATE_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    create_statements: _containers.RepeatedScalarFieldContainer[str]
    name: str
    def __init__(self, name: _Optional[str] = ..., create_statements: _Optional[_Iterable[str]] = ...) -> None: ...

class SqlParameter(_message.Message):
    __slots__ = ["integer", "name", "real", "text"]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REAL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    integer: int
    name: str
    real: float
    text: str
    def __init__(self, name: _Optional[str] = ..., integer: _Optional[int] = ..., text: _Optional[str] = ..., real: _Optional[float] = ...) -> None: ...

class SqlPredicate(_message.Message):
    __slots__ = ["parameters", "sql"]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    parameters: _containers.RepeatedCompositeFieldContainer[SqlParameter]
    sql: str
    def __init__(self, sql: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[SqlParameter, _Mapping]]] = ...) -> None: ...

class SqlTarget(_message.Message):
    __slots__ = ["column", "column_type", "dialect", "first_parameter_number", "parameter_style", "schema", "table", "table_alias", "time_zone_column"]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    COLUMN_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    FIRST_PARAMETER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_STYLE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    TABLE_ALIAS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_COLUMN_FIELD_NUMBER: _ClassVar[int]
    column: str
    column_type: SqlColumnType
    dialect: SqlDialect
    first_parameter_number: int
    parameter_style: SqlParameterStyle
    schema: str
    table: str
    table_alias: str
    time_zone_column: str
    def __init__(self, dialect: _Optional[_Union[SqlDialect, str]] = ..., schema: _Optional[str] = ..., table: _Optional[str] = ..., column: _Optional[str] = ..., column_type: _Optional[_Union[SqlColumnType, str]] = ..., table_alias: _Optional[str] = ..., parameter_style: _Optional[_Union[SqlParameterStyle, str]] = ..., first_parameter_number: _Optional[int] = ..., time_zone_column: _Optional[str] = ...) -> None: ...

class SqlDialect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SqlColumnType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SqlParameterStyle(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
