import HTTPTypes

/// All routes, found by method and path.
struct RouteTable: Sendable {
    let routes: [Route]

    enum Found {
        case route(Route, [String: [[UInt8]]])
        /// The path is one, and has these methods.
        case otherMethod([HTTPRequest.Method])
        case nothing
    }

    init(_ routes: [Route] = Route.all) { self.routes = routes }

    func find(_ method: HTTPRequest.Method, _ path: RequestPath) -> Found {
        // What can be had can be asked about.
        let wanted = method == .head ? .get : method
        var others: [HTTPRequest.Method] = []
        for route in routes {
            guard let parts = route.path.match(path) else { continue }
            if route.method == wanted { return .route(route, parts) }
            others.append(route.method)
        }
        return others.isEmpty ? .nothing : .otherMethod(others)
    }
}
