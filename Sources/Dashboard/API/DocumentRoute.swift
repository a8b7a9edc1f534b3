extension Route {
    static let document = Route(
        .get, "/api/v1/openapi.json", .role(.look), "This document", .json(.map(nil))
    ) { call in
        HTTPAnswer.bytes(OpenAPI.document(of: Route.all, version: call.site.version), "application/json")
    }
}
