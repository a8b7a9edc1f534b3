import Files
import Glibc
import PipelineEngine
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import SQLiteJournal

extension Torture {
    /// Random sequences of trouble: kills, calls that are made and say that they failed, work folders that go and
    /// inboxes that move. Nothing is lost but what was in a folder that somebody removed, nothing is published twice,
    /// and every drop and every job ends.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct RandomTroubleTests {
        /// `DROPMILL_SEED` repeats a run.
        private static let seed =
            getenv("DROPMILL_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)

        /// Those that showed something once.
        private static let known: [UInt64] = [553_778]

        @Test func everyJobEnds() async throws {
            let count: UInt64 = Torture.isLong ? 3000 : 24
            let first = Self.seed
            Torture.say("random trouble with DROPMILL_SEED=\(first)")
            let problems = try await Torture.forEach(Self.known + Array(first..<first + count), width: 4) { seed in
                var sequence = try Sequence(seed: seed)
                return try sequence.run()
            }
            let found = problems.flatMap { $0 }
            Torture.say("\(problems.count) sequences of trouble, \(found.count) violations")
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        }
    }

    /// One of them, in a folder of its own.
    private struct Sequence {
        private var generator: SeededGenerator
        private let seed: UInt64
        private let site: Site
        private var mill: Mill { site.mill }
        /// Where the pipeline is to keep its work; nil: beside its inbox.
        private var work: FilePath?
        private var number = 0
        /// Drops that were in a work folder when it was removed.
        private var removed: Set<String> = []
        /// What was done.
        private var story: [String] = []

        private static let calls = [
            "mkdir", "rename", "renameat", "renameat2", "linkat", "unlink", "unlinkat", "rmdir",
        ]

        init(seed: UInt64) throws {
            self.seed = seed
            generator = SeededGenerator(seed: seed)
            site = try Site.plain(["retry: { attempts: 100 }"])
        }

        /// What is wrong in the end.
        mutating func run() throws -> [String] {
            for _ in 0..<Int.random(in: 4...8, using: &generator) { try step() }
            // The first may still find what trouble left, and say so.
            for _ in 1...2 {
                let run = try mill.runOnce()
                story.append("exit status \(run.status): \(run.log.suffix(2000))")
            }
            var problems = try mill.violations(.settled).filter { !isOfRemoved($0) }.map(\.description)
            let journal = try SQLiteJournal.open(reading: mill.state)
            problems += try journal.unfinished().map { "stuck: \($0.drop.name) is \($0.state)" }
            journal.close()
            if problems.isEmpty { return [] }
            return problems.map { "\(seed): \($0)" } + story.map { "    \($0)" }
        }

        private func isOfRemoved(_ violation: Ledger.Violation) -> Bool {
            removed.contains { violation.text.contains("'\($0)") || violation.text.contains("/\($0)") }
        }

        private mutating func step() throws {
            try drop()
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1, 2: try run(Faultline.changing, .kill, upTo: 250)
            case 3, 4:
                try run(Self.calls, .deny(LostAnswerTests.errors.randomElement(using: &generator) ?? "EIO"), upTo: 40)
            case 5: try removeWork()
            case 6: try moveInbox()
            default: try moveWork()
            }
        }

        private mutating func drop() throws {
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                number += 1
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: try site.mill.dropZip("d\(number).zip")
                case 1: try site.mill.dropBadZip("d\(number).zip")
                default: try site.mill.dropPlain("d\(number).txt")
                }
            }
        }

        private mutating func run(_ calls: [String], _ deed: Faultline.Deed, upTo most: Int) throws {
            var fault = mill.fault(calls)
            (fault.at, fault.deed) = (Int.random(in: 1...most, using: &generator), deed)
            let status = try mill.runOnce(fault).status
            story.append("\(deed) at \(fault.at ?? 0): \(status)")
        }

        private mutating func removeWork() throws {
            let active = mill.layout.work.appending("active")
            if Folder.kind(of: active) == .folder {
                for job in try Folder.names(in: active) {
                    let names = try Folder.names(in: active.appending(job)).filter { !$0.isHidden }
                    removed.formUnion(names.map { String($0.text.prefix { $0 != "." }) })
                }
            }
            try Folder.remove(mill.layout.work)
            story.append("removed the work folder with \(removed.sorted())")
        }

        private mutating func moveInbox() throws {
            let place = mill.root.appending("place-\(number)")
            try Folder.make(place)
            let inbox = place.appending("inbox")
            try NoReplace.rename(mill.layout.inbox, to: inbox)
            site.mill.layout.inbox = inbox
            try rebuild()
            story.append("moved the inbox")
        }

        private mutating func moveWork() throws {
            work = work == nil ? mill.root.appending("work-\(number)") : nil
            try rebuild()
            story.append("set work to \(work?.string ?? "its place beside the inbox")")
        }

        private mutating func rebuild() throws {
            let own = work.map { ["work: \($0.string)"] } ?? []
            site.mill.layout.work =
                work ?? mill.layout.inbox.removingLastComponent().appending(".dropmill").appending("all")
            try mill.build(["retry: { attempts: 100 }"] + own)
        }
    }
}
