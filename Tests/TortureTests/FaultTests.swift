import Files
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// System calls that fail: the program neither crashes nor hangs, nothing is lost, and once they succeed again all
    /// is settled as if nothing had been.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct FaultTests {
        /// An error, and the calls that it is plausible for.
        struct Trouble: Sendable, CustomTestStringConvertible {
            let error: String
            let calls: [String]
            var onlyResults = false
            var testDescription: String { error }
        }

        private static let names = [
            "mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "unlink", "unlinkat", "rmdir",
        ]
        private static let data = ["create", "write", "pwrite64", "ftruncate", "copy_file_range"]

        static let troubles = [
            Trouble(
                error: "ENOSPC",
                calls: ["mkdir", "mkdirat", "rename", "renameat", "renameat2", "link"] + data + Faultline.syncs),
            Trouble(error: "EIO", calls: ["openat"] + names + data.dropFirst() + Faultline.syncs),
            Trouble(
                error: "EDQUOT",
                calls: ["mkdir", "mkdirat", "rename", "renameat", "renameat2", "link"] + data + Faultline.syncs),
            Trouble(error: "EROFS", calls: ["create"] + names),
            Trouble(error: "EMFILE", calls: ["openat"]),
            Trouble(error: "EXDEV", calls: ["rename", "renameat", "renameat2", "link"], onlyResults: true),
            Trouble(error: "EINTR", calls: ["openat", "write", "pwrite64", "fsync", "fdatasync", "syncfs"]),
        ]

        @Test(arguments: troubles) func oneFailureIsSurvived(_ trouble: Trouble) async throws {
            try await Self.fail(trouble, andLater: false, most: 6)
        }

        @Test(arguments: Ground.spread(troubles))
        func oneFailureIsSurvivedElsewhere(_ trouble: Trouble, _ ground: Ground) async throws {
            guard ground.isPossible else { return }
            try await Self.fail(trouble, andLater: false, most: 3, on: ground)
        }

        @Test(arguments: troubles) func lastingTroubleIsSurvived(_ trouble: Trouble) async throws {
            try await Self.fail(trouble, andLater: true, most: 3)
        }

        /// From the disks on, so that the short form meets other errors on them than the one above.
        @Test(arguments: Ground.spread(Torture.isLong ? troubles : Array(troubles.prefix(2)), over: Ground.disks))
        func lastingTroubleIsSurvivedElsewhere(_ trouble: Trouble, _ ground: Ground) async throws {
            guard ground.isPossible else { return }
            try await Self.fail(trouble, andLater: true, most: 3, on: ground)
        }

        @Test func afterAFailedSyncOfAllEachFileIsSyncedByItself() throws {
            // In an order, so that one batch is settled at a time.
            let site = try Site.plain(["order: name"])
            for number in 1...40 { try site.mill.dropPlain("drop-\(number)") }
            let log = site.mill.logs.appending("calls")
            var fault = site.mill.fault(["syncfs"])
            (fault.at, fault.deed, fault.log) = (1, .fail("EIO"), log)
            let run = try site.mill.runOnce(fault)
            #expect(run.status == 0, "\(run.log)")
            let shared = try Faultline.calls(in: log).filter { $0.path.hasSuffix("/active") }
            #expect(shared.count == 1, "only one of all batches is told of what was lost, by the descriptor of all")
            #expect(try site.mill.violations(.settled) == [])
        }

        /// Large files are begun to be written while they are unpacked; the kernel may drop what it cannot even begin
        /// to write, and tells nobody who asks later.
        @Test func whatCannotBeBegunToBeWrittenIsMadeAnew() throws {
            let site = try Site.plain()
            try site.mill.dropZip("large.zip", members: 1, size: 20 << 20)
            let log = site.mill.logs.appending("calls")
            var fault = site.mill.fault(["sync_file_range"])
            (fault.at, fault.deed, fault.log) = (1, .fail("EIO"), log)
            let run = try site.mill.runOnce(fault)
            #expect(run.status == 0, "\(run.log)")
            #expect(run.log.contains("io.write"), "\(run.log)")
            #expect(try Faultline.calls(in: log).count == 4, "one that failed, and three for 20 MiB")
            #expect(try site.mill.violations(.settled) == [])
        }

        @Test func shortWritesAreCompleted() throws {
            let site = try Site.plain()
            try site.mill.dropMixed()
            var fault = site.mill.fault(["write", "pwrite64"])
            (fault.at, fault.andLater, fault.deed) = (1, true, .short)
            let run = try site.mill.runOnce(fault)
            #expect(run.status == 1, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
        }

        private static func fail(
            _ trouble: Trouble, andLater: Bool, most: Int, on ground: Ground = Ground(disk: nil, hasLane: true)
        ) async throws {
            let site = try Site.on(ground)
            try site.mill.dropMixed()
            let count = try site.mill.countCalls(trouble.calls)
            // Most of the time is spent waiting, in pauses.
            let trials = try await Torture.forEach(Torture.spread(count, most: most), width: 8) { point in
                try trial(trouble, at: point, andLater: andLater, on: ground)
            }
            let problems = trials.flatMap(\.problems)
            // All but a call that was interrupted, and a move that turns into a copy, is trouble of the surroundings.
            let isSaid = !andLater || ["EINTR", "EXDEV"].contains(trouble.error) || trials.contains(where: \.hasPaused)
            #expect(isSaid, "the pipeline never paused: \(trials.map(\.ending))")
            Torture.say(
                "\(trouble.error)\(andLater ? " from then on" : ""), \(ground.testDescription): "
                    + "at \(trials.count) of \(count) system calls, "
                    + "\(trials.count { $0.settled }) settled in the same run, \(problems.count) violations")
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private static func trial(
            _ trouble: Trouble, at point: Int, andLater: Bool, on ground: Ground
        ) throws -> (settled: Bool, hasPaused: Bool, ending: String, problems: [String]) {
            let site = try Site.on(ground)
            try site.mill.dropMixed()
            let mill = site.mill
            var fault = mill.fault(trouble.calls)
            if trouble.onlyResults { fault.path = "\(mill.root.string)/@(output|processed|failed)/*" }
            (fault.at, fault.andLater, fault.deed) = (point, andLater, .fail(trouble.error))
            let log = mill.logs.appending("calls")
            fault.log = log
            let run = try mill.runOnce(fault)
            var problems: [String] = []
            // 75, 78: at the start something was used up, or a folder could not be made, and the program said so.
            if ![0, 1, 75, 78].contains(run.status) {
                problems.append("exit status \(run.status): \(run.log.suffix(800))")
            }
            problems += try mill.violations(.interrupted(copying: true)).map { "in trouble: \($0)" }
            let settled = try mill.violations(.settled).isEmpty
            problems += syncedAgain(try Faultline.calls(in: log)).map { "synced again after a failure: \($0)" }
            let again = try mill.runOnce()
            problems += try mill.violations(.settled).map { "after the trouble: \($0)" }
            if again.status > 1 { problems.append("after the trouble: exit status \(again.status)") }
            if !problems.isEmpty {
                problems.append("its log: \(run.log.suffix(1500)), and after the trouble: \(again.log.suffix(1500))")
                let calls = try Faultline.calls(in: log)
                let call = calls.indices.contains(point - 1) ? calls[point - 1] : nil
                let at =
                    "\(trouble.error) at call \(point)\(andLater ? "+" : ""), \(call?.name ?? "") \(call?.path ?? "")"
                problems = problems.map { "\(at) \(call?.target ?? ""): \($0)" }
            }
            let ending = "exit status \(run.status), \(run.log.suffix(400))"
            return (settled, run.log.contains("\"event\":\"paused\""), ending, problems)
        }

        /// Files whose sync failed and then, with nothing written anew, was asked for again: the kernel may have
        /// dropped the data and say that all is well.
        static func syncedAgain(_ calls: [Faultline.Call]) -> [String] {
            var failed: Set<String> = []
            var problems: [String] = []
            for call in calls where call.path.contains("/active/") {
                switch call.name {
                case "fsync", "fdatasync":
                    if call.result < 0, call.result != -4 {
                        failed.insert(call.path)
                    } else if failed.contains(call.path) {
                        problems.append(call.path)
                    }
                // Made anew. (With `openat` counted, every opening shows; only the program's own trace tells them
                // apart.)
                case "create", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir":
                    failed.subtract([call.path, call.target])
                default: break
                }
            }
            return problems
        }
    }
}
