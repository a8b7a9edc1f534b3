import Files
import Glibc
import PipelineKit
import Readiness
import SystemPackage

extension Spool {
    /// Reads a small claimed drop whole and calls the body with what is in it, where nothing has to be done before: it
    /// is what was found `ready`, ours alone, under this one name, and nobody writes to it. Else the result is nil.
    ///
    /// `claimed`: a time since which it is claimed. `buffer` has room for all of it.
    func withContent<Result>(
        of job: Job, ready: Fingerprint, claimed: MonotonicTime, _ buffer: UnsafeMutableRawBufferPointer,
        _ body: (SmallContent, FileIdentity.Found) -> Result?
    ) throws(IOError) -> Result? {
        let file = try OpenFile.openQuietly(job.original, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        let status = try Attributes.deciding(sight).of(file)
        guard FileKind(mode: status.st_mode) == .regular, status.st_nlink == 1, !Ownership.isForeign(status) else {
            return nil
        }
        let state = Fingerprint(status)
        guard state.sameContent(as: ready), state.size <= buffer.count else { return nil }
        if pipeline.ready.writers == .wait {
            guard !sight.writers(of: file.descriptor, state.identity, since: claimed).areKnown else { return nil }
        }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(state.size)])
        guard try file.read(into: bytes) == bytes.count else { return nil }
        let content = SmallContent(bytes: UnsafeRawBufferPointer(bytes), descriptor: file.descriptor)
        return body(content, (state.identity, false, status))
    }
}
