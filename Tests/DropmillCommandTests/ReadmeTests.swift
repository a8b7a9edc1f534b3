import BuiltinStages
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

@Suite("README") struct ReadmeTests {
    private static let path = FilePath(#filePath).removingLastComponent().pushing("../../README.md")

    @Test("The stage table is what the code's own descriptors say")
    func stageTable() throws {
        let readme = String(decoding: try ScratchFolder.read(Self.path), as: UTF8.self)
        let begin = try #require(readme.firstRange(of: "<!-- stages -->\n"))
        let end = try #require(readme.firstRange(of: "\n<!-- /stages -->"))
        let table = readme[begin.upperBound..<end.lowerBound]
        #expect(
            table == StageListing.markdown(StageRegistry.builtin.descriptors),
            "put what `dropmill stages --markdown` prints between the markers of README.md")
    }

    @Test("The names that are never taken are those of the code")
    func ignoredNames() throws {
        let page = Self.path.removingLastComponent().pushing("docs/readiness.md")
        let text = String(decoding: try ScratchFolder.read(page), as: UTF8.self)
        for rule in IgnoredNames.rules {
            #expect(text.contains("| `\(rule.pattern)` | \(rule.what) | \(rule.senders) |"))
        }
    }

    @Test("The names that hold a drop back are those of the code")
    func siblingNames() throws {
        let page = Self.path.removingLastComponent().pushing("docs/readiness.md")
        let text = String(decoding: try ScratchFolder.read(page), as: UTF8.self)
        for rule in SiblingNames.rules {
            #expect(text.contains("| `\(rule.pattern)` | \(rule.what) | \(rule.senders) |"))
        }
    }

    /// The Debian packages of the libraries that the module maps link.
    private static let packages = [
        "archive": "libarchive13", "crypto": "libssl3", "curl": "libcurl4", "isal": "libisal2", "magic": "libmagic1",
        "xxhash": "libxxhash0", "yaml": "libyaml-0-2", "sqlite3": "libsqlite3-0",
    ]

    @Test("What the binary needs at run time is named")
    func libraries() throws {
        let readme = String(decoding: try ScratchFolder.read(Self.path), as: UTF8.self)
        let sources = Self.path.removingLastComponent().appending("Sources")
        var linked: Set<String> = []
        for target in try Folder.names(in: sources) {
            let map = sources.appending(target).appending("module.modulemap")
            guard Folder.kind(of: map) == .regular else { continue }
            for line in String(decoding: try ScratchFolder.read(map), as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.first == "link", let library = words.last {
                    linked.insert(String(library.filter { $0 != "\"" }))
                }
            }
        }
        #expect(linked.isSuperset(of: ["archive", "crypto"]))
        for library in linked {
            let package = try #require(Self.packages[library], "which package brings lib\(library)?")
            #expect(readme.contains(package), "README's list of packages lacks \(package)")
        }
    }
}
