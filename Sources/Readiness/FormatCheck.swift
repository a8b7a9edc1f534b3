@preconcurrency package import Dispatch
import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// Judges whether an open file is complete; nil if that takes more than so many seconds. Blocks; polls `isStopped`.
/// Must not return `whole` for a file that it could not examine.
package typealias FormatJudge = @Sendable (_ file: Int32, _ seconds: Int64, _ isStopped: () -> Bool) -> Wholeness?

/// Checks whether drops are complete by their content. Formats are known only to the `FormatJudge` passed in.
package enum FormatCheck {
    package typealias Reading = InboxReading<ReadyRule.Unit, Wholeness>

    /// How many drops of a pipeline are asked of at once: one that takes long does not hold up all others.
    private static let width = 4
    /// Seconds for a drop's first attempt, which others may wait for, and for each file of a later one.
    private static let firstSeconds: Int64 = 2, seconds: Int64 = 60

    /// A check for drops of an inbox, whose intake has this queue.
    package static func reading(
        of pipeline: String, in inbox: FilePath, limits: ReadyRule.Limits, by judge: FormatJudge?,
        for owner: DispatchQueue
    ) -> Reading {
        let labels = (1...width).map { "dropmill.\(pipeline).formats.\($0)" }
        return Reading(in: inbox, on: labels, for: owner) { @Sendable error in
            .passing(.undetermined("\(error)"))
        } read: { @Sendable unit, key, folder, cancellation, isFirst in
            guard let judge else { return .passing(.undetermined("no format checker is configured")) }
            let end = isFirst ? MonotonicTime.now() + .seconds(firstSeconds) : .distantFuture
            let asking = Asking(judge: judge, limits: limits, cancellation: cancellation, end: end)
            let found: Wholeness?
            switch unit {
            case .file: found = try asking.file(key.name, in: folder)
            case .folder:
                let drop = try OpenFile.open(key.name, in: folder, O_RDONLY | O_DIRECTORY)
                found = try asking.folder(drop, at: [], depth: 1)
            }
            switch found {
            case nil where isFirst: return .tooLong
            case nil: return .passing(.undetermined("examining it took longer than \(seconds) s"))
            case .undetermined(let reason): return .passing(.undetermined(reason))
            case .some(let wholeness): return .lasting(wholeness)
            }
        }
    }

    private struct Asking {
        let judge: FormatJudge
        let limits: ReadyRule.Limits
        let cancellation: Cancellation
        let end: MonotonicTime

        func file(_ name: FileName, in folder: borrowing OpenFile) throws(IOError) -> Wholeness? {
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
            guard FileKind(mode: try file.status().st_mode) == .regular else { return .whole }
            let isLimited = end < .distantFuture
            guard !isLimited || MonotonicTime.now() < end else { return nil }
            return judge(file.descriptor, isLimited ? firstSeconds : seconds) { cancellation.isCancelled }
        }

        private static func kind(of name: FileName, in folder: borrowing OpenFile) -> FileKind {
            FileStatus.of(name, in: folder).map { FileKind(mode: $0.st_mode) } ?? .unknown
        }

        /// Each file of a folder and of those in it, as deep as drops may be; reports the first incomplete one.
        func folder(_ opened: borrowing OpenFile, at path: [UInt8], depth: Int) throws(IOError) -> Wholeness? {
            var found: Wholeness? = .whole
            var inside: [FileName] = []
            try Folder.forEachEntry(of: opened) { (name, kind) throws(IOError) in
                guard found == .whole, !cancellation.isCancelled else { return }
                switch kind == .unknown ? Self.kind(of: name, in: opened) : kind {
                case .folder: inside.append(name)
                case .regular: found = try self.file(name, in: opened)?.named(path + name.bytes)
                default: break
                }
            }
            for name in inside where found == .whole && depth <= limits.depth {
                let below = try OpenFile.open(name, in: opened, O_RDONLY | O_DIRECTORY)
                found = try folder(below, at: path + name.bytes + [UInt8(ascii: "/")], depth: depth + 1)
            }
            return found
        }
    }
}
