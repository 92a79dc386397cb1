//! TOML for serde, with the place of what is wrong.
//!
//! The deserializers of `toml` know dates and spans as tables, and each type is compiled for five
//! of them: a quarter of a megabyte, which a scenario has no use for.
//! (docs/decisions/0011-small-and-fast.md)

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) message: String,
    /// A byte of the text; none if it is said of all.
    pub(super) offset: Option<usize>,
}

impl Unreadable {
    /// There, unless it is already known to be further in.
    fn at(self, offset: usize) -> Self {
        Self { offset: self.offset.or(Some(offset)), ..self }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

impl Error for Unreadable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), offset: None }
    }
}

/// Reads a document.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    let table = DeTable::parse(text).map_err(|error| Unreadable {
        message: error.message().to_owned(),
        offset: error.span().map(|span| span.start),
    })?;
    let span = table.span();
    T::deserialize(Node(Spanned::new(span, DeValue::Table(table.into_inner()))))
}

/// A value, and where it is.
struct Node<'t>(Spanned<DeValue<'t>>);

/// A value, read.
enum Value<'t> {
    Text(Cow<'t, str>),
    Boolean(bool),
    Integer(i64),
    /// From 2^63 on.
    Large(u64),
    Fraction(f64),
    Date,
    List(Vec<Node<'t>>),
    Table(Vec<(Name<'t>, Node<'t>)>),
}

impl<'t> Node<'t> {
    /// Not generic: it would be compiled for each type that is read.
    fn open(self) -> Result<(usize, Value<'t>), Unreadable> {
        let offset = self.0.span().start;
        let value = match self.0.into_inner() {
            DeValue::String(text) => Value::Text(text),
            DeValue::Boolean(value) => Value::Boolean(value),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(values) => Value::List(values.into_iter().map(Node).collect()),
            DeValue::Table(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (Name(name), Node(value)));
                Value::Table(fields.collect())
            }
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                let large = || u64::from_str_radix(digits, radix).map(Value::Large);
                let read = i64::from_str_radix(digits, radix).map(Value::Integer);
                read.or_else(|_| large()).map_err(|_| {
                    Unreadable::custom(format_args!("{number} has more than 64 bits")).at(offset)
                })?
            }
            DeValue::Float(number) => {
                let read = number.as_str().parse().map(Value::Fraction);
                read.map_err(|_| {
                    Unreadable::custom(format_args!("{number} is no number")).at(offset)
                })?
            }
        };
        Ok((offset, value))
    }

    /// What is made of the value; what is wrong is here, or further in.
    fn visit<T>(
        self,
        visit: impl FnOnce(Value<'t>) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        let (offset, value) = self.open()?;
        visit(value).map_err(|unreadable| unreadable.at(offset))
    }
}

impl Value<'_> {
    /// Why it may not stand there.
    fn refused(&self, expected: &dyn Expected) -> Unreadable {
        let unexpected = match self {
            Self::Text(text) => Unexpected::Str(text),
            Self::Boolean(value) => Unexpected::Bool(*value),
            Self::Integer(number) => Unexpected::Signed(*number),
            Self::Large(number) => Unexpected::Unsigned(*number),
            Self::Fraction(number) => Unexpected::Float(*number),
            Self::Date => Unexpected::Other("a date"),
            Self::List(_) => Unexpected::Seq,
            Self::Table(_) => Unexpected::Map,
        };
        Error::invalid_type(unexpected, expected)
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Unreadable;

    /// Whatever stands there, for who takes more than one kind of value.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.get_ref() {
            DeValue::String(_) => self.deserialize_str(visitor),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
            _ => self.deserialize_f64(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.visit(|value| match value {
            Value::Text(text) => visitor.visit_str(&text),
            other => Err(other.refused(&visitor)),
        })
    }

    /// A number, or yes or no.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.visit(|value| match value {
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Large(number) => visitor.visit_u64(number),
            Value::Fraction(number) => visitor.visit_f64(number),
            other => Err(other.refused(&visitor)),
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.visit(|value| match value {
            Value::List(values) => {
                let mut values = SeqDeserializer::new(values.into_iter());
                let visited = visitor.visit_seq(&mut values);
                visited.and_then(|visited| values.end().map(|()| visited))
            }
            other => Err(other.refused(&visitor)),
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.visit(|value| match value {
            Value::Table(fields) => visitor.visit_map(MapDeserializer::new(fields.into_iter())),
            other => Err(other.refused(&visitor)),
        })
    }

    // A structure is read from a table alone. serde would take a list, too, of its fields in their
    // order: no scenario has that, and it would be as much code again.

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_map(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_f64(visitor)
    }

    /// What is not there is no value.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_some(self)
    }

    /// One of a few words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        let offset = self.0.span().start;
        let visited = match self.0.get_ref().as_str() {
            Some(word) => word.into_deserializer().deserialize_enum(name, words, visitor),
            None => self.deserialize_str(visitor),
        };
        visited.map_err(|unreadable| unreadable.at(offset))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u128 f32 char bytes byte_buf unit unit_struct newtype_struct
        tuple_struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The name of a field.
struct Name<'t>(Spanned<Cow<'t, str>>);

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let named = visitor.visit_str::<Unreadable>(self.0.get_ref());
        named.map_err(|unreadable| unreadable.at(self.0.span().start))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Name<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value as Json;

    use super::*;

    const EVERYTHING: &str = r#"
        text = "a \"text\" \u00e9"
        numbers = [0, -1, 0x1f, 0o17, 0b101, 1_000, 9223372036854775807, 18446744073709551615]
        fractions = [0.5, -1e-3, 6.0]
        yes = true
        empty = []
        inline = { a.b = 1, c = { d = ["e", { f = false }] } }

        [table.within]
        key = 'literal'

        [[list]]
        one = 1

        [[list]]
        "two three" = """
        lines"""
    "#;

    #[test]
    fn documents_are_what_the_library_reads() {
        let read: Json = read(EVERYTHING).unwrap();
        assert_eq!(read, ::toml::from_str::<Json>(EVERYTHING).unwrap());
        assert_eq!(read["numbers"][7], u64::MAX);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "snake_case")]
    #[expect(dead_code, reason = "read, and no more")]
    struct Form {
        count: u8,
        pair: Option<[String; 2]>,
        word: Option<Word>,
        parts: Option<Vec<Part>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        TwoParts,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read, and no more")]
    struct Part {
        name: String,
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let good = "count = 1\npair = ['a', 'b']\nword = 'two_parts'\nparts = [{ name = 'c' }]";
        assert!(read::<Form>(good).is_ok());
        for (text, what, at) in [
            ("", "missing field `count`", ""),
            ("count = 1\ncuont = 2", "unknown field `cuont`, expected one of", "cuont"),
            ("count = 256", "expected u8", "256"),
            ("count = 99999999999999999999", "more than 64 bits", "9999"),
            ("count = 'one'", "expected u8", "'one'"),
            ("count = 1\npair = ['a']", "invalid length 1", "['a']"),
            ("count = 1\npair = ['a', 'b', 'c']", "invalid length 3", "['a', 'b'"),
            ("count = 1\nword = 'three'", "unknown variant `three`", "'three'"),
            ("count = 1\nword = 3", "integer `3`, expected enum Word", "3"),
            ("count = 1\nparts = [\n{},\n]", "missing field `name`", "{}"),
            ("count = 1\n[[parts]]\nname = 'a'\nage = 1", "unknown field `age`", "age"),
            ("count = 1\n[[parts]]\nname = 1979-05-27", "a date, expected a string", "1979"),
            ("count = true", "boolean `true`, expected u8", "true"),
            ("count = 0.5", "floating point `0.5`, expected u8", "0.5"),
            ("count = 18446744073709551615", "18446744073709551615`, expected u8", "1844"),
            ("count = 1\nparts = [['c']]", "sequence, expected struct Part", "['c']"),
            ("count = 1\nparts = { name = 'c' }", "map, expected a sequence", "{ name"),
            ("count = 1\nword = {}", "map, expected enum Word", "{}"),
            ("count = ", "", ""),
        ] {
            let unreadable = read::<Form>(text).unwrap_err();
            assert!(unreadable.message.contains(what), "{text}: {unreadable}");
            let offset = unreadable.offset.unwrap();
            assert!(text[offset..].starts_with(at), "{text}: {offset}");
        }
    }
}
