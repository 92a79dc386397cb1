//! The JSON bridge: text to message, and back.

use super::choices::Choices;
use super::methods::MESSAGES;
use super::refusal;

/// The first byte selects the message; the rest is its JSON text.
pub fn json(data: &[u8]) {
    let mut choices = Choices::new(data);
    let message = choices.one_of(MESSAGES);
    match (message.read)(choices.rest()) {
        Err(rejection) => refusal::check(&rejection),
        Ok(bytes) => {
            let text = (message.write)(&bytes).expect("what was read can be written");
            let again = (message.read)(text.as_bytes());
            let again = again.unwrap_or_else(|refused| panic!("{text}: {refused}"));
            assert_eq!(again, bytes, "{text}");
            assert_eq!((message.write)(&again), Some(text));
        }
    }
}
