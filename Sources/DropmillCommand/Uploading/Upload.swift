import Files
import PipelineEngine

/// One file on its way in, kept with the connection of who sends it.
final class Upload: ControlKept {
    let number: Int
    let pipeline: String
    let file: UploadFile
    /// Puts on record what became of it.
    let end: ControlHandler.End
    private let broken: @Sendable (Int) -> Void

    /// `broken` is called with its number when its connection is closed before it is whole.
    init(
        _ number: Int, _ pipeline: String, _ file: UploadFile, end: @escaping ControlHandler.End,
        broken: @escaping @Sendable (Int) -> Void
    ) {
        (self.number, self.pipeline, self.file, self.end, self.broken) = (number, pipeline, file, end, broken)
    }

    func connectionClosed() { broken(number) }
}
