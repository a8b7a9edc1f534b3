import Control
@preconcurrency import Dispatch
import Files
import FoundationEssentials
import PipelineConfig
import SystemPackage

extension ControlService {
    /// On the queue of what reads files: a disk that does not answer holds up no other question.
    static func files(_ reloader: Reloader, on queue: DispatchQueue) -> ControlHandler {
        ControlHandler(FilesVerb.self) { @Sendable _, peer, reply in
            queue.async { @Sendable in reply(.success(answer(reloader, isOwn: ControlAccess().isOwn(peer)))) }
        }
    }

    /// `isOwn`: whether it may have what is written in the files, which can be a password.
    private static func answer(_ reloader: Reloader, isOwn: Bool) -> FilesVerb.Answer {
        let (loaded, differences) = reloader.differences()
        let texts = Dictionary(loaded.all.map { ($0.path, $0.text) }) { first, _ in first }
        var answer = FilesVerb.Answer(
            given: reloader.paths.map { data($0) }, settings: nil, loaded: loaded.all.map { data($0.path) })
        if case .file(let path) = reloader.place { answer.settings = data(path) }
        answer.differences = differences.map { file, difference in
            let text = isOwn ? texts[file].map { String(decoding: $0, as: UTF8.self) } : nil
            return FilesVerb.Difference(difference, of: data(file), loaded: text)
        }
        answer.differences += reloader.silent.map {
            FilesVerb.Difference(file: data($0.file), kind: .silent, place: data($0.place), reason: $0.text)
        }
        return answer
    }

    private static func data(_ path: FilePath) -> Data { Data(path.absolute.bytes) }
}

extension FilesVerb.Difference {
    init(_ difference: PipelineFiles.Difference, of file: Data, loaded: String?) {
        switch difference {
        case .changed(let time):
            self.init(file: file, kind: .changed, at: Timestamp(time).nanoseconds, loaded: loaded)
        case .added(let time): self.init(file: file, kind: .added, at: Timestamp(time).nanoseconds)
        case .gone(let reason): self.init(file: file, kind: .gone, reason: reason, loaded: loaded)
        }
    }
}
