import Archive
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a helper could do to the disk if an archive had taken it over, and how long.
@Suite struct HelperGuardTests: UnpackHelperTesting {
    let scratch: ScratchFolder
    let folder: FilePath

    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("out")
    }

    /// A helper that says that it begins, does something in its folder, and stays.
    private func helper(_ deed: String, then: String = "sleep 1000") -> UnpackHelpers {
        fakes("/bin/sh", "-c", Self.begun + "cd '\(folder.string)'; \(deed); " + then)
    }

    private static let nests = "mkdir -p " + (0..<40).map { "d\($0)" }.joined(separator: "/")

    @Test(arguments: [
        // More than is unpacked at most; more than it says; more entries; deeper; and while it talks without end.
        ("head -c 3000000 /dev/zero >big", "sleep 1000"),
        ("for i in 1 2 3 4 5; do head -c 700000 /dev/zero >f$i; done", "sleep 1000"),
        ("for i in $(seq 300); do : >f$i; done", "sleep 1000"),
        (nests, "sleep 1000"),
        ("head -c 3000000 /dev/zero >big", "while :; do " + aGiBIsOut + " done"),
    ])
    func whoWritesMoreThanItMayIsKilled(deed: String, then: String) throws {
        let failure = try failure {
            try unpack(
                helper(deed, then: then), zip(), seconds: 60,
                change: { ($0.policy.limits.bytes, $0.policy.limits.entries) = (2 << 20, 200) })
        }
        #expect(failure == .overgrown)
    }

    /// Within its limits, but not as much as it says.
    @Test func whoSaysLessThanItWritesIsKilled() throws {
        let deed = "head -c 80000000 /dev/zero >big"
        #expect(try failure { try unpack(helper(deed), zip(), seconds: 60) } == .overgrown)
        try Folder.remove(scratch.path("out/big"))
        // One that says so is not.
        let honest = helper(Self.aGiBIsOut + deed + "; sleep 3", then: Self.end)
        #expect(try unpack(honest, zip()).entries == 1)
    }

    /// What must stay free is gone: as if the helper had found out itself.
    @Test func whoMeetsAFullDiskIsKilled() throws {
        let failure = try failure {
            try unpack(helper(":"), zip(), seconds: 60, change: { $0.policy.limits.reserve = .max / 2 })
        }
        guard case .archive(.bad(let problem)) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(problem.code == .diskFull)
    }
}
