import Files
import TestSupport
import Testing

@Suite struct ArchitectureTests {
    @Test(arguments: try House.sources())
    func keepsTheRules(_ file: SourceFile) {
        let problems = HouseRules.problems(of: file)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test func everyTargetFolderIsKnown() throws {
        let folders = try Folder.names(in: House.root.appending("Sources")).map(\.text).filter { $0 != "README.md" }
        #expect(Set(folders) == HouseRules.targets)
    }

    /// Folders of a target may use each other, but not in circles; and the picture in the sources' README is this one.
    @Test func foldersHaveNoCircles() throws {
        let sources = try House.sources()
        let graphs = HouseRules.arrows.keys.sorted().map { FolderGraph(of: $0, sources) }
        let circles = graphs.flatMap(\.circles)
        #expect(circles.isEmpty, "\(circles.joined(separator: "\n"))")
        let picture = graphs.filter { $0.arrows.count > 1 }.flatMap(\.picture).joined(separator: "\n")
        let page = House.root.appending("Sources/README.md")
        let text = String(decoding: try ScratchFolder.read(page), as: UTF8.self)
        #expect(
            text.contains("<!-- folders -->\n```\n\(picture)\n```\n"), "put this into Sources/README.md:\n\(picture)")
    }

    @Test func nothingElseLiesAtTheTop() throws {
        let others = try Folder.names(in: House.root).filter { !$0.isHidden }.map(\.text)
            .filter { !HouseRules.topLevel.contains($0) }
        #expect(others.isEmpty, "these belong below packaging, docs or Sources: \(others)")
    }
}

@Suite struct FolderGraphTests {
    private func graph(_ files: [String: String]) -> FolderGraph {
        FolderGraph(of: "T", files.sorted { $0.key < $1.key }.map { SourceFile("Sources/T/\($0.key)", text: $0.value) })
    }

    @Test func drawsWhatUsesTheMostFirst() {
        let graph = graph([
            "A.swift": "struct A { var b: B }", "Low/B.swift": "struct B {}",
            "High/C.swift": "// A\nlet text = \"A\"\nlet c: [B] = []", "High/D.swift": "private struct B2 {}",
        ])
        #expect(graph.circles == [])
        #expect(graph.picture == ["T", "    (top) → Low", "    High  → Low", "    Low"])
    }

    @Test func findsCircles() {
        let graph = graph([
            "One/A.swift": "struct A { var b: B }", "Two/B.swift": "struct B { var c: C }",
            "Three/C.swift": "extension A {}\nstruct C {}", "Four/D.swift": "struct D { var d: D }",
        ])
        #expect(graph.circles.count == 3 && graph.circles[0].contains("One → Two by 'B' in Sources/T/One/A.swift"))
    }

    /// Which of two is meant a text does not tell.
    @Test func aNameThatTwoFoldersDeclareMakesNoArrow() {
        let graph = graph(["One/A.swift": "struct A {}", "Two/A.swift": "struct A {}", "Three/C.swift": "let a: A"])
        #expect(graph.arrows == ["One": [:], "Two": [:], "Three": [:]])
    }
}

/// The rules themselves must be able to fail.
@Suite struct HouseRulesTests {
    private func problems(_ path: String, _ text: String) -> [String] {
        HouseRules.problems(of: SourceFile(path, text: text))
    }

    @Test(arguments: [
        ("Sources/BuiltinStages/A.swift", "import PipelineEngine", "'BuiltinStages' must not import 'PipelineEngine'"),
        ("Sources/BuiltinStages/A.swift", "import CArchive", "'BuiltinStages' must not import 'CArchive'"),
        ("Sources/PipelineEngine/Running/A.swift", "package import PipelineConfig", "must not import 'PipelineConfig'"),
        ("Sources/PipelineKit/A.swift", "@preconcurrency import Archive", "must not import 'Archive'"),
        ("Sources/PipelineKit/A.swift", "import struct Archive.Reader", "must not import 'Archive'"),
        ("Sources/PipelineConfig/A.swift", "let a = 1\n@testable import BuiltinStages", "A.swift:2: "),
        ("Sources/Elsewhere/A.swift", "import Glibc", "is no target of the house"),
        ("Sources/PipelineKit/A.swift", String(repeating: "//\n", count: 401), "401 lines, at most 400"),
        ("Sources/PipelineKit/A.swift", String(repeating: "/", count: 121), "121 columns, at most 120"),
        ("Sources/PipelineKit/A.swift", "package struct B {}", "'B' belongs in a file of its name"),
        ("Sources/PipelineKit/A+B.swift", "extension A {}\n@MainActor final class B {}", "A+B.swift:2: 'B' belongs"),
        ("Sources/PipelineEngine/A.swift", "import SQLite", "must not import 'SQLite'"),
        ("Sources/PipelineEngine/A.swift", "import SQLiteJournal", "must not import 'SQLiteJournal'"),
        ("Sources/SQLiteJournal/A.swift", "import CPostgres", "must not import 'CPostgres'"),
        ("Sources/PipelineKit/A.swift", "import class Foundation.NSLock", "must not import 'Foundation'"),
        ("Sources/PipelineKit/A.swift", "let a = try" + "! b()", "traps"),
        ("Sources/PipelineKit/A.swift", "let a = b as" + "! C", "traps"),
        ("Sources/PipelineKit/A.swift", "let a = b()" + "!.c", "traps"),
        ("Sources/PipelineKit/A.swift", "let a = b[0]" + "!", "traps"),
        ("Sources/PipelineKit/A.swift", "final class A: @unchecked " + "Sendable {}", "names its queue or lock"),
        ("Sources/PipelineKit/A.swift", "// For speed.\nnonisolated" + "(unsafe) var a = 1", "names its queue or lock"),
        ("Tests/XTests/A.swift", "try await Task." + "sleep(for: .seconds(1))", "sleeps"),
        ("Tests/XTests/A.swift", "usleep" + "(1000)", "sleeps"),
        ("Sources/PipelineKit/A.swift", #"let a = facts("detect")"#, "names the kind 'detect'"),
        ("Sources/PipelineConfig/A.swift", #"let a = "put a stage 'unpack' before this one""#, "the kind 'unpack'"),
        ("Sources/PipelineConfig/A.swift", #"let a = "give each stage move a folder""#, "the kind 'move'"),
        ("Sources/PipelineConfig/A.swift", #"let a = "add 'copy: { to: … }' after it""#, "the kind 'copy'"),
        ("Sources/PipelineEngine/Spool/A.swift", #"let a = "or keep `rename` from it""#, "the kind 'rename'"),
        ("Sources/Journal/A.swift", #"let a = "such as http""#, "the kind 'http'"),
        ("Sources/Journal/A.swift", "signal(SIGPIPE, SIG_IGN)", "'signal' changes the process"),
        ("Sources/Dropmill/A.swift", "if failed { exit(1) }", "'exit' changes the process"),
    ])
    func finds(_ path: String, _ text: String, _ expected: String) {
        let found = problems(path, text)
        #expect(found.count == 1 && found[0].contains(expected), "\(found)")
    }

    @Test(arguments: [
        ("Sources/BuiltinStages/A.swift", "package import PipelineKit\nimport Archive\nimport Glibc"),
        ("Sources/DropmillCommand/A.swift", "import PipelineEngine\nimport BuiltinStages"),
        ("Sources/SQLiteJournal/A.swift", "import FoundationEssentials\nimport SQLite"),
        ("Sources/PipelineKit/A+B.swift", "package struct A {}\nprivate enum B {}"),
        ("Sources/PipelineKit/A.swift", String(repeating: "//\n", count: 400)),
        ("Sources/PipelineKit/A.swift", "// never try" + "! this"),
        ("Sources/PipelineKit/A.swift", "let a = \"hello (you)" + "!\""),
        ("Sources/PipelineKit/A.swift", "// Everything is on `queue`.\nfinal class A: @unchecked " + "Sendable {}"),
        ("Sources/PipelineKit/A.swift", #"throw IOError("rename", path, error) // 'unpack'"#),
        (
            "Sources/PipelineEngine/A.swift",
            #"let a = "move it away, or set `on_conflict: rename`; see 'dropmill run'""#
        ),
        ("Sources/BuiltinStages/A.swift", #"let a = "put a stage 'rename' before it""#),
        ("Sources/DropmillCommand/A.swift", "signal(SIGPIPE, SIG_IGN)"),
        ("Sources/Journal/A.swift", "turn.signal()\nlet print = Fingerprint(status)"),
        ("Tests/XTests/A.swift", "import PipelineEngine\n#expect(await eventually { done })"),
    ])
    func acceptsWhatIsInOrder(_ path: String, _ text: String) {
        #expect(problems(path, text) == [])
    }
}
