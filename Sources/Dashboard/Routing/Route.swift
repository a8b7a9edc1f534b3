import HTTPTypes
import HummingbirdCore

/// One thing that the server does: what router, OpenAPI document and tests know of it comes from here.
struct Route: Sendable {
    /// Who may have it.
    enum Need: Sendable, Equatable {
        /// Everybody who reaches it.
        case nothing
        case role(Role)
        /// Monitors: whoever may look, or everybody where it was started so.
        case monitor
    }

    /// A part of the query.
    struct Parameter: Sendable {
        let name: String
        let about: String
        var schema = Schema.text
    }

    /// What is answered.
    enum Content: Sendable {
        case json(Schema)
        case nothing
        case other(mediaType: String)
    }

    let method: HTTPRequest.Method
    let path: PathTemplate
    let need: Need
    /// A line for the document.
    let summary: String
    var parameters: [Parameter] = []
    var body: Schema?
    var success: HTTPResponse.Status = .ok
    var content: Content
    /// What it refuses with, besides what every route may.
    var refusals: [HTTPResponse.Status] = []
    /// Whether it stands in the document of the API.
    var isDocumented = true
    /// Whether a browser shows it.
    var isPage: Bool { if case .other("text/html") = content { true } else { false } }
    let serve: @Sendable (Call) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, _ need: Need, _ summary: String, parameters: [Parameter] = [],
        body: Schema? = nil, success: HTTPResponse.Status = .ok, _ content: Content,
        refusals: [HTTPResponse.Status] = [], isDocumented: Bool = true,
        serve: @escaping @Sendable (Call) async throws -> Response
    ) {
        self.method = method
        self.path = PathTemplate(path)
        self.need = need
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.success = success
        self.content = content
        self.refusals = refusals
        self.isDocumented = isDocumented
        self.serve = serve
    }
}
