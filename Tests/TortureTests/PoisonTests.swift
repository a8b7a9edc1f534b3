import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// A file that kills the daemon whenever it is unpacked cannot kill it for ever, and harms no other.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct PoisonTests {
        @Test(arguments: [2, 3]) func endsInFailed(attempts: Int) throws {
            let site = try Site.plain()
            try site.mill.build(["retry: { attempts: \(attempts) }"])
            for number in 1...3 { try site.mill.dropPlain("before-\(number).txt") }
            try site.mill.dropPoison("poison.zip")
            for number in 1...3 { try site.mill.dropZip("after-\(number).zip") }

            var fault = site.mill.fault(["create"])
            fault.path = "*/active/*/poison-member"
            fault.at = 1
            var kills = 0
            var run = try site.mill.runOnce(fault)
            while run.status == 137, kills < attempts + 3 {
                kills += 1
                #expect(try site.mill.violations(.interrupted(copying: false)) == [])
                run = try site.mill.runOnce(fault)
            }
            Torture.say("a poison file with attempts: \(attempts): \(kills) kills")
            #expect(kills == attempts)
            #expect(run.status == 1, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
            let path = site.mill.layout.failed.appending("poison.zip.error.json")
            let report =
                Folder.kind(of: path) == nil ? "" : String(decoding: try ScratchFolder.read(path), as: UTF8.self)
            #expect(report.contains("stopped \(attempts) times while this job was running"), "\(report)")
        }

        /// Nor can one that kills it when it is only looked at.
        @Test(arguments: [2, 3]) func looksEndInFailed(attempts: Int) throws {
            let site = try Site.plain()
            try site.mill.build(["retry: { attempts: \(attempts) }"])
            try site.mill.dropPlain("poison.txt", fate: .failed)
            for number in 1...3 { try site.mill.dropPlain("other-\(number).txt") }
            var fault = site.mill.fault(["openat"])
            fault.path = "*/inbox/poison.txt"
            fault.at = 1
            var kills = 0
            var run = try site.mill.runOnce(fault)
            while run.status == 137, kills < attempts + 3 {
                kills += 1
                #expect(try site.mill.violations(.interrupted(copying: false)) == [])
                run = try site.mill.runOnce(fault)
            }
            #expect(kills == attempts)
            #expect(run.status == 1, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
            let path = site.mill.layout.failed.appending("poison.txt.error.json")
            let report = String(decoding: try ScratchFolder.read(path), as: UTF8.self)
            #expect(report.contains("stopped \(attempts) times while examining"), "\(report)")
        }

        /// Many others are at work when it kills: none of them may be taken for the culprit.
        @Test func othersAreInnocent() throws {
            let site = try Site.plain()
            try site.mill.build(["retry: { attempts: 2 }"])
            try site.mill.dropPoison("poison.zip")
            for number in 1...30 { try site.mill.dropZip("other-\(number).zip") }
            var fault = site.mill.fault(["create"])
            fault.path = "*/active/*/poison-member"
            fault.at = 1
            var kills = 0
            while try site.mill.runOnce(fault).status == 137, kills < 6 { kills += 1 }
            #expect(kills == 2)
            let violations = try site.mill.violations(.settled)
            #expect(violations == [])
        }
    }
}

extension Mill {
    fileprivate mutating func dropPoison(_ name: String) throws {
        try dropZip(name, memberNames: ["poison-member", "other"], fate: .failed)
    }
}
