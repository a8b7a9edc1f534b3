import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Lists of digests as files, which are never in memory as a whole.
enum ManifestFile {
    /// The code of a list that says what none can say.
    static let unreadable = "verify.list"

    /// Calls with each line that says something, and returns how many there are; one that is no digest and path fails.
    @discardableResult
    static func forEachLine(
        of path: FilePath, in folder: borrowing Folder, algorithm: DigestAlgorithm?, _ context: StageContext,
        _ body: (DigestList.Line) throws(Failure) -> Void
    ) throws(Failure) -> Int {
        let name = path.lastName?.text ?? ""
        let isSFV = DigestList.isSFV(path.lastName?.bytes ?? [])
        return try forEachLine(
            of: path, in: folder, algorithm: algorithm, form: isSFV ? .sfv : .digests, encoding: .utf8, context,
            failing: { problem in
                switch problem {
                case .strange(let line):
                    .file(
                        unreadable, "Line \(line) of the list '\(name)' is not a digest and a path.",
                        remedy: "Recreate the list with sha256sum or a similar tool, and send it again.")
                case .tooManyLines(let most):
                    .file(unreadable, "The list '\(name)' has more than \(most) lines.", remedy: "Split it.")
                case .unreadable(let errno): Failure(inStage: IOError("read", path, errno))
                }
            }, body)
    }

    /// The same of a list in any form. `failing`: what a problem is told as.
    @discardableResult
    static func forEachLine(
        of path: FilePath, in folder: borrowing Folder, algorithm: DigestAlgorithm?, form: DigestList.Form,
        encoding: DigestListReader.Encoding,
        _ context: StageContext, failing: (DigestListReader.Problem) -> Failure,
        _ body: (DigestList.Line) throws(Failure) -> Void
    ) throws(Failure) -> Int {
        let file: OpenFile
        do throws(IOError) {
            file = try folder.open(path, O_RDONLY | O_NONBLOCK)
        } catch {
            throw Failure(inStage: error)
        }
        var reader = DigestListReader(
            descriptor: file.descriptor, algorithm: algorithm, form: form, encoding: encoding)
        var count = 0
        while let line = try next(&reader, failing) {
            try context.checkCancelled()
            try body(line)
            count += 1
        }
        if reader.isSigned {
            context.work.notes.add("the PGP signature with '\(path.lastName?.text ?? "")' was not checked")
        }
        return count
    }

    private static func next(
        _ reader: inout DigestListReader, _ failing: (DigestListReader.Problem) -> Failure
    ) throws(Failure) -> DigestList.Line? {
        do throws(DigestListReader.Problem) { return try reader.next() } catch { throw failing(error) }
    }
}
