import TestTools
import Testing

@testable import FolderWatch

@Suite("FolderMonitor that is started again", .timeLimit(.minutes(5))) struct RestartedMonitorTests {
    @Test("It tells of writes into files that were there before", arguments: SystemEvents.Kind.allCases)
    func written(_ kind: SystemEvents.Kind) async throws {
        let scratch = try ScratchFolder()
        try scratch.write("1", to: "file")
        let monitor = FolderMonitor(scratch.path, options: .quick(kind))
        let told = Gathered<FolderDifference>()
        let listening = monitor.addListener { told.add($0) }
        try monitor.start()
        try await #require(eventually { told.all.count == 1 })
        monitor.stop()
        try monitor.start()
        try scratch.append([0x32], to: scratch.path("file"))
        try await #require(eventually { told.all.last?.changed.first?.size == 2 })
        withExtendedLifetime(listening) {}
    }
}
