import BuiltinStages
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineConfig

@Suite("README") struct ReadmeTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private func text(_ page: String) throws -> String {
        String(decoding: try ScratchFolder.read(Self.root.pushing(FilePath(page))), as: UTF8.self)
    }

    /// What stands between the markers of a page.
    private func generated(in page: String) throws -> Substring {
        let text = try text(page)
        let begin = try #require(text.firstRange(of: "<!-- stages -->\n"))
        let end = try #require(text.firstRange(of: "\n<!-- /stages -->"))
        return text[begin.upperBound..<end.lowerBound]
    }

    @Test("The stages are what the code's own descriptors say")
    func stages() throws {
        let descriptors = StageRegistry.builtin.descriptors
        #expect(
            try generated(in: "README.md") == StageListing.briefMarkdown(descriptors),
            "put what `dropmill stages --markdown --brief` prints between the markers of README.md")
        #expect(
            try generated(in: "docs/stages.md") == StageListing.markdown(descriptors),
            "put what `dropmill stages --markdown` prints between the markers of docs/stages.md")
    }

    @Test("README is short enough to be read")
    func length() throws {
        #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    @Test("The pipelines shown are in order", arguments: ["README.md", "docs/pipelines.md"])
    func pipelines(page: String) throws {
        let scratch = try ScratchFolder()
        let shown = try text(page).matches(of: /```yaml\n((?:.*\n)*?)```/).map(\.output.1)
        #expect(!shown.isEmpty)
        for (number, pipeline) in shown.enumerated() {
            let file = try scratch.write(String(pipeline), to: "pipelines/\(number).yaml")
            let output = try Tool(DropmillBinary.path).run(["check", file.string])
            #expect(output.status == 0, "\(output.text)")
        }
    }

    @Test("The quickstart prints what README shows, but for times")
    func quickstart() throws {
        let scratch = try ScratchFolder()
        for file in ["pipelines/quickstart.yaml"]
            + ["photos.zip", "invoice.pdf", "escape.tar"].map({ "samples/\($0)" })
        {
            let place = file.replacing("samples/", with: "samples/inbox/")
            try scratch.write(try ScratchFolder.read(Self.root.pushing(FilePath(file))), to: scratch.path(place))
        }
        let command = ["run", "--once", "pipelines/quickstart.yaml"]
        let printed = try Tool(DropmillBinary.path).run(command + ["--log-format", "text"], in: scratch.path).text
        let section = try #require(
            try text("README.md").split(separator: "$ dropmill \(command.joined(separator: " "))").last)
        let shown = try #require(section.split(separator: "$ ").first)
        // Jobs end in any order.
        func lines(_ text: Substring) -> [String] {
            text.split(separator: "\n").map { line in
                String(line).replacing(/\d\d:\d\d:\d\d/, with: "TIME").replacing(/[\d.]+ m?s\b/, with: "SPAN")
            }.sorted()
        }
        #expect(lines(printed[...]) == lines(shown))
    }

    @Test("docs/pipelines.md has every key, and every default that can be written down")
    func keys() throws {
        let page = try text("docs/pipelines.md")
        func check(_ keys: [PipelineKey]) {
            for key in keys {
                let row = page.split(separator: "\n").first { line in
                    line.hasPrefix("| `\(key.name)`") || line.hasPrefix("| `owner`, `\(key.name)`")
                }
                #expect(row != nil, "\(key.name)")
                switch key.fallback {
                case .text(let text): #expect(row?.contains("`\(text)`") == true, "\(key.name)")
                case .number(let number): #expect(row?.contains("`\(number)`") == true, "\(key.name)")
                case nil: break
                }
                if case .map(let members) = key.shape { check(members) }
            }
        }
        check(PipelineKey.all)
    }

    @Test("The names that are never taken are those of the code")
    func ignoredNames() throws {
        let text = try text("docs/readiness.md")
        for rule in IgnoredNames.rules {
            #expect(text.contains("| `\(rule.pattern)` | \(rule.what) | \(rule.senders) |"))
        }
    }

    @Test("The names that hold a drop back are those of the code")
    func siblingNames() throws {
        let text = try text("docs/readiness.md")
        for rule in SiblingNames.rules {
            #expect(text.contains("| `\(rule.pattern)` | \(rule.what) | \(rule.senders) |"))
        }
    }

    /// The Debian packages of the libraries that the module maps link or load.
    private static let packages = [
        "archive": "libarchive13", "crypto": "libssl3", "curl": "libcurl4", "isal": "libisal2", "magic": "libmagic1",
        "pq": "libpq5",
        "xxhash": "libxxhash0", "yaml": "libyaml-0-2", "sqlite3": "libsqlite3-0",
    ]

    @Test("What the binary needs at run time is named")
    func libraries() throws {
        let readme = try text("README.md")
        let sources = Self.root.appending("Sources")
        var linked: Set<String> = []
        for target in try Folder.names(in: sources) {
            let map = sources.appending(target).appending("module.modulemap")
            guard Folder.kind(of: map) == .regular else { continue }
            for line in String(decoding: try ScratchFolder.read(map), as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.dropLast().last.map({ $0 == "link" || $0 == "loads" }) == true, let library = words.last {
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
