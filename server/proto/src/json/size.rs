//! What a JSON text holds, counted before anything is built of it: a byte of a list can become
//! fifty in memory.

use offbeat_core::limits::Limit;
use tonic::Status;

use crate::limits::{JSON_ITEMS, JSON_OBJECTS};
use crate::status;

/// Deeper texts are refused by the reader.
const DEPTH: usize = 128;

/// Refuses a text with more objects, or more items of lists, than any method takes. Text that is
/// not JSON is left to the reader.
pub(super) fn check(json: &[u8]) -> Result<(), Status> {
    let (mut objects, mut items) = (0, 0);
    // Whether each open bracket is a list's.
    let mut open: Vec<bool> = Vec::with_capacity(DEPTH);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => {
                let is_list = *byte == b'[';
                objects += usize::from(!is_list);
                items += usize::from(is_list);
                if open.len() == DEPTH {
                    break; // too deep for the reader; what came before still counts
                }
                open.push(is_list);
            }
            b'}' | b']' => drop(open.pop()),
            b',' if open.last() == Some(&true) => items += 1,
            _ => {}
        }
    }
    within(objects, JSON_OBJECTS)?;
    within(items, JSON_ITEMS)
}

fn within(count: usize, limit: Limit) -> Result<(), Status> {
    if count > limit.max_size() {
        return Err(status::message_holds_too_much(count, limit));
    }
    Ok(())
}

fn skip_string<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects_are_counted_and_strings_are_not() {
        let numbers = |count: usize| format!("[{}0]", "0,".repeat(count - 1)).into_bytes();
        assert!(check(&numbers(JSON_ITEMS.max_size())).is_ok());
        assert!(check(&numbers(JSON_ITEMS.max_size() + 1)).is_err());
        let objects = |count: usize| format!("[{}]", "{},".repeat(count)).into_bytes();
        assert!(check(&objects(JSON_OBJECTS.max_size())).is_ok());
        assert!(check(&objects(JSON_OBJECTS.max_size() + 1)).is_err());
        let quoted = format!(r#"["{}"]"#, r#"[,{\","#.repeat(JSON_ITEMS.max_size()));
        assert!(check(quoted.as_bytes()).is_ok());
        let keys = format!("{{{}}}", r#""a":1,"#.repeat(JSON_ITEMS.max_size() + 1));
        assert!(check(keys.as_bytes()).is_ok(), "a second one of the same name ends the reading");
        assert!(check(&b"[".repeat(1 << 20)).is_ok(), "too deep for the reader");
        let hidden = format!(r#"[{}{}"#, "{},".repeat(300_000), "[".repeat(200));
        assert!(check(hidden.as_bytes()).is_err(), "depth does not hide what came before");
    }
}
