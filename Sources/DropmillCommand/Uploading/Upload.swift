import Files
import PipelineEngine

/// One file or folder on its way in, kept with the connection of who sends it.
final class Upload: ControlKept {
    let number: Int
    let pipeline: String
    let drop: UploadDrop
    /// Puts on record what became of it.
    let end: ControlHandler.End
    private let broken: @Sendable (Int) -> Void

    /// `broken` is called with its number when its connection is closed before it is whole.
    init(
        _ number: Int, _ pipeline: String, _ drop: UploadDrop, end: @escaping ControlHandler.End,
        broken: @escaping @Sendable (Int) -> Void
    ) {
        (self.number, self.pipeline, self.drop, self.end, self.broken) = (number, pipeline, drop, end, broken)
    }

    func connectionClosed() { broken(number) }
}
