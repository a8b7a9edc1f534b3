import Files
import Glibc
import PipelineKit
import SystemPackage

extension WorkFolder {
    static func keepsSlots(for pipeline: Pipeline) -> Bool { !pipeline.allStages.contains { $0.stage.tellsJob } }

    func keepSlots(for pipeline: Pipeline) {
        for slot in slots.keep(Self.keepsSlots(for: pipeline)) { _ = folder(slot).withPlatformString { rmdir($0) } }
    }
}
