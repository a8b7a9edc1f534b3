import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage

extension WorkFolder {
    static func keepsSlots(for pipeline: Pipeline) -> Bool { !pipeline.allStages.contains { $0.stage.tellsJob } }

    func keepSlots(for pipeline: Pipeline) {
        let free = slots.keep(Self.keepsSlots(for: pipeline)).map(folder)
        guard !free.isEmpty else { return }
        // Nobody waits for that: their file system may not answer.
        DispatchQueue(label: "dropmill.\(pipeline.name).slots").async {
            for slot in free { _ = slot.withPlatformString { rmdir($0) } }
        }
    }
}
