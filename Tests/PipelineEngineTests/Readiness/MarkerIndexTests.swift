import Files
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("MarkerIndex") struct MarkerIndexTests {
    private func seconds(_ count: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(count) * 1_000_000_000) }

    /// For `{stem}.ok`.
    private func index(timeout: Duration?) -> MarkerIndex {
        MarkerIndex(timeout: timeout) { @Sendable drop in FileName(drop.stem + Array(".ok".utf8)) }
    }

    private func path(_ text: String) throws -> DropPath { DropPath(try text.fileName) }

    @Test("A marker that comes late wakes its drops; one that goes does too")
    func wakes() throws {
        var index = index(timeout: nil)
        try index.appeared(drop: path("a"), of: path("a.ok"))
        try index.appeared(drop: path("a.pdf"), of: path("a.ok"))
        #expect(try index.appeared(path("a.ok"), at: seconds(1)) == [path("a"), path("a.pdf")])
        #expect(try index.isShared(path("a.ok"), besides: path("a")))
        #expect(try [path("a"), path("a.pdf")].contains(index.drop(of: path("a.ok"))))
        #expect(try index.vanished(path("a.ok")) == [path("a"), path("a.pdf")])
    }

    @Test("One that is alone for too long is told of once, and not if its drop came meanwhile")
    func alone() throws {
        var index = index(timeout: .seconds(10))
        #expect(try index.appeared(path("a.ok"), at: seconds(0)).isEmpty)
        #expect(try index.appeared(path("b.ok"), at: seconds(1)).isEmpty)
        try index.appeared(drop: path("b"), of: path("b.ok"))
        #expect(index.nextDue == seconds(10))
        #expect(index.overdue(at: seconds(9)).isEmpty)
        #expect(try index.overdue(at: seconds(60)) == [path("a.ok")])
        #expect(index.overdue(at: seconds(600)).isEmpty)
        // Its drop was taken away by hand: alone again, from then on.
        try index.vanished(drop: path("b"), of: path("b.ok"), at: seconds(700))
        #expect(index.overdue(at: seconds(709)).isEmpty)
        #expect(try index.overdue(at: seconds(710)) == [path("b.ok")])
    }

    @Test("Nothing is kept of a marker that is gone, or whose drop has come")
    func forgotten() throws {
        var index = index(timeout: .seconds(86_400))
        for number in 0..<100 {
            _ = try index.appeared(path("\(number).ok"), at: seconds(number))
            if number < 50 {
                _ = try index.vanished(path("\(number).ok"))
            } else {
                try index.appeared(drop: path("\(number)"), of: path("\(number).ok"))
            }
            #expect(index.nextDue == nil)
        }
    }

    @Test("A marker that can speak for one drop only is alone without that one, and wakes it")
    func onlyDrop() throws {
        var index = index(timeout: .seconds(10))
        let woken = try index.appeared(path("a.ok"), with: path("a"), at: seconds(0))
        #expect(try woken == [path("a")])
        #expect(try !index.isAlone(path("a.ok")) && index.nextDue == nil)
        try index.vanished(drop: path("a"), of: path("a.ok"), isOnly: true, at: seconds(1))
        #expect(try index.isAlone(path("a.ok")))
        try index.appeared(drop: path("a"), of: path("a.ok"), isOnly: true)
        #expect(try !index.isAlone(path("a.ok")) && !index.isShared(path("a.ok"), besides: path("a")))
        let overdue = index.overdue(at: seconds(60))
        #expect(overdue.isEmpty)
        let left = try index.vanished(path("a.ok"), with: path("a"))
        #expect(try left == [path("a")])
    }

    @Test("Without a time of its own it is patient for ten minutes")
    func patience() throws {
        var index = index(timeout: nil)
        _ = try index.appeared(path("a.ok"), at: seconds(0))
        #expect(index.nextDue == seconds(600))
    }

    @Test("Drops are found by what they share, whatever comes and goes")
    func drops() throws {
        @Sendable func marker(_ drop: FileName) -> FileName? { FileName(drop.stem + Array(".ok".utf8)) }
        var random = SystemRandomNumberGenerator()
        var drops = MarkedDrops { @Sendable in marker($0) }
        var expected: [FileName: Set<FileName>] = [:]
        for _ in 0..<5000 {
            let name = try "\(Int.random(in: 0..<100, using: &random)).\(Int.random(in: 0..<4, using: &random))"
                .fileName
            let marker = try #require(marker(name))
            if Bool.random(using: &random) {
                drops.insert(name, needing: marker)
                expected[marker, default: []].insert(name)
            } else {
                drops.remove(name, needing: marker)
                expected[marker]?.remove(name)
            }
            let found = Array(drops.needing(marker))
            try #require(found.count == Set(found).count && Set(found) == expected[marker] ?? [])
        }
        for (marker, names) in expected {
            #expect(Set(drops.needing(marker)) == names)
            for name in names { drops.remove(name, needing: marker) }
        }
        #expect(drops.isEmpty)
    }
}
