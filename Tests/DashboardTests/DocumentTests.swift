import Files
import FoundationEssentials
import Journal
import SystemPackage
import TestTools
import Testing

@testable import Dashboard

/// The table of routes, the document that is made from it, and what the pages consist of.
@Suite struct DocumentTests {
    @Test("Each route is found by its own path, and by no other's")
    func routes() throws {
        let table = RouteTable()
        for route in table.routes {
            let path = route.path.description.replacing("{", with: "").replacing("}", with: "")
            let given = try #require(RequestPath(path))
            guard case .route(let found, _) = table.find(route.method, given) else {
                Issue.record("\(path) is not found")
                continue
            }
            #expect(found.path == route.path && found.method == route.method, "\(path)")
        }
        #expect(Set(table.routes.map { "\($0.method) \($0.path)" }).count == table.routes.count)
    }

    @Test("Whatever changes something is for those who may, and never a GET")
    func needs() {
        for route in Route.all where route.isDocumented {
            switch route.method {
            case .get: #expect(route.need != .role(.operate) && route.body == nil, "\(route.path)")
            default:
                let isLogin = ["/login", "/logout", "/api/v1/runs/preview"].contains(route.path.description)
                #expect(isLogin || route.need == .role(.operate) || route.need == .role(.drop), "\(route.path)")
            }
        }
    }

    @Test("The document is JSON, has every route, and nothing that it names is missing")
    func document() throws {
        let bytes = OpenAPI.document(of: Route.all, version: "1")
        let text = String(decoding: bytes, as: UTF8.self)
        guard case .object(let document)? = JSONValue(text), case .object(let paths)? = document["paths"] else {
            Issue.record("it is no JSON")
            return
        }
        for route in Route.all where route.isDocumented {
            guard case .object(let operations)? = paths[route.path.description] else {
                Issue.record("\(route.path) is missing")
                continue
            }
            #expect(operations[route.method.rawValue.lowercased()] != nil)
        }
        for match in text.matches(of: /#\/components\/schemas\/(\w+)/) {
            #expect(Schema.Part(rawValue: String(match.output.1)) != nil, "\(match.output.1)")
        }
    }

    @Test("Every file of the pages is in the program, and each that they name is there")
    func assets() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let folder = root.pushing("Sources/CDashboard/assets")
        let names = try Folder.names(in: folder).map(\.text).sorted()
        #expect(Assets.names == names)
        for name in names {
            let text = String(decoding: try ScratchFolder.read(folder.appending(name)), as: UTF8.self)
            for match in text.matches(of: /(?:"\/assets\/|from "\.\/|import "\.\/)([\w.-]+)"/) {
                #expect(names.contains(String(match.output.1)), "\(name) names \(match.output.1)")
            }
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "onclick=",
            ] {
                #expect(!text.contains(word), "\(name): \(word)")
            }
        }
    }
}
