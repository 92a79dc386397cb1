//! Addresses of Sentinels, which name several servers and so are not URLs.

use percent_encoding::percent_decode_str;

/// The port of a Sentinel, if none is named.
const PORT: u16 = 26_379;

/// The Sentinels of a Redis.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sentinels {
    /// Whether Sentinels and Redis are reached by TLS.
    pub(super) is_tls: bool,
    /// User of Redis.
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) addresses: Vec<(String, u16)>,
    /// The name of the Redis that they watch.
    pub(super) service: String,
    pub(super) database: i64,
}

/// Reads `redis+sentinel://[USER:PASSWORD@]HOST:PORT[,HOST:PORT…]/SERVICE[/DATABASE]`; `None` if it
/// is another URL.
pub(super) fn sentinels(url: &str) -> Result<Option<Sentinels>, String> {
    let Some((scheme, rest)) = url.split_once("://") else { return Ok(None) };
    let is_tls = match scheme {
        "redis+sentinel" => false,
        "rediss+sentinel" => true,
        _ => return Ok(None),
    };
    let (secret, rest) =
        rest.rsplit_once('@').map_or((None, rest), |(secret, rest)| (Some(secret), rest));
    let (user, password) =
        secret.map_or(("", ""), |text| text.split_once(':').unwrap_or((text, "")));
    let mut parts = rest.split('/');
    let hosts = parts.next().unwrap_or_default();
    let service = parts.next().unwrap_or_default();
    let database = match parts.next().filter(|text| !text.is_empty()) {
        Some(text) => text.parse().map_err(|_| format!("the database {text} must be a number"))?,
        None => 0,
    };
    if service.is_empty() || parts.next().is_some() {
        return Err("an address of Sentinels must be \
                    redis+sentinel://HOST:PORT,HOST:PORT/SERVICE/DATABASE"
            .to_owned());
    }
    let addresses = hosts.split(',').map(host_and_port).collect::<Result<_, _>>()?;
    let service = decoded(service)?.unwrap_or_default();
    let (user, password) = (decoded(user)?, decoded(password)?);
    Ok(Some(Sentinels { is_tls, user, password, addresses, service, database }))
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let wrong = || format!("the Sentinel {text:?} must be HOST or HOST:PORT");
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address stands in brackets.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
        _ => (text, PORT),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port)) }
}

/// A part of a URL; `None` if it is empty.
fn decoded(text: &str) -> Result<Option<String>, String> {
    let text = percent_decode_str(text).decode_utf8().map_err(|error| error.to_string())?;
    Ok((!text.is_empty()).then(|| text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_are_named_with_the_service_that_they_watch() {
        let expected = Sentinels {
            is_tls: false,
            user: None,
            password: None,
            addresses: vec![("a".to_owned(), 1), ("b".to_owned(), PORT), ("::1".to_owned(), 2)],
            service: "main".to_owned(),
            database: 0,
        };
        assert_eq!(sentinels("redis+sentinel://a:1,b,[::1]:2/main"), Ok(Some(expected)));
        let expected = Sentinels {
            is_tls: true,
            user: Some("me".to_owned()),
            password: Some("p@ss:w/rd".to_owned()),
            addresses: vec![("::1".to_owned(), PORT)],
            service: "main".to_owned(),
            database: 3,
        };
        let url = "rediss+sentinel://me:p%40ss:w%2Frd@[::1]/main/3";
        assert_eq!(sentinels(url), Ok(Some(expected)));
        let by_password = sentinels("redis+sentinel://:secret@a/main/").unwrap().unwrap();
        assert_eq!((by_password.user, by_password.password), (None, Some("secret".to_owned())));
    }

    #[test]
    fn other_urls_are_none_and_wrong_ones_are_refused() {
        for url in ["redis://a", "redis+unix:///run/redis.sock", "a"] {
            assert_eq!(sentinels(url), Ok(None));
        }
        for url in
            ["a", "a/", "a:x/main", "/main", ":1/main", "a/main/x", "a/main/0/more", "a,/main"]
        {
            assert!(sentinels(&format!("redis+sentinel://{url}")).is_err(), "{url}");
        }
    }
}
