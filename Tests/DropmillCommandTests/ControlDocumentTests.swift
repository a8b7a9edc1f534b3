import Files
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// docs/control.md, beside the verbs as the sources have them.
@Suite struct ControlDocumentTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private func text(_ path: FilePath) throws -> String {
        String(decoding: try ScratchFolder.read(path), as: UTF8.self)
    }

    @Test func thePageTellsOfEveryVerbAndOfNoOther() throws {
        let sources = Self.root.pushing("Sources/Control/Verbs")
        let verbs = try Folder.names(in: sources).compactMap { name -> String? in
            let source = try text(sources.appending(name))
            guard source.contains(": ControlVerb {") else { return nil }
            let verb = try #require(source.firstMatch(of: /static let name = "(\w+)"/)?.output.1, "\(name.text)")
            let part = source.contains("static let isChange = true") ? "change" : "look"
            return "\(part) \(verb)"
        }
        var part = Substring()
        let told = try text(Self.root.pushing("docs/control.md")).split(separator: "\n").compactMap { line -> String? in
            if let match = line.firstMatch(of: /^## Verbs that (\w+)$/) { part = match.output.1 }
            return line.firstMatch(of: /^### `(\w+)`$/).map { "\(part) \($0.output.1)" }
        }
        #expect(!verbs.isEmpty && told.sorted() == verbs.sorted())
    }

    @Test func eachVerbsPartNamesItsFields() throws {
        let parts = try text(Self.root.pushing("docs/control.md")).split(separator: /\n(?=##)/).map(String.init)
        let sources = Self.root.pushing("Sources/Control/Verbs")
        var fields = 0
        for name in try Folder.names(in: sources) where name.text.hasSuffix("Verb.swift") {
            let source = try text(sources.appending(name))
            guard let verb = source.firstMatch(of: /static let name = "(\w+)"/)?.output.1 else { continue }
            let part = try #require(parts.first { $0.hasPrefix("### `\(verb)`") })
            for line in source.split(separator: "\n") {
                let found = line.firstMatch(of: /^ {8}package var (\w+)(?:: [^{]*| = (?:true|false))$/)
                guard let field = found?.output.1 else { continue }
                fields += 1
                #expect(part.contains("`\(field)`") || part.contains("\"\(field)\""), "\(verb): \(field)")
            }
        }
        #expect(fields > 50)
    }

    @Test func theLimitsAreThoseOfTheServer() throws {
        let told =
            "| connections | \(ControlServer.mostConnections), of which \(ControlServer.mostOfOthers) for each user"
        let all = "and \(ControlServer.mostOfAllOthers) for all of these"
        let page = try text(Self.root.pushing("docs/control.md"))
        #expect(page.contains(told) && page.contains(all))
    }
}
