import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a reload that adds, changes and removes pipelines with jobs at work.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct ReloadKillTests {
        @Test func nothingIsLost() async throws {
            let counting = try Reload()
            let count = try await counting.countCalls()
            #expect(count > 20)
            // Threads take turns differently from run to run, and so some make a few calls more.
            let trials = try await Torture.forEach(Torture.spread(count + 3, most: 8)) { point in
                try Reload().trial(at: point)
            }
            let problems = trials.flatMap(\.problems)
            let killed = trials.count { $0.wasKilled }
            Torture.say("kill -9 at \(killed) of \(count) system calls of a reload, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.prefix(40).joined(separator: "\n"))")
        }
    }

    /// A daemon with three pipelines, of which one is about to change, one to go, and a fourth to come.
    private struct Reload {
        let scratch: ScratchFolder
        var mill: ReloadMill
        private var log: FilePath { scratch.path("log") }
        private var calls: FilePath { scratch.path("calls") }
        /// As long as this is there stages that run go on.
        private var gate: FilePath { scratch.path("gate") }

        private let unchanged = ReloadMill.Config(inbox: 1, name: "same", tag: 1, unpacks: true)
        private var changed: ReloadMill.Config
        private var removed: ReloadMill.Config
        private let added = ReloadMill.Config(inbox: 4, name: "added", tag: 4)
        private var next: ReloadMill.Config

        init() throws {
            scratch = try ScratchFolder()
            mill = try ReloadMill(at: scratch.makeFolder("mill"), inboxes: 4)
            let gate = scratch.path("gate")
            let waiting = ["run: { command: [sh, -c, 'while [ -e \(gate.string) ]; do sleep 0.02; done'] }"]
            changed = ReloadMill.Config(inbox: 2, name: "changed", tag: 2, first: waiting)
            removed = ReloadMill.Config(inbox: 3, name: "removed", tag: 3, first: waiting)
            next = changed
            (next.tag, next.hasStrongDigests, next.rules) = (5, true, ["order: name"])
            for config in [unchanged, changed, removed] { try mill.write(config) }
            try scratch.write("", to: "gate")
            for inbox in 1...3 { try drop("before", to: inbox, count: 2) }
        }

        private mutating func drop(_ name: String, to inbox: Int, count: Int) throws {
            for number in 1...count {
                let drop = ReloadMill.Drop("\(name)-\(inbox)-\(number)", to: inbox, isArchive: inbox == unchanged.inbox)
                mill.note(drop)
                try mill.put(drop)
            }
        }

        private func start(_ point: Int?) throws -> DropmillProcess {
            var fault = Faultline(calls: Faultline.changing + ["openat", "openat2"], path: "\(mill.root.string)/*")
            // It is new, so that nobody but the reload opens it.
            fault.from = "*/pipelines/\(added.inbox).yaml"
            (fault.at, fault.log) = (point, calls)
            return try mill.start(log, wrapper: fault.wrapper)
        }

        private func isAtWork(_ daemon: inout DropmillProcess) throws -> Bool {
            let inboxes = [unchanged, changed, removed].map(\.inbox)
            return try daemon.hasEnded() || mill.isListening && inboxes.allSatisfy { try mill.isEmpty(inbox: $0) }
        }

        private mutating func edit() throws {
            try mill.write(next)
            try Folder.remove(mill.file(removed))
            try mill.write(added)
            for inbox in 1...4 { try drop("during", to: inbox, count: 1) }
        }

        /// How many calls a reload makes, to its end.
        func countCalls() async throws -> Int {
            var reload = self
            var daemon = try start(nil)
            #expect(try await eventually { try isAtWork(&daemon) }, "\(daemon.transcript)")
            try reload.edit()
            #expect(try mill.reload().status == 0)
            // The next one begins with the same file.
            #expect(try mill.reload().status == 0)
            try Folder.remove(gate)
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0, "\(daemon.transcript)")
            let made = try Faultline.calls(in: calls)
            let second = made.indices.dropFirst().first { made[$0].path.hasSuffix("/pipelines/\(added.inbox).yaml") }
            return second ?? made.count
        }

        /// Kills the daemon at a point, looks, starts it again and looks again.
        func trial(at point: Int) throws -> (wasKilled: Bool, problems: [String]) {
            var reload = self
            var daemon = try start(point)
            while try !isAtWork(&daemon) { poll(nil, 0, 10) }
            try reload.edit()
            _ = try mill.reload()
            try Folder.remove(gate)
            // A point behind the reload's last call may not come.
            try daemon.send(SIGTERM)
            let wasKilled = try daemon.wait() == 137
            let loaded = Dictionary(
                uniqueKeysWithValues: [unchanged, changed, removed, added, next].map { ($0.tag, $0) })
            var problems = try reload.mill.violations(of: loaded, isSettled: false).map { "killed: \($0)" }
            problems += try mill.settle(log)
            problems += try reload.mill.violations(of: loaded, isSettled: false).map { "started again: \($0)" }
            // Its jobs wait until it is back.
            try mill.write(removed)
            problems += try mill.settle(log)
            problems += try reload.mill.violations(of: loaded, isSettled: true).map { "settled: \($0)" }
            if !problems.isEmpty, let call = try Faultline.calls(in: calls).last {
                problems = problems.map { "before call \(point), \(call.name) \(call.path) \(call.target): \($0)" }
            }
            return (wasKilled, problems)
        }
    }
}
