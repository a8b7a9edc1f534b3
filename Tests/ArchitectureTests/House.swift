import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// One source file as the rules see it.
struct SourceFile: Sendable, CustomTestStringConvertible {
    /// Its path from the package's folder on.
    let path: String
    /// Its lines.
    let lines: [Substring]

    init(_ path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var testDescription: String { path }

    /// The target it belongs to, or nil outside Sources.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// The modules it imports, with the line of each.
    var imports: [(module: String, line: Int)] {
        lines.enumerated().compactMap { index, line in
            var words = line.split(separator: " ")
            while let first = words.first, Self.importModifiers.contains(first) { words.removeFirst() }
            guard words.first == "import", words.count > 1 else { return nil }
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let module = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
            return (String(module.prefix { $0 != "." }), index + 1)
        }
    }

    /// The types that are declared at the top level.
    var declarations: [(name: String, isPrivate: Bool, line: Int)] {
        lines.enumerated().compactMap { index, line in
            guard let first = line.first, first.isLetter || first == "@" else { return nil }
            var words = line.split { !($0.isLetter || $0.isNumber || "_@".contains($0)) }[...]
            var isPrivate = false
            while let word = words.first, word.hasPrefix("@") || Self.modifiers.contains(word) {
                if word == "private" || word == "fileprivate" { isPrivate = true }
                words.removeFirst()
            }
            guard let kind = words.popFirst(), Self.kinds.contains(kind), let name = words.first else { return nil }
            return (String(name), isPrivate, index + 1)
        }
    }

    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor"]
    private static let modifiers: Set<Substring> = [
        "package", "public", "internal", "private", "fileprivate", "final", "indirect", "unchecked", "Sendable",
    ]

    private static let importModifiers: Set<Substring> = [
        "@preconcurrency", "@testable", "@_exported", "package", "public", "internal", "private",
        "fileprivate",
    ]
}

/// The package's folder, as the tests see it.
enum House {
    /// The folder with Package.swift, found from this file's own place.
    static let root: FilePath = FilePath(#filePath)
        .removingLastComponent().removingLastComponent().removingLastComponent()

    /// Every Swift file below Sources and Tests.
    static func sources() throws -> [SourceFile] {
        try ["Sources", "Tests"].flatMap { top in
            try FileTree.list(root.appending(top)).files
                .filter { $0.relative.extension == "swift" }
                .map { file in
                    let text = String(
                        decoding: try ScratchFolder.read(root.appending(top).pushing(file.relative)), as: UTF8.self)
                    return SourceFile("\(top)/\(file.relative.string)", text: text)
                }
        }
    }
}
