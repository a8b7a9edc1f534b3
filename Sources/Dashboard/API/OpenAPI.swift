import HTTPTypes
import PipelineKit

/// The document of the API (OpenAPI 3.1), made from the routes.
enum OpenAPI {
    /// What any route may be refused with.
    private static let usual: [HTTPResponse.Status] = [
        .badRequest, .notFound, .conflict, .tooManyRequests, .serviceUnavailable,
    ]

    static func document(of routes: [Route], version: String) -> [UInt8] {
        var json = JSONText()
        json.object(nil) { json in
            json.text("openapi", "3.1.0")
            json.object("info") { json in
                json.text("title", "Dropmill")
                json.text("version", version)
                json.text(
                    "description",
                    "What the pages of `dropmill serve` use. Names are bytes: one that is not UTF-8 "
                        + "is escaped, and `NAME_base64` beside it has its bytes.")
            }
            json.object("paths") { json in
                for (path, routes) in byPath(routes) {
                    json.object(path) { json in
                        for route in routes { json.object(route.method.rawValue.lowercased()) { write(route, &$0) } }
                    }
                }
            }
            json.object("components") { json in
                json.object("schemas") { json in
                    for part in Schema.Part.allCases { part.schema.write(&json, part.rawValue) }
                }
                json.object("securitySchemes") { json in
                    json.object("token") { json in
                        json.text("type", "http")
                        json.text("scheme", "bearer")
                    }
                }
            }
            json.array("security") { json in json.object { json in json.array("token") { _ in } } }
        }
        return json.bytes
    }

    private static func byPath(_ routes: [Route]) -> [(String, [Route])] {
        var found: [(String, [Route])] = []
        for route in routes where route.isDocumented {
            let path = route.path.description
            if let index = found.firstIndex(where: { $0.0 == path }) {
                found[index].1.append(route)
            } else {
                found.append((path, [route]))
            }
        }
        return found
    }

    private static func write(_ route: Route, _ json: inout JSONText) {
        json.text("summary", route.summary)
        json.array("parameters") { json in
            for name in route.path.names {
                json.object { json in
                    json.text("name", name)
                    json.text("in", "path")
                    json.flag("required", true)
                    Schema.text.write(&json, "schema")
                }
            }
            for parameter in route.parameters {
                json.object { json in
                    json.text("name", parameter.name)
                    json.text("in", "query")
                    json.text("description", parameter.about)
                    parameter.schema.write(&json, "schema")
                }
            }
        }
        if let body = route.body {
            json.object("requestBody") { json in
                json.flag("required", true)
                json.object("content") { json in
                    json.object("application/json") { body.write(&$0, "schema") }
                }
            }
        }
        json.object("responses") { json in
            json.object(String(route.success.code)) { json in
                json.text("description", route.success.reasonPhrase)
                switch route.content {
                case .nothing: break
                case .json(let schema):
                    json.object("content") { json in json.object("application/json") { schema.write(&$0, "schema") } }
                case .other(let mediaType):
                    json.object("content") { json in json.object(mediaType) { Schema.text.write(&$0, "schema") } }
                }
            }
            for status in refusals(of: route) {
                json.object(String(status.code)) { json in
                    json.text("description", status.reasonPhrase)
                    json.object("content") { json in
                        json.object(Problem.mediaType) { Schema.part(.problem).write(&$0, "schema") }
                    }
                }
            }
        }
        if route.need == .nothing { json.array("security") { _ in } }
    }

    private static func refusals(of route: Route) -> [HTTPResponse.Status] {
        var found = Set(route.refusals.map(\.code)).union(usual.map(\.code))
        if route.need != .nothing { found.formUnion([401, 403]) }
        if route.body != nil { found.formUnion([413, 415]) }
        return found.sorted().map { HTTPResponse.Status(code: $0) }
    }
}
