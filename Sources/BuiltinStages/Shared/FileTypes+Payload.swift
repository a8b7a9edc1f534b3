import FileTypes
import Files
import Glibc
import PipelineKit
import SystemPackage

extension StageContext {
    /// The type of one file. libmagic looks at it in a process of its own.
    func type(
        of file: TreeFile, of payload: Payload, by program: TypeProgram?
    ) throws(Failure) -> MediaType {
        try checkCancelled()
        guard let program else { throw TypeProgram.missing }
        let opened = try Failure.onIOError { () throws(IOError) in try open(file, of: payload) }
        // The pipeline's own `timeout` comes as a call to stop.
        let seconds = work.timeLimit == nil ? TypeHelpers.secondsPerFile : .max / 4000
        do throws(TypeFailure) {
            return try program.helpers.type(of: opened.descriptor, seconds: seconds) { work.cancellation.isCancelled }
        } catch {
            throw Failure(error, of: payload.path(of: file))
        }
    }

    /// The types of files, in their order, several at once.
    func types(
        of files: [TreeFile], of payload: Payload, by program: TypeProgram?
    ) throws(Failure) -> [MediaType] {
        try concurrently(files) { (file) throws(Failure) in
            defer { work.progress.add(entries: 1) }
            return try type(of: file, of: payload, by: program)
        }
    }
}
