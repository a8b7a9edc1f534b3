import Files
import PipelineKit
import SystemPackage
import TestTools
import Testing

@testable import Journal

/// Paths by the folders that they are in.
@Suite("Path roots") struct PathRootsTests {
    private static let names = ["inbox", "work", "processed", "failed", "target 1"]

    /// A few components of any bytes, braces, dots and what is no text among them.
    private static func way(_ random: inout SeededGenerator) -> FilePath {
        let parts = (0..<random.next() % 4).map { _ -> [UInt8] in
            if random.next() % 8 == 0 { return Array("{inbox}".utf8) }
            return (0...random.next() % 5).map { _ in
                let byte = UInt8(truncatingIfNeeded: random.next())
                return byte == 0 || byte == UInt8(ascii: "/") ? UInt8(ascii: ".") : byte
            }
        }
        return FilePath(bytes: parts.joined(separator: [UInt8(ascii: "/")]))
    }

    private static func absolute(_ random: inout SeededGenerator) -> FilePath { FilePath("/").pushing(way(&random)) }

    /// Folders within each other now and then, or the same, or the root.
    private static func folders(_ random: inout SeededGenerator) -> [FilePath] {
        var folders: [FilePath] = []
        for _ in names {
            if let above = folders.randomElement(using: &random), random.next() % 2 == 0 {
                folders.append(above.pushing(way(&random)))
            } else {
                folders.append(absolute(&random))
            }
        }
        return folders
    }

    @Test("Whatever the bytes, a path comes back, and leads below the same folder on another host")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            let (here, there) = (Self.folders(&random), Self.folders(&random))
            let roots = PathRoots(Array(zip(Self.names, here)))
            let others = PathRoots(Array(zip(Self.names, there)))
            let place = Int(random.next() % UInt64(here.count))
            let way = Self.way(&random)
            let path = random.next() % 4 == 0 ? Self.absolute(&random) : here[place].pushing(way)
            let relative = roots.relative(path)
            #expect(roots.absolute(relative) == path)
            #expect(relative.isAbsolute == !here.contains { path.starts(with: $0) })
            let other = others.absolute(relative)
            #expect(other.isAbsolute)
            if let inner = here.filter({ path.starts(with: $0) }).max(by: { $0.length < $1.length }) {
                var rest = path
                _ = rest.removePrefix(inner)
                #expect(zip(here, there).contains { $0 == inner && $1.pushing(rest) == other })
            } else {
                #expect(other == path)
            }
            var json = JSONText()
            json.roots(roots)
            #expect(JSONValue(json.string)?.roots == roots)
        }
    }

    @Test("The innermost folder counts, and only whole names do")
    func innermost() {
        let roots = PathRoots([("inbox", "/in"), ("work", "/in/.dropmill/scans"), ("failed", "/in2")])
        #expect(roots.relative("/in/a/b") == "{inbox}/a/b")
        #expect(roots.relative("/in") == "{inbox}")
        #expect(roots.relative("/in/.dropmill/scans/active/X") == "{work}/active/X")
        #expect(roots.relative("/in/.dropmill/scans2") == "{inbox}/.dropmill/scans2")
        #expect(roots.relative("/in2/a") == "{failed}/a")
        #expect(roots.relative("/inn/a") == "/inn/a")
        #expect(roots.absolute("{other}/a") == "{other}/a")
        #expect(roots.isInbox("/in") && !roots.isInbox("/in/a") && !roots.isInbox("/in2"))
    }

    /// All paths that there are in a value.
    private func paths(in value: Any) -> [FilePath] {
        if let path = value as? FilePath { return [path] }
        return Mirror(reflecting: value).children.flatMap { paths(in: $0.value) }
    }

    @Test("Every path of a record is changed, and nothing else")
    func mapping() throws {
        let record = try JournalSamples.fullJob(1)
        let mapped = record.mappingPaths { FilePath("/moved").pushing(FilePath(bytes: $0.bytes.drop { $0 == 0x2F })) }
        #expect(paths(in: mapped).count == paths(in: record).count && paths(in: record).count > 15)
        #expect(paths(in: mapped).allSatisfy { $0.starts(with: "/moved") })
        let back = mapped.mappingPaths { path in
            var rest = path
            return rest.removePrefix("/moved") ? FilePath("/").pushing(rest) : path
        }
        #expect(back == record)
    }
}
