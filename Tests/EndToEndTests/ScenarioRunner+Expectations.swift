import Files
import Glibc
import SystemPackage
import TestSupport

extension ScenarioRunner {
    /// Checks an expectation. While a daemon runs it may still come true; after that it must hold now.
    func expect(_ action: Scenario.Action) async throws {
        var mismatch: String?
        let met = try await eventually(within: daemon == nil ? .zero : Self.patience) {
            mismatch = try self.mismatch(action)
            return mismatch == nil
        }
        if !met { throw ScenarioMismatch(mismatch ?? "not as expected") }
    }

    /// What is not as expected now, or nil.
    private func mismatch(_ action: Scenario.Action) throws -> String? {
        switch action {
        case .expectStatus(let status):
            return lastStatus == status ? nil : "the status is \(lastStatus.map { "\($0)" } ?? "none"), not \(status)"
        case .expectLog(let event, let text):
            return try hasLog(event, text) ? nil : "no log line '\(event)' with '\(text)'"
        case .expectNoLog(let event, let text):
            return try hasLog(event, text) ? "there is a log line '\(event)' with '\(text)'" : nil
        case .expectText(let text): return self.text().contains(text) ? nil : "'\(text)' was not written"
        case .expectFile(let path, let contents):
            let file = scratch.path.pushing(FilePath(bytes: path))
            guard Folder.kind(of: file) == .regular else { return "no file '\(file.text)'" }
            return Self.contains(try ScratchFolder.read(file), contents)
                ? nil : "'\(file.text)' does not hold '\(EscapedText.of(contents))'"
        case .expectTree(let tree): return try mismatch(tree)
        default: return nil
        }
    }

    private func mismatch(_ tree: ExpectedTree) throws -> String? {
        let paths = try paths()
        var problems = tree.differences(from: paths)
        guard problems.isEmpty else { return problems.joined(separator: "\n") }
        for entry in tree.entries {
            guard let path = tree.path(of: entry, among: paths) else { continue }
            if let problem = try mismatch(entry.detail, at: path) { problems.append("\(path): \(problem)") }
        }
        return problems.isEmpty ? nil : problems.joined(separator: "\n")
    }

    private func mismatch(_ detail: ExpectedTree.Detail, at escaped: String) throws -> String? {
        guard detail != .none else { return nil }
        let bytes = try ScenarioWords.unescape(escaped)
        let path = scratch.path.pushing(FilePath(bytes: bytes))
        switch detail {
        case .none: return nil
        case .contents(let expected):
            let found = try ScratchFolder.read(path)
            return found == expected ? nil : "holds '\(EscapedText.of(found.prefix(200)))'"
        case .target(let expected):
            let target = ScratchFolder.target(of: path)
            return target == expected ? nil : "is a link to '\(target)'"
        case .checksums:
            guard let tool = Tool.find("sha256sum"), let name = path.lastName else { return "needs sha256sum" }
            let output = try tool.run(
                bytes: [Array("-c".utf8), Array("--strict".utf8), Array("--".utf8), name.bytes],
                in: path.removingLastComponent())
            return output.status == 0 ? nil : output.text
        }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        part.isEmpty || bytes.indices.contains { bytes[$0...].starts(with: part) }
    }
}
