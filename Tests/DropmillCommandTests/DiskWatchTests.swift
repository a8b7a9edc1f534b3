import Dispatch
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

/// Who hears of little space, whatever the others' disks do.
@Suite struct DiskWatchTests {
    private func gauges(_ name: String, _ folders: [FilePath]) -> PipelineGauges {
        var gauges = PipelineGauges(name: name, stages: [], folders: folders, waiting: 0, isTroubled: false)
        gauges.minFree = ByteSize(bytes: 1000)
        return gauges
    }

    @Test func oneThatHangsHidesNoOther() {
        let (gate, slow) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        defer { gate.signal() }
        let disks = DiskWatch { @Sendable folder in
            if folder == "/hangs" { gate.wait() } else { _ = slow.wait(timeout: .now() + .milliseconds(50)) }
            return 10
        }
        // All of them take longer than one may.
        let names = (0..<20).map { "p\($0)" }
        let low = disks.low([gauges("hangs", ["/hangs"])] + names.map { gauges($0, [FilePath("/\($0)")]) })
        #expect(Set(low.keys) == Set(names))
    }
}
