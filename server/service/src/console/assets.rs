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

const ASSETS: [Asset; 4] = [
    Asset {
        path: "/",
        content_type: "text/html; charset=utf-8",
        content: include_bytes!("../../../console/assets/index.html"),
    },
    Asset {
        path: "/console.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_bytes!("../../../console/assets/console.js"),
    },
    Asset {
        path: "/console.css",
        content_type: "text/css; charset=utf-8",
        content: include_bytes!("../../../console/assets/console.css"),
    },
    Asset {
        path: "/icon.svg",
        content_type: "image/svg+xml",
        content: include_bytes!("../../../console/assets/icon.svg"),
    },
];

/// Nothing but files of this origin, and no page around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The headers of every file. A newer server has newer files under the same names.
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
