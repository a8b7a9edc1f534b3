import Files
import Glibc
import Journal
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a daemon that is told to pause, to cancel or to bump: nothing is lost, nothing
    /// is published twice, and what was acknowledged holds after the next start.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct OrderKillTests {
        /// What the daemon is told while it is at work.
        enum Order: String, Sendable, CaseIterable {
            case pause, cancel, bump

            var words: [String] {
                switch self {
                case .pause: ["pause", "--reason", "a test"]
                case .cancel: ["cancel", slow]
                case .bump: ["bump", "waiting.zip"]
                }
            }
        }

        private struct Trial: Sendable {
            var calls = 0
            /// How many of them were made before the daemon was told.
            var callsBefore = 0
            var wasKilled = false
            var isAcknowledged = false
            var problems: [String] = []
        }

        /// The drop that is at work when the daemon is told.
        private static let slow = "slow.txt"
        /// The longest that it may take until the daemon is told, in tries.
        private static let patience = 1000

        @Test(arguments: Order.allCases) func nothingIsLost(_ order: Order) async throws {
            let whole = try Self.trial(at: nil, order)
            #expect(whole.isAcknowledged && whole.problems.isEmpty, "\(whole.problems)")
            // What comes before is what other suites kill at, too.
            let before = Torture.isLong ? 0 : whole.callsBefore
            let points = Torture.spread(whole.calls - before, most: 8).map { before + $0 }
            let trials = try await Torture.forEach(points) { point in
                var trial = try Self.trial(at: point, order)
                // How many calls it makes differs from run to run: where there are fewer, one of the last is taken.
                for back in 1...5 where !trial.wasKilled && trial.problems.isEmpty {
                    trial = try Self.trial(at: max(1, trial.calls - back), order)
                }
                return trial
            }
            let problems = trials.flatMap(\.problems)
            let (killed, acknowledged) = (trials.count { $0.wasKilled }, trials.count { $0.isAcknowledged })
            Torture.say(
                "kill -9, \(order): at \(killed) of \(whole.calls) system calls, \(acknowledged) acknowledged, "
                    + "\(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(acknowledged > 0)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// Kills a daemon at a point, or nowhere, starts it again and looks at both moments.
        private static func trial(at point: Int?, _ order: Order) throws -> Trial {
            let site = try Site.plain(["active: { jobs: 1 }", "order: name"])
            let (go, log) = (site.mill.logs.appending("go"), site.mill.logs.appending("calls"))
            try site.mill.build(
                ["active: { jobs: 1 }", "order: name"],
                first: "run: { command: [sh, -c, 'until test -e \(go.string); do sleep 0.02; done'], when: \(slow) }")
            // A new journal is no concern of this.
            _ = try site.mill.runOnce()
            let unknown = site.mill.ledger
            try site.mill.dropPlain(slow)
            // What becomes of it is seen later.
            site.mill.ledger = unknown
            for name in ["early", "waiting"] {
                try site.mill.dropPlain("\(name).txt")
                try site.mill.dropZip("\(name).zip")
            }
            var fault = site.mill.fault()
            (fault.at, fault.log) = (point, log)
            var trial = Trial()
            var daemon = try site.mill.start(log: site.mill.logs.appending("log"), wrapper: fault.wrapper)
            // Each try takes as long as a program's start.
            let isAtWork = try tries(until: &daemon) { try run(["jobs", "--name", slow], site.mill) }
            trial.callsBefore = try Faultline.calls(in: log).count
            if isAtWork { trial.isAcknowledged = try tries(until: &daemon) { try run(order.words, site.mill) } }
            try site.mill.write([], to: go)
            try daemon.send(SIGTERM)
            trial.wasKilled = try daemon.wait() == 137
            trial.calls = try Faultline.calls(in: log).count
            trial.problems = try problems(of: site.mill, order, isAcknowledged: trial.isAcknowledged)
            if let point, !trial.problems.isEmpty, let call = try Faultline.calls(in: log).last {
                let place = "\(order), before call \(point), \(call.name) \(call.path) \(call.target)"
                trial.problems = trial.problems.map { "\(place): \($0)" }
            }
            return trial
        }

        /// Whether it succeeds before the daemon has ended.
        private static func tries(until daemon: inout DropmillProcess, _ body: () throws -> Bool) throws -> Bool {
            for _ in 0..<patience {
                if try daemon.hasEnded() { return false }
                if try body() { return true }
            }
            return false
        }

        private static func run(_ words: [String], _ mill: Mill) throws -> Bool {
            let tool = Tool(DropmillProcess.binary)
            return try tool.run(words + ["--state-dir", mill.state.string], in: mill.logs).status == 0
        }

        private static func problems(of mill: Mill, _ order: Order, isAcknowledged: Bool) throws -> [String] {
            var problems = try noting(slow, in: mill).violations(.interrupted(copying: false)).map { "killed: \($0)" }
            func start() throws {
                let again = try mill.runOnce()
                guard again.status > 1 else { return }
                problems.append("started again: exit status \(again.status): \(again.log.suffix(500))")
            }
            if order == .pause, isAcknowledged {
                let (inbox, unfinished) = (try names(in: mill.layout.inbox), try records(of: mill))
                try start()
                if try names(in: mill.layout.inbox) != inbox { problems.append("paused, and it claims") }
                let ended = Set(try records(of: mill, isOver: true).map(\.id))
                for job in unfinished where job.state != .settling && job.stage < job.definition.stages.count {
                    if ended.contains(job.id) { problems.append("paused, and '\(job.drop.name)' goes on") }
                }
            }
            if try !run(["resume"], mill) { problems.append("it cannot be resumed") }
            try start()
            let settled = noting(slow, in: mill)
            problems += try settled.violations(.settled).map { "started again: \($0)" }
            problems += try settled.doubleRows()
            if order == .cancel, isAcknowledged {
                let job = try records(of: mill, isOver: true).first { $0.drop.name.text == slow }
                if job?.failure?.code != "operator.cancelled" { problems.append("cancelled, and it is not") }
            }
            return problems
        }

        /// The mill, with the fate of a drop that may have been cancelled.
        private static func noting(_ name: String, in mill: Mill) -> Mill {
            var mill = mill
            let hasFailed = Folder.kind(of: mill.layout.failed.appending(name)) != nil
            mill.ledger.note(name, Mill.content("\(name)#1"), hasFailed ? .failed : .published)
            return mill
        }

        private static func names(in folder: FilePath) throws -> [String] {
            try Folder.names(in: folder).map(\.text).sorted()
        }

        private static func records(of mill: Mill, isOver: Bool = false) throws -> [JobRecord] {
            let journal = try SQLiteJournal.open(reading: mill.state)
            defer { journal.close() }
            return try journal.jobs(JobQuery()).filter { $0.state.isFinal == isOver }
        }
    }
}
