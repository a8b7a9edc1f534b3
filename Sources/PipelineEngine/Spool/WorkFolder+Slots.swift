import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage

extension WorkFolder {
    /// `isShared`: whether it is one of several processes that share their journal. What such a job tells others before
    /// it has a row must bear the id that whoever finds it gives it, by its folder's name.
    static func keepsSlots(for pipeline: Pipeline, isShared: Bool) -> Bool {
        !pipeline.allStages.contains { $0.stage.tellsJob } && (!isShared || LaneRule(of: pipeline) != nil)
    }

    func keepSlots(for pipeline: Pipeline) {
        let free = slots.keep(Self.keepsSlots(for: pipeline, isShared: incarnation != nil)).map(folder)
        guard !free.isEmpty else { return }
        // Nobody waits for that: their file system may not answer.
        DispatchQueue(label: "dropmill.\(pipeline.name).slots").async {
            for slot in free { _ = slot.withPlatformString { rmdir($0) } }
        }
    }
}
