import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// What is done to a list of digests, call by call: each drop has its line, whole and once, and nobody else's line
    /// is touched.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct ListTests {
        /// Which calls there are on a list.
        private static let calls = Faultline.changing + ["openat"]

        /// How the list is found: as others left it.
        enum Found: CaseIterable {
            case whole
            /// It ends within a line, so that all is done by content.
            case torn
            /// As a cut leaves it on ext4: NULs to the end of a block.
            case damaged
        }

        /// `disk`: one whose power can be cut.
        private static func site(_ found: Found, onDisk isOnDisk: Bool = false) throws -> Site {
            let site = try Site.on(Ground(disk: isOnDisk ? .ext4 : nil, hasLane: true))
            try site.mill.standInList()
            let list = Self.list(site.mill)
            let bytes = try ScratchFolder.read(list)
            switch found {
            case .whole: break
            case .torn:
                site.mill.ledger.noteStandingLines(["somebody is writing this"])
                try site.mill.write(bytes + Array("somebody is writing this".utf8), to: list)
            case .damaged:
                let nuls = [UInt8](repeating: 0, count: 4096 - bytes.count % 4096)
                try site.mill.write(bytes + nuls + Array("f00 lost\nabc".utf8), to: list)
            }
            // The lost end of somebody's line becomes a line.
            if found == .damaged { site.mill.ledger.noteStandingLines(["abc"]) }
            try site.mill.dropListed(8)
            return site
        }

        private static func list(_ mill: Mill) -> FilePath { mill.layout.output.pushing("by-listed/SHA256SUMS") }

        private static func fault(_ mill: Mill, _ calls: [String] = Self.calls) -> Faultline {
            var fault = mill.fault(calls)
            fault.path = "\(mill.layout.output.string)/by-listed/*SHA256SUMS*"
            return fault
        }

        /// How many calls a run makes there.
        private static func count(_ found: Found, _ calls: [String] = Self.calls) throws -> Int {
            let site = try site(found)
            var fault = fault(site.mill, calls)
            let log = site.mill.logs.appending("calls")
            fault.log = log
            let run = try site.mill.runOnce(fault)
            #expect(run.status == 0, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
            return try Faultline.calls(in: log).count
        }

        @Test(arguments: Found.allCases) func killedAtEachCall(_ found: Found) async throws {
            let count = try Self.count(found)
            #expect(count >= (found == .damaged ? 3 : 2), "open and write at least")
            // A start is killed as well, at each of its calls.
            let most = Torture.isLong ? 4 : 1
            let points = (1...count).flatMap { first in (0...most).map { (first, $0) } }
            let problems = try await Torture.forEach(points, width: 4) { first, second in
                let site = try Self.site(found)
                var problems: [String] = []
                for point in [first, second] where point > 0 {
                    var fault = Self.fault(site.mill)
                    fault.at = point
                    _ = try site.mill.runOnce(fault)
                    problems += try site.mill.violations(.interrupted(copying: false)).map { "killed: \($0)" }
                }
                problems += try Self.finish(site)
                return problems.map { "kill at \(first), then \(second): \($0)" }
            }
            Torture.say("a list, \(found), killed at \(count) calls: \(problems.joined().count) violations")
            #expect(problems.joined().isEmpty, "\(problems.joined().joined(separator: "\n"))")
        }

        private static let errors =
            ["ENOSPC", "EIO", "EINTR"] + (Torture.isLong ? ["EDQUOT", "EROFS", "ESTALE"] : [])

        @Test(arguments: errors, Found.allCases)
        func failedCalls(_ error: String, _ found: Found) async throws {
            let calls = Self.calls.filter { error != "EINTR" || ["openat", "write"].contains($0) }
            let count = try Self.count(found, calls)
            let points = (1...count).flatMap { [($0, false), ($0, true)] }
            let problems = try await Torture.forEach(points, width: 8) { point, isMade in
                let site = try Self.site(found)
                var fault = Self.fault(site.mill, calls)
                // One that was made, and says that it failed, is worse than one that was not.
                (fault.at, fault.deed) = (point, isMade && error != "EINTR" ? .deny(error) : .fail(error))
                let run = try site.mill.runOnce(fault)
                var problems = try site.mill.violations(.interrupted(copying: false)).map { "\($0)" }
                if ![0, 1].contains(run.status) { problems.append("status \(run.status): \(run.log.suffix(500))") }
                problems += try site.mill.violations(.settled).map { "in the same run: \($0)" }
                problems += try Self.finish(site)
                return problems.map { "\(error) at \(point), made: \(isMade): \($0)" }
            }
            Torture.say("a list, \(found), \(error) at \(count) calls: \(problems.joined().count) violations")
            #expect(problems.joined().isEmpty, "\(problems.joined().joined(separator: "\n"))")
        }

        @Test(arguments: Found.allCases) func shortWrites(_ found: Found) throws {
            let site = try Self.site(found)
            var fault = Self.fault(site.mill, ["write"])
            (fault.at, fault.andLater, fault.deed) = (1, true, .short)
            let run = try site.mill.runOnce(fault)
            #expect(run.status == 0, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
        }

        /// Or a second cut could leave NULs in two places, which are nobody's damage.
        @Test func damageIsMendedOnTheDiskBeforeLinesAreAdded() throws {
            let site = try Self.site(.damaged)
            var fault = Self.fault(site.mill)
            let log = site.mill.logs.appending("calls")
            fault.log = log
            _ = try site.mill.runOnce(fault)
            let calls = try Faultline.calls(in: log).map(\.name)
            #expect(calls.filter { $0 != "openat" } == ["pwrite64", "fsync", "write"])
        }

        /// From the write on, also while somebody else's syncs bring the list's size to the disk and not its data.
        @Test(
            .enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"), arguments: Found.allCases, [false, true])
        func powerCuts(_ found: Found, busy: Bool) async throws {
            let all = Faultline.changing
            let site = try Self.site(found, onDisk: true)
            let log = site.mill.logs.appending("calls")
            var counting = site.mill.fault(all)
            counting.log = log
            _ = try site.mill.runOnce(counting)
            let calls = try Faultline.calls(in: log)
            let first = try #require(calls.firstIndex { $0.path.hasSuffix("/SHA256SUMS") }) + 1
            let points = Torture.spread(max(1, calls.count - first + 1), most: 6).map { first + $0 - 1 }
            let problems = try await Torture.forEach(points) { point in
                let site = try Self.site(found, onDisk: true)
                site.settleDown()
                var fault = site.mill.fault(all)
                (fault.at, fault.deed) = (point, .cut(site.disks.map(\.path), busy: busy ? site.disks.map(\.path) : []))
                _ = try site.mill.runOnce(fault)
                for disk in site.disks { try disk.powerOn() }
                var problems = try site.mill.violations(.interrupted(copying: false)).map { "power on: \($0)" }
                problems += try Self.finish(site, booted: true)
                return problems.map { "cut at \(point): \($0)" }
            }
            Torture.say(
                "a list, \(found), power cut\(busy ? ", busy disk" : "") at \(points.count) points: "
                    + "\(problems.joined().count) violations")
            #expect(problems.joined().isEmpty, "\(problems.joined().joined(separator: "\n"))")
        }

        /// The test must be able to see: without the syncs that follow the lines some are lost in a block of the list
        /// that was there before.
        @Test(.enabled(if: DiskImage.isPossible, "\(DiskImage.skip)")) func whatIsLeftOutIsSeen() async throws {
            let site = try Self.site(.whole, onDisk: true)
            let count = try site.mill.countCalls()
            let problems = try await Torture.forEach(Torture.spread(count, most: 24)) { point in
                let site = try Self.site(.whole, onDisk: true)
                site.settleDown()
                var fault = site.mill.fault()
                (fault.at, fault.deed) = (point, .cut(site.disks.map(\.path), busy: []))
                (fault.skipped, fault.skippedPath) = (["syncfs", "fsync"], "*")
                _ = try site.mill.runOnce(fault)
                for disk in site.disks { try disk.powerOn() }
                return try Self.finish(site, booted: true).filter { $0.contains("its line") || $0.contains("the list") }
            }
            Torture.say("a list, without syncs (must be seen): at \(problems.count { !$0.isEmpty }) points")
            #expect(!problems.joined().isEmpty)
        }

        /// A start without trouble: what is wrong after it.
        private static func finish(_ site: Site, booted: Bool = false) throws -> [String] {
            let again = try site.mill.runOnce(booted: booted)
            var problems = try site.mill.violations(.settled).map { "started again: \($0)" }
            if again.status > 1 { problems.append("status \(again.status): \(again.log.suffix(500))") }
            return problems
        }
    }
}
