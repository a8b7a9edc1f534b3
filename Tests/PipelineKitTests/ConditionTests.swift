import Files
import PipelineKit
import TestSupport
import Testing

@Suite struct ConditionTests {
    private static func drop(_ path: String, size: Int64 = 10) throws -> Drop {
        let names = try path.split(separator: "/").map { try #require(FileName($0)) }
        return Drop(
            name: try #require(names.last), folders: Array(names.dropLast()), size: size,
            droppedAt: Timestamp(nanoseconds: 0))
    }

    private static func condition(_ change: (inout Condition) throws -> Void) rethrows -> Condition {
        var condition = Condition()
        try change(&condition)
        return condition
    }

    @Test func everythingUnlessSaid() throws {
        #expect(Condition().holds(for: try Self.drop("a")))
    }

    @Test func namesAndPaths() throws {
        let names = try Self.condition { $0.names = [try #require(Glob("*.zip")), try #require(Glob("x"))] }
        #expect(names.holds(for: try Self.drop("in/a.zip")))
        #expect(names.holds(for: try Self.drop("x")))
        #expect(!names.holds(for: try Self.drop("a.zip/b")))
        let paths = try Self.condition { $0.paths = [try #require(Glob("in/*.zip"))] }
        #expect(paths.holds(for: try Self.drop("in/a.zip")))
        #expect(paths.holds(for: try Self.drop("in/deep/a.zip")))
        #expect(!paths.holds(for: try Self.drop("a.zip")))
    }

    @Test func allButSome() throws {
        let others = try Self.condition { $0.exceptions = [try #require(Glob("*.zip"))] }
        #expect(others.holds(for: try Self.drop("a")))
        #expect(!others.holds(for: try Self.drop("a.zip")))
    }

    @Test func sizes() throws {
        let sizes = Self.condition { condition in
            condition.larger = ByteSize(bytes: 5)
            condition.smaller = ByteSize(bytes: 10)
        }
        let held = try (4...11).filter { sizes.holds(for: try Self.drop("a", size: $0)) }
        #expect(held == [6, 7, 8, 9])
    }

    @Test func types() throws {
        let types = try Self.condition { $0.facts["type"] = [try #require(Glob("image/*"))] }
        #expect(!types.holds(for: try Self.drop("a.png")), "nobody has looked")
        #expect(types.holds(for: try Self.drop("a"), facts: ["type": "image/png"]))
        #expect(!types.holds(for: try Self.drop("a"), facts: ["type": "text/plain"]))
    }
}
