import Glibc
import Testing

@testable import PipelineEngine

@Suite("Job machine") struct JobMachineTests {
    private static let runs = getenv("DROPMILL_TORTURE") == nil ? 2000 : 100_000

    @Test("Whatever happens, no job is lost, settled twice or tried too often, and what is held goes on")
    func sound() {
        var crashes = 0
        for seed in 0..<Self.runs {
            var world = JobMachineWorld(seed: UInt64(seed))
            world.run(jobs: 6, steps: 150)
            crashes += world.crashes
            guard world.problems.isEmpty else {
                Issue.record("seed \(seed): \(world.problems.prefix(5).joined(separator: "; "))")
                return
            }
        }
        #expect(crashes > Self.runs / 2)
    }

    @Test("After a stop nothing is at work")
    func stops() {
        for seed in 0..<Self.runs / 4 {
            var world = JobMachineWorld(seed: UInt64(seed))
            world.happen(jobs: 6, steps: 60)
            world.stop()
            guard world.problems.isEmpty else {
                Issue.record("seed \(seed): \(world.problems.prefix(5).joined(separator: "; "))")
                return
            }
        }
    }

    /// An effect that a machine may forget.
    struct Omission: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isMeant: @Sendable (JobMachine.Effect) -> Bool

        init(_ name: String, _ isMeant: @escaping @Sendable (JobMachine.Effect) -> Bool) {
            (testDescription, self.isMeant) = (name, isMeant)
        }
    }

    @Test(
        "The runs find whatever effect is left out",
        arguments: [
            Omission("run") { if case .run = $0 { true } else { false } },
            Omission("write") { if case .write = $0 { true } else { false } },
            Omission("look") { if case .look = $0 { true } else { false } },
            Omission("notify") { if case .notify = $0 { true } else { false } },
            Omission("count") { if case .count = $0 { true } else { false } },
            Omission("settle") { if case .settle = $0 { true } else { false } },
            Omission("defer") { if case .defer = $0 { true } else { false } },
            Omission("wait") { if case .wait = $0 { true } else { false } },
            Omission("release") { if case .release = $0 { true } else { false } },
            Omission("forget") { if case .forget = $0 { true } else { false } },
            Omission("quarantine") { if case .quarantine = $0 { true } else { false } },
            Omission("callOff") { if case .callOff = $0 { true } else { false } },
            Omission("drop") { if case .drop = $0 { true } else { false } },
            Omission("withdraw") { if case .withdraw = $0 { true } else { false } },
            Omission("pause") { if case .pause = $0 { true } else { false } },
            Omission("resume") { if case .resume = $0 { true } else { false } },
            Omission("probe") { if case .probe = $0 { true } else { false } },
            Omission("checkFolders") { if case .checkFolders = $0 { true } else { false } },
            Omission("askIntake") { if case .askIntake = $0 { true } else { false } },
            Omission("trial") { if case .trial = $0 { true } else { false } },
        ])
    func omissions(_ omission: Omission) {
        let isFound = (0..<200).contains { seed in
            var world = JobMachineWorld(seed: UInt64(seed), leavingOut: omission.isMeant)
            world.run(jobs: 6, steps: 150)
            return !world.problems.isEmpty
        }
        #expect(isFound)
    }
}
