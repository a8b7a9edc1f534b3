import Control
@preconcurrency import Dispatch
import Files
import FoundationEssentials
import PipelineConfig
import PipelineEngine
import PipelineKit
import SystemPackage

extension ControlService {
    /// On the queue of what reads files.
    static func file(_ engine: Engine, _ reloader: Reloader, on queue: DispatchQueue) -> ControlHandler {
        ControlHandler(FileVerb.self) { @Sendable arguments, _, reply in
            queue.async { @Sendable in
                let pipeline = engine.gauges.first { $0.name == arguments.pipeline }
                let look = pipeline?.source.flatMap { reloader.file($0) }
                reply(.success(.init(file: look.map { FileVerb.File($0) })))
            }
        }
    }
}

extension FileVerb.File {
    /// The most lines and bytes that are told.
    private static let mostLines = 10_000, mostBytes = 2 << 20

    init(_ look: Reloader.FileLook) {
        self.init(path: Data(look.path.absolute.bytes), loaded: look.takenAt.nanoseconds, disk: .same)
        var shown: ShownText?
        switch look.disk {
        case .same: break
        case .changed(let text, let time):
            (disk, changed, shown) = (text == nil ? .unreadable : .changed, Timestamp(time).nanoseconds, text)
            if text == nil { reason = "it cannot be read as YAML, so that nobody knows what in it is a secret" }
        case .gone(let why): (disk, reason) = (.gone, why)
        case .silent(let place): (disk, reason) = (.silent, "'\(place.text)' does not answer")
        }
        let all = look.loaded.map { ShownLine.lines(of: $0, and: shown) } ?? []
        var bytes = 0
        let told = all.prefix(Self.mostLines).prefix { line in
            bytes += line.text.utf8.count
            return bytes <= Self.mostBytes
        }
        lines = told.map { FileVerb.Line($0) }
        if told.count < all.count { more = all.count - told.count }
    }
}

extension FileVerb.Line {
    init(_ line: ShownLine) {
        switch line.place {
        case .both: self.init(text: line.text)
        case .loaded: self.init(text: line.text, only: .loaded)
        case .disk: self.init(text: line.text, only: .disk)
        }
    }
}
