//! Static assets, compiled in: the style sheet, the script of the keys, and htmx with its extension for server-sent
//! events. Their addresses carry their digest, so that a browser keeps them for good.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::model::ids::sha256_hex;

/// A file that browsers load.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

/// One sheet for the browser: the layout, then what the areas add.
const STYLES: &str = concat!(include_str!("page.css"), include_str!("areas.css"), include_str!("sheets.css"));
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// htmx 4.0.1 and its extension `hx-sse`, unchanged from the npm package `htmx.org`. A test compares their digests.
const ASSETS: [Asset; 5] = [
    Asset { name: "page.css", content_type: "text/css; charset=utf-8", bytes: STYLES.as_bytes() },
    Asset { name: "page.js", content_type: SCRIPT, bytes: include_bytes!("page.js") },
    Asset { name: "htmx.js", content_type: SCRIPT, bytes: include_bytes!("htmx.min.js") },
    Asset { name: "hx-sse.js", content_type: SCRIPT, bytes: include_bytes!("hx-sse.min.js") },
    Asset { name: "icon.svg", content_type: "image/svg+xml", bytes: include_bytes!("icon.svg") },
];

/// The digests of the assets, in their order, shortened.
static DIGESTS: LazyLock<Vec<String>> =
    LazyLock::new(|| ASSETS.iter().map(|asset| sha256_hex(asset.bytes).chars().take(12).collect()).collect());

/// Returns the address of an asset, which changes with its content.
pub(super) fn address(name: &str) -> String {
    let known = ASSETS.iter().zip(DIGESTS.iter()).find(|(asset, _)| asset.name == name);
    known.map_or_else(|| format!("/assets/{name}"), |(_, digest)| format!("/assets/{name}?v={digest}"))
}

/// Serves an asset.
pub(super) async fn serve(Path(name): Path<String>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers =
        [(header::CONTENT_TYPE, asset.content_type), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_scripts_are_those_that_their_makers_published() {
        for (name, digest) in [
            ("htmx.js", "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"),
            ("hx-sse.js", "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103"),
        ] {
            let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap();
            assert_eq!(sha256_hex(asset.bytes), digest, "{name}");
        }
    }
}
