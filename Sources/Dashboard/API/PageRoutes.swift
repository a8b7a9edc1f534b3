extension Route {
    /// The pages: one skeleton, which the modules fill.
    static let pages =
        [
            "/", "/pipelines/{name}", "/waiting", "/jobs", "/jobs/{id}", "/failed", "/drop", "/changes",
        ].map { path in page(path, "page.html", .role(.look)) } + [page("/login", "login.html", .nothing)]

    private static func page(_ path: String, _ asset: String, _ need: Need) -> Route {
        Route(.get, path, need, "A page", .other(mediaType: "text/html"), isDocumented: false) { call in
            try Assets.answer(asset, to: call.request)
        }
    }

    static let asset = Route(
        .get, "/assets/{name}", .nothing, "What pages consist of", .other(mediaType: "*/*"), isDocumented: false
    ) { call in
        try Assets.answer(try call.text("name"), to: call.request)
    }
}
