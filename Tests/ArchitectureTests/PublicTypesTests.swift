import TestSupport
import Testing

@Suite struct PublicTypesTests {
    /// A type that became public by the way would have to stay.
    @Test func nothingElseIsPublic() throws {
        var found: [String: Set<String>] = [:]
        for file in try House.sources() {
            guard let target = file.target else { continue }
            found[target, default: []].formUnion(PublicTypes.declared(in: file))
        }
        for (target, names) in found {
            let listed = PublicTypes.all[target] ?? []
            #expect(names.subtracting(listed).isEmpty, "\(target): not in PublicTypes.swift")
            #expect(listed.subtracting(names).isEmpty, "\(target): in PublicTypes.swift, and not public")
        }
    }

    /// What a stage is written with, and a mill is run by.
    @Test func thereAreFew() {
        let counts = PublicTypes.all.mapValues(\.count)
        #expect(counts.filter { $0.key != "FolderWatch" }.values.reduce(0, +) <= 46, "\(counts)")
    }

    /// A package with such flags cannot be a dependency by version; only `make fuzz` asks for some.
    @Test func theManifestHasNoUnsafeFlags() throws {
        let manifest = String(decoding: try ScratchFolder.read(House.root.appending("Package.swift")), as: UTF8.self)
        let always = manifest.prefix(upTo: manifest.firstRange(of: "DROPMILL_FUZZ")?.lowerBound ?? manifest.endIndex)
        #expect(!always.contains("unsafeFlags"))
    }

    @Test func findsDeclarations() {
        let file = SourceFile(
            "Sources/A/B.swift",
            text: """
                public import C
                public final class B: Sendable {
                    public enum Kind { case a }
                    package struct Hidden {
                        public var a = 1
                        public struct Deep {}
                    }
                    public func f() {}
                }
                extension B.Kind {
                    public typealias Other = B
                }
                struct C {}
                public func g() {}
                """)
        #expect(PublicTypes.declared(in: file) == ["B", "B.Kind", "B.Hidden.Deep", "B.Kind.Other", "g"])
    }
}
