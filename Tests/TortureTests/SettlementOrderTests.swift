import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// A settlement's system calls, in the order in which they really come.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct SettlementTraceTests {
        @Test func keepsTheOrder() throws {
            let site = try Site.plain()
            // More than a few files, so that both ways of syncing are seen.
            try site.mill.dropMixed()
            try site.mill.dropZip("many.zip", members: 20)
            var fault = site.mill.fault()
            let log = site.mill.logs.appending("calls")
            fault.log = log
            #expect(try site.mill.runOnce(fault).status == 1)
            let calls = try Faultline.calls(in: log)
            let layout = site.mill.layout
            let results = [layout.output, layout.processed, layout.failed].map(\.string)
            let problems = SettlementOrder.problems(in: calls, results: results)
            Torture.say("order of \(calls.count) system calls: \(problems.count) violations")
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
            #expect(try site.mill.violations(.settled) == [])
        }
    }
}

/// The reader of traces must be able to fail.
@Suite struct SettlementOrderTests {
    /// A settlement of one archive, as it should be.
    private static let good = [
        "renameat2 /in/a.zip /w/active/1/a.zip",
        "mkdir /w/active/1/.1",
        "create /w/active/1/.1/x",
        "pwrite64 /w/active/1/.1/x",
        "create /w/active/1/.1/.draft",
        "write /w/active/1/.1/.draft",
        "rename /w/active/1/.1/.draft /w/active/1/.1/SUMS",
        "fsync /w/active/1/.1/x",
        "fsync /w/active/1/.1/SUMS",
        "fsync /w/active/1/.1",
        "fsync /w/active/1/a.zip",
        "pwrite64 /s/journal.sqlite-wal",
        "fdatasync /s/journal.sqlite-wal",
        "renameat2 /w/active/1/.1 /out/a",
        "fsync /out",
        "renameat2 /w/active/1/a.zip /done/a.zip",
        "fsync /done",
        "pwrite64 /s/journal.sqlite-wal",
        "fdatasync /s/journal.sqlite-wal",
        "renameat2 /in/b.zip /w/active/1/b.zip",
    ]

    private func problems(_ lines: [String]) -> [String] {
        let calls = lines.enumerated().map { index, line in
            let words = line.split(separator: " ").map(String.init)
            return Faultline.Call(
                name: words[0], path: words[1], target: words.count > 2 ? words[2] : "", begun: index * 2,
                ended: index * 2 + 1)
        }
        return SettlementOrder.problems(in: calls, results: ["/out", "/done", "/failed"])
    }

    @Test func findsNothingInAGoodTrace() {
        #expect(problems(Self.good) == [])
    }

    @Test func takesASyncOfTheWholeFileSystem() {
        #expect(
            problems(
                Self.good.filter { !$0.hasPrefix("fsync /w") }.flatMap {
                    $0.hasPrefix("pwrite64 /s") ? ["syncfs /w", $0] : [$0]
                }) == [])
    }

    @Test(arguments: [
        ("fsync /w/active/1/.1/x", "'/w/active/1/.1/x' was published"),
        ("fsync /w/active/1/.1/SUMS", "'/w/active/1/.1/SUMS' was published"),
        ("fsync /w/active/1/.1", "'/w/active/1/.1' was published"),
        ("fsync /w/active/1/a.zip", "'/w/active/1/a.zip' was published"),
        ("fsync /out", "'/out' was not synced"),
        ("fsync /done", "'/done' was not synced"),
    ])
    func seesASyncThatIsMissing(_ line: String, _ expected: String) {
        let found = problems(Self.good.filter { $0 != line })
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test(arguments: [
        ("fsync /w/active/1/.1/x", "renameat2 /w/active/1/.1 /out/a", "was published"),
        ("fsync /out", "renameat2 /in/b.zip /w/active/1/b.zip", "was not synced"),
        ("fsync /done", "renameat2 /in/b.zip /w/active/1/b.zip", "was not synced"),
    ])
    func seesASyncThatComesTooLate(_ line: String, _ after: String, _ expected: String) {
        let found = problems(Self.good.filter { $0 != line }.flatMap { $0 == after ? [$0, line] : [$0] })
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test(arguments: ["unlink /w/active/1/a.zip", "renameat2 /w/active/1/a.zip /w/active/1/.dropmill-gone"])
    func seesARemovalThatComesTooEarly(_ removal: String) {
        let move = "renameat2 /w/active/1/a.zip /done/a.zip"
        let good = Self.good.map { $0 == move ? removal : $0 == "fsync /done" ? "fsync /w/active/1" : $0 }
        #expect(problems(good) == [])
        let found = problems(good.filter { $0 != "fsync /out" }.flatMap { $0 == removal ? [$0, "fsync /out"] : [$0] })
        #expect(found.contains { $0.contains("'/out' was not synced") }, "\(found)")
        #expect(problems(good.filter { $0 != "fsync /w/active/1" }).contains { $0.contains("was not synced") })
    }

    @Test func seesAWriteAfterTheSync() {
        let found = problems(
            Self.good.flatMap {
                $0 == "pwrite64 /s/journal.sqlite-wal" ? ["write /w/active/1/.1/x", $0] : [$0]
            })
        #expect(found.contains { $0.contains("was published") }, "\(found)")
    }

    @Test(arguments: [(12, "between its outputs and the first move"), (18, "did not know of the end")])
    func seesThatTheJournalIsBehind(_ line: Int, _ expected: String) {
        var lines = Self.good
        lines.remove(at: line)
        #expect(problems(lines).contains { $0.contains(expected) })
    }
}
