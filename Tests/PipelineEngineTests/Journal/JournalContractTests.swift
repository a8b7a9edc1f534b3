import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal
@testable import SQLiteJournal

/// The journals that there are. Each new one gets a case here and passes what is below.
enum JournalImplementation: CaseIterable, Sendable {
    case memory
    case sqlite
    case postgres

    static var allCases: [Self] { [.memory, .sqlite] + (PostgresServer.isPossible ? [.postgres] : []) }

    /// An empty journal of this kind.
    func make(in scratch: ScratchFolder) throws -> any Journal {
        switch self {
        case .memory: MemoryJournal()
        case .sqlite: try SQLiteJournal.open(writing: scratch.path, durable: false)
        case .postgres: try makeShared()
        }
    }

    /// With folders that the samples have paths in, and others.
    private func makeShared() throws -> PostgresJournal {
        let journal = try PostgresJournal.open(
            try PostgresServer.shared.get().schema(), as: Incarnation(of: "test", version: "1"))
        let roots = PathRoots([("inbox", "/in"), ("work", "/spool/x"), ("failed", "/failed"), ("target 1", "/out")])
        for pipeline in ["scans", try JournalSamples.fullJob(1).pipeline] { journal.know(roots, of: pipeline) }
        return journal
    }
}

/// What every journal must do.
@Suite("Journal contract")
struct JournalContractTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    func with(_ implementation: JournalImplementation, _ body: (any Journal) throws -> Void) throws {
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        try body(journal)
    }

    @Test("Every field of a job comes back", arguments: JournalImplementation.allCases)
    func roundTrip(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var folder = try JournalSamples.job(3)
            folder.payload = Payload(folder: "/spool/x")
            let records = [try JournalSamples.job(1), try JournalSamples.fullJob(2), folder]
            try journal.write(records, pipelines: [])
            for record in records { #expect(try journal.job(record.id) == JournalSamples.told(record, by: journal)) }
            #expect(try journal.job(JournalSamples.id(9)) == nil)
        }
    }

    @Test("Every state comes back", arguments: JournalImplementation.allCases)
    func states(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            for (number, state) in JobRecord.State.allCases.enumerated() {
                try journal.write([JournalSamples.job(number, state: state)], pipelines: [])
                #expect(try journal.job(JournalSamples.id(number))?.state == state)
            }
        }
    }

    @Test("A later record replaces the earlier one whole", arguments: JournalImplementation.allCases)
    func replaces(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var full = try JournalSamples.fullJob(1)
            (full.retryOf, full.replayOf) = (nil, nil)
            var bare = try JournalSamples.job(1)
            bare.pipeline = full.pipeline
            (bare.claimedAt, bare.producer) = (full.claimedAt, full.producer)
            bare.drop = Drop(name: full.drop.name, size: bare.drop.size, droppedAt: bare.drop.droppedAt)
            try journal.write([full], pipelines: [])
            try journal.write([bare], pipelines: [])
            #expect(try journal.job(bare.id) == JournalSamples.told(bare, by: journal))
            // Also within one transaction.
            try journal.write([bare, full], pipelines: [])
            #expect(try journal.job(bare.id) == JournalSamples.told(full, by: journal))
            #expect(try journal.jobs(JobQuery()).count == 1)
        }
    }

    @Test("Unfinished jobs come oldest first", arguments: JournalImplementation.allCases)
    func unfinished(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let states = JobRecord.State.allCases
            let jobs = try (1...14).map { try JournalSamples.job($0, state: states[$0 % states.count]) }
            try journal.write(jobs.reversed(), pipelines: [])
            #expect(try journal.unfinished() == jobs.filter { !$0.state.isFinal })
        }
    }

    @Test("A name's pattern, and a failure's code", arguments: JournalImplementation.allCases)
    func patterns(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var jobs = try (1...12).map { try JournalSamples.job($0) }
            let name = try JournalSamples.required(FileName("report-13.pdf"))
            let folder = try JournalSamples.required(FileName("in"))
            let drop = Drop(name: name, folders: [folder], size: 1, droppedAt: JournalSamples.time(12))
            let job = Job(
                id: try JournalSamples.id(13), pipeline: "scans", drop: drop, claimedAt: JournalSamples.time(13),
                folder: "/work")
            jobs.append(JobRecord(claimed: job, identity: FileIdentity(device: 7, inode: 13), definition: "abc"))
            (jobs[0].state, jobs[0].failure) = (.failed, .file("archive.\"damaged\"", "It is damaged."))
            (jobs[1].state, jobs[1].failure) = (.failed, .file("archive", "It says \"code\":\"other\"."))
            try journal.write(jobs, pipelines: [])
            func found(_ change: (inout JobQuery) -> Void) throws -> [JobID] {
                var query = JobQuery()
                change(&query)
                return try journal.jobs(query).map(\.id)
            }
            func ids(_ numbers: Int...) throws -> [JobID] { try numbers.map { try JournalSamples.id($0) } }

            #expect(try found { $0.pattern = Glob("report-?.pdf") }.count == 9)
            #expect(try found { $0.pattern = Glob("report-{1,12}.pdf") } == ids(12, 1))
            #expect(
                try found {
                    $0.pattern = Glob("*.pdf"); $0.limit = 2
                } == ids(13, 12))
            #expect(try found { $0.pattern = Glob("in/*") } == ids(13))
            #expect(try found { $0.pattern = Glob("in*") } == [])
            #expect(try found { $0.code = "archive.\"damaged\"" } == ids(1))
            #expect(try found { $0.code = "archive" } == ids(2))
            #expect(try found { $0.code = "other" } == [])
        }
    }

    @Test("Queries select, newest first", arguments: JournalImplementation.allCases)
    func queries(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var jobs = try (1...20).map { number in
                try JournalSamples.job(
                    number, pipeline: number % 2 == 0 ? "even" : "odd", state: number % 3 == 0 ? .failed : .processed)
            }
            jobs[19].retryOf = jobs[2].id
            jobs[18].state = .running
            try journal.write(jobs, pipelines: [])
            func found(_ change: (inout JobQuery) -> Void) throws -> [JobID] {
                var query = JobQuery()
                change(&query)
                return try journal.jobs(query).map(\.id)
            }
            func ids(_ numbers: Int...) throws -> [JobID] { try numbers.map { try JournalSamples.id($0) } }

            #expect(try found { _ in } == jobs.reversed().map(\.id))
            #expect(try found { $0.limit = 2 } == ids(20, 19))
            #expect(try found { $0.limit = 0 } == [])
            #expect(try found { $0.states = [.failed] } == ids(18, 15, 12, 9, 6, 3))
            #expect(try found { $0.states = [.running] } == ids(19))
            #expect(
                try found {
                    $0.states = [.running, .failed]; $0.limit = 2
                } == ids(19, 18))
            #expect(
                try found {
                    $0.states = [.failed]; $0.pipeline = "even"
                } == ids(18, 12, 6))
            #expect(
                try found {
                    $0.pipeline = "odd"; $0.limit = 2
                } == ids(19, 17))
            #expect(try found { $0.pipeline = "none" } == [])
            #expect(try found { $0.since = JournalSamples.time(18) } == ids(20, 19, 18))
            #expect(
                try found {
                    $0.since = JournalSamples.time(18); $0.pipeline = "even"
                } == ids(20, 18))
            #expect(try found { $0.retryOf = jobs[2].id } == ids(20))
            #expect(try found { $0.retryOf = jobs[3].id } == [])
            #expect(
                try found {
                    $0.since = JournalSamples.time(18); $0.until = JournalSamples.time(20)
                } == ids(19, 18))
        }
    }

    @Test("Pruning removes what was over before, and never the unfinished", arguments: JournalImplementation.allCases)
    func prune(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            // More than one batch; they finish a second after they are claimed.
            let count = 1200
            var jobs = try (1...count).map { try JournalSamples.job($0, state: .processed) }
            jobs[0].state = .queued
            jobs[1].state = .running
            jobs[1].finishedAt = nil
            try journal.write(jobs, pipelines: [])
            #expect(try journal.prune(finishedBefore: JournalSamples.time(0)) == 0)
            #expect(try journal.prune(finishedBefore: JournalSamples.time(count)) == count - 4)
            #expect(
                try journal.jobs(JobQuery()).map(\.id) == [count, count - 1, 2, 1].map { try JournalSamples.id($0) })
            #expect(try journal.unfinished().count == 2)
        }
    }

    @Test(
        "What ended while the clock was wrong is kept for as long as its id is young",
        arguments: JournalImplementation.allCases)
    func pruneByIDs(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var job = try JournalSamples.job(1)
            job.id = JobID.first(at: JournalSamples.time(100))
            job.state = .processed
            job.finishedAt = JournalSamples.time(1)
            try journal.write([job], pipelines: [])
            #expect(try journal.prune(finishedBefore: JournalSamples.time(99)) == 0)
            #expect(try journal.prune(finishedBefore: JournalSamples.time(102)) == 1)
        }
    }

    @Test("Pipelines come back by name", arguments: JournalImplementation.allCases)
    func pipelines(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var first = PipelineRecord(
                name: "b", source: "/etc/b.yaml", inbox: "/in", failed: "/failed", stages: ["unpack", "move \"x\""],
                waiting: 3,
                paused: Failure(.environment, code: "io.open", summary: "No.", remedy: "Yes."),
                pausedSince: JournalSamples.time(4), updatedAt: JournalSamples.time(5))
            let second = PipelineRecord(
                name: "a", inbox: "/in", failed: "/failed", stages: [], waiting: 0, updatedAt: JournalSamples.time(6))
            try journal.write([], pipelines: [first, second])
            #expect(try journal.pipelines() == [second, first])
            first.paused = nil
            first.pausedSince = nil
            try journal.write([], pipelines: [first])
            #expect(try journal.pipelines() == [second, first])
        }
    }

    @Test("A run learns how the last one ended", arguments: JournalImplementation.allCases)
    func runs(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let runs = (1...3).map { RunRecord(boot: "boot-\($0)", process: $0, startedAt: JournalSamples.time($0)) }
            #expect(try journal.beginRun(runs[0]) == nil)
            // Killed: it never said that it ended.
            #expect(try journal.beginRun(runs[1]) == runs[0])
            try journal.endRun()
            let last = try #require(try journal.beginRun(runs[2]))
            #expect(last.boot == "boot-2")
            #expect(last.endedAt != nil)
        }
    }
}
