import Files
import PipelineKit
import Synchronization

/// The last line of a terminal, on which the stage that reported last is shown as long as any runs for long.
final class ProgressLine: Sendable {
    private struct Running {
        let id: JobID
        let pipeline: String
        let text: String
    }

    private let output: LogOutput
    /// The one that reported last at the end.
    private let running = Mutex<[Running]>([])

    init(output: LogOutput) { self.output = output }

    func show(_ job: Job, stage: String, running duration: Duration, _ progress: StageProgress) {
        let text = "\(job.drop.name.text) \(Self.text(stage: stage, running: duration, progress))"
        running.withLock { running in
            running.removeAll { $0.id == job.id }
            running.append(Running(id: job.id, pipeline: job.pipeline, text: text))
            draw(running)
        }
    }

    /// A stage of the job has ended.
    func remove(_ id: JobID) { remove(where: { $0.id == id }) }

    /// No stage of the pipeline is known to run.
    func remove(pipeline: String) { remove(where: { $0.pipeline == pipeline }) }

    private func remove(where isOver: (Running) -> Bool) {
        running.withLock { running in
            guard running.contains(where: isOver) else { return }
            running.removeAll(where: isOver)
            draw(running)
        }
    }

    /// `unpack 1.2 GiB, 4,312 entries, 12 s`
    static func text(stage: String, running: Duration, _ progress: StageProgress) -> String {
        var parts: [String] = []
        if progress.bytes > 0 {
            let total = progress.totalBytes > 0 ? " of \(ByteSize(bytes: progress.totalBytes))" : ""
            parts.append("\(ByteSize(bytes: progress.bytes))\(total)")
        }
        if progress.entries > 0 {
            parts.append(progress.entries == 1 ? "1 entry" : "\(grouped(progress.entries)) entries")
        }
        parts.append("\(Int(running.seconds)) s")
        return "\(stage) \(parts.joined(separator: ", "))"
    }

    private func draw(_ running: [Running]) {
        guard let last = running.last else { return output.show(status: []) }
        let more = running.count == 1 ? "" : " (and \(running.count - 1) more)"
        // One that wraps could not be redrawn in place.
        output.show(status: Array((last.text + more).prefix(max(1, output.width - 1)).utf8))
    }

    /// `4,312`
    private static func grouped(_ number: Int64) -> String {
        var text = ""
        for (place, digit) in String(number).reversed().enumerated() {
            if place > 0, place % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
