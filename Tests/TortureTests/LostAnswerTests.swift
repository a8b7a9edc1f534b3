import Files
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Calls that are made and say that they failed, as one does over a network whose answer was lost, or that was
    /// asked twice: nothing is lost, nothing is published twice, and all is settled in the same run.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct LostAnswerTests {
        static let calls = [
            "mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir",
        ]

        /// What an answer that is lost, or a request that is repeated, looks like.
        static let errors = ["ENOENT", "EEXIST", "EIO", "ETIMEDOUT"]

        /// Where outputs and originals end.
        enum Place: Sendable, CustomTestStringConvertible {
            case here, onAnotherDevice
            case on(Ground)

            static let allCases = [here, onAnotherDevice]

            var isPossible: Bool {
                switch self {
                case .here: true
                case .onAnotherDevice: TemporaryMount.isPossible
                case .on(let ground): ground.isPossible
                }
            }

            var testDescription: String {
                switch self {
                case .here: "here"
                case .onAnotherDevice: "on another device"
                case .on(let ground): ground.testDescription
                }
            }
        }

        @Test(arguments: errors, Place.allCases) func nothingIsLost(_ error: String, to place: Place) async throws {
            try await run(error, place, without: [])
        }

        @Test(arguments: Ground.spread(errors + errors.prefix(1)))
        func norElsewhere(_ error: String, on ground: Ground) async throws {
            try await run(error, .on(ground), without: [], most: 4)
        }

        @Test(arguments: errors, Place.allCases) func norWithoutTheFlag(_ error: String, to place: Place) async throws {
            try await run(error, place, without: ["renameat2"])
        }

        private func run(_ error: String, _ place: Place, without: [String], most: Int = 10) async throws {
            guard place.isPossible else { return }
            let site = try Self.site(place)
            let count = try Self.count(site.mill, without)
            let trials = try await Torture.forEach(Torture.spread(count, most: most), width: 8) { point in
                try Self.trial(error, place, without, at: point)
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "\(error) of calls that were made, \(place.testDescription)"
                    + "\(without.isEmpty ? "" : ", without \(without.joined())"): "
                    + "at \(trials.count) of \(count), \(trials.count { $0.settled }) settled in the same run, "
                    + "\(problems.count) violations")
            let allSettled = trials.allSatisfy { $0.settled }
            #expect(allSettled)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// A start makes folders of its own, and must not say that they are somebody else's.
        @Test(arguments: ["EIO", "ETIMEDOUT"]) func startsAllTheSame(_ error: String) async throws {
            @Sendable func fault(_ mill: Mill) -> Faultline {
                var fault = mill.fault(["mkdir", "mkdirat"])
                fault.path = "\(mill.root.string)/.dropmill*"
                return fault
            }
            let site = try Self.site(.here)
            var counting = fault(site.mill)
            let log = site.mill.logs.appending("calls")
            counting.log = log
            _ = try site.mill.runOnce(counting)
            let count = try Faultline.calls(in: log).count
            #expect(count >= 8)
            let runs = try await Torture.forEach(Array(1...8), width: 4) { point in
                let site = try Self.site(.here)
                var fault = fault(site.mill)
                (fault.at, fault.deed) = (point, .deny(error))
                let run = try site.mill.runOnce(fault)
                return [0, 1].contains(run.status) ? "" : "call \(point): status \(run.status): \(run.log.suffix(400))"
            }
            let refused = runs.filter { !$0.isEmpty }
            #expect(refused.isEmpty, "\(refused.joined(separator: "\n"))")
        }

        private static func site(_ place: Place) throws -> Site {
            let site =
                switch place {
                case .here: try Site.plain()
                case .onAnotherDevice: try Site.otherDevice()
                case .on(let ground): try Site.on(ground)
                }
            try site.mill.dropMixed()
            return site
        }

        private static func fault(_ mill: Mill, _ without: [String]) -> Faultline {
            var fault = mill.fault(calls)
            // What the start needs is not there yet, and what SQLite does is on a local disk.
            fault.path =
                "\(mill.root.string)/@(.dropmill/*/active|.dropmill/*/astray|inbox|elsewhere|output|processed|failed)/*"
            fault.unknown = without
            return fault
        }

        private static func count(_ mill: Mill, _ without: [String]) throws -> Int {
            var fault = fault(mill, without)
            let log = mill.logs.appending("calls")
            fault.log = log
            _ = try mill.runOnce(fault)
            return try Faultline.calls(in: log).count
        }

        private static func trial(
            _ error: String, _ place: Place, _ without: [String], at point: Int
        ) throws -> (settled: Bool, problems: [String]) {
            let site = try site(place)
            let mill = site.mill
            var fault = fault(mill, without)
            let log = mill.logs.appending("calls")
            (fault.at, fault.deed, fault.log) = (point, .deny(error), log)
            let run = try mill.runOnce(fault)
            var problems: [String] = []
            if ![0, 1].contains(run.status) { problems.append("exit status \(run.status): \(run.log.suffix(800))") }
            problems += try mill.violations(.interrupted(copying: true)).map { "at once: \($0)" }
            let settled = try mill.violations(.settled).isEmpty
            if !settled { problems += try mill.violations(.settled).map { "same run: \($0)\n\(run.log.suffix(2000))" } }
            let again = try mill.runOnce()
            problems += try mill.violations(.settled).map { "after a start: \($0)" }
            if again.status > 1 { problems.append("after a start: exit status \(again.status)") }
            let astray = mill.root.appending(".dropmill/all/astray")
            if Folder.kind(of: astray) != nil {
                problems += try Folder.names(in: astray).map { "set aside: \($0)" }
            }
            guard !problems.isEmpty else { return (settled, []) }
            let calls = try Faultline.calls(in: log)
            let call = calls.indices.contains(point - 1) ? calls[point - 1] : nil
            let at = "\(error) at call \(point), \(call?.name ?? "") \(call?.path ?? "") \(call?.target ?? "")"
            return (settled, problems.map { "\(at): \($0)" })
        }
    }
}
