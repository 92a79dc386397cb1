//! The files of the page, as `npm run build` makes them in `server/console`.

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

struct Asset {
    path: &'static str,
    content_type: &'static str,
    content: &'static [u8],
}

macro_rules! asset {
    ($path:literal, $content_type:literal, $file:literal) => {
        Asset {
            path: $path,
            content_type: $content_type,
            content: include_bytes!(concat!("../../../console/assets/", $file)),
        }
    };
}

const ASSETS: [Asset; 7] = [
    asset!("/", "text/html; charset=utf-8", "index.html"),
    asset!("/console.js", "text/javascript; charset=utf-8", "console.js"),
    asset!("/console.css", "text/css; charset=utf-8", "console.css"),
    asset!("/icon.svg", "image/svg+xml", "icon.svg"),
    // The simulator's page, which the console shows in a frame.
    asset!("/report.html", "text/html; charset=utf-8", "report.html"),
    asset!("/report.js", "text/javascript; charset=utf-8", "report.js"),
    asset!("/report.css", "text/css; charset=utf-8", "report.css"),
];

/// Allows only files of this origin, and only pages of this origin to frame them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; frame-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The headers of every file. Caches must revalidate: a newer server has newer files under the same
/// names.
fn headers(content_type: &'static str) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ]
}

pub(super) fn router() -> Router {
    ASSETS.iter().fold(Router::new(), |router, asset| {
        let answer = || async { (headers(asset.content_type), asset.content).into_response() };
        router.route(asset.path, get(answer))
    })
}
