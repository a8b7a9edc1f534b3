import Dispatch
import Files
import Notifications
import PipelineEngine
import Synchronization
import SystemPackage

/// Which pipelines write to file systems that have little room, before that stops anything. Used by one queue.
final class DiskWatch: Sendable {
    /// How often they are looked at, and for how many seconds one may take to answer.
    private static let pause = Duration.seconds(60), patience = 0.5

    private let lookout = Lookout(label: "dropmill.notify.disks")
    /// How many bytes are free there; nil where that is not known.
    private let free: @Sendable (FilePath) -> UInt64?
    private let last = Mutex<(low: [String: String], time: MonotonicTime)?>(nil)

    init(_ free: @escaping @Sendable (FilePath) -> UInt64? = { @Sendable in FreeSpace.space(at: $0)?.free }) {
        self.free = free
    }

    /// Those, with the reason. What does not answer is as it was.
    func low(_ gauges: [PipelineGauges]) -> [String: String] {
        let now = MonotonicTime.now()
        let known = last.withLock { $0 }
        if let known, now - known.time < Self.pause { return known.low }
        var spaces: [FilePath: UInt64?] = [:]
        for folder in Set(gauges.filter { $0.minFree.bytes > 0 }.flatMap(\.folders)) {
            // Each has its own time: one that hangs must not hide the others.
            let found = lookout.attempt(until: .now() + Self.patience) { @Sendable [free] permit in
                permit(folder) ? free(folder) : nil
            }
            if case .over(let space) = found { spaces[folder] = space }
        }
        var low: [String: String] = [:]
        for pipeline in gauges where pipeline.minFree.bytes > 0 {
            let before = known?.low[pipeline.name]
            for folder in pipeline.folders where low[pipeline.name] == nil {
                guard let space = spaces[folder] ?? nil else { continue }
                let floor = UInt64(clamping: pipeline.minFree.bytes)
                guard LowSpace.isLow(free: space, floor: floor, wasLow: before != nil) else { continue }
                let free = ByteSize(bytes: Int64(clamping: space))
                low[pipeline.name] =
                    "Only \(free) is free on the file system of '\(folder.text)'; below \(pipeline.minFree) "
                    + "(`min_free`) nothing more is claimed. Free space there."
            }
            if low[pipeline.name] == nil, let before, pipeline.folders.contains(where: { spaces[$0] == nil }) {
                low[pipeline.name] = before
            }
        }
        last.withLock { [low] in $0 = (low, now) }
        return low
    }
}
