import Archive
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Makes an archive's contents the payload. What strangers made is parsed in a process of its own (`UnpackProgram`);
/// here only the first bytes are looked at, to tell archives from other files.
struct UnpackStage: OwnStage {
    static let descriptor = StageDescriptor(
        kind: "unpack",
        summary:
            "Replaces an archive with its contents, and a compressed file with the file; anything else passes "
            + "unchanged.",
        options: UnpackOptions.all,
        effects: [.replacesPayload],
        example: "unpack: { require: true, max_bytes: 2GiB }", conditions: ["archive"])

    /// How long it may take where the pipeline sets no `timeout`: in seconds, for each GiB of the archive, and for each
    /// GiB that comes out, for a disk that writes 4 MiB a second.
    private static let seconds: Int64 = 300
    private static let secondsPerGiB: Int64 = 60
    private static let secondsPerGiBOut: Int64 = 256
    /// More threads than this do not make one archive faster.
    private static let mostThreads = 8

    let options: UnpackOptions
    let program: UnpackProgram?

    init(options: StageOptions) throws(OptionProblem) {
        self.options = try UnpackOptions(options)
        program = options.services.service(UnpackProgram.self)
    }

    var lack: Failure? { program == nil ? UnpackProgram.missing : nil }

    /// Whether it was `unpacked`, or was to be and was `missed`; nothing is known of what is no archive.
    var facts: [String] { ["archive"] }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        guard case .file(let name) = payload.shape else { return payload }
        try context.checkCancelled()
        let source = try Failure.onIOError { () throws(IOError) in
            try context.open(name, of: payload)
        }
        let sniff: ArchiveSniff
        do throws(ArchiveError) {
            sniff = try ArchiveSniff.look(at: source.descriptor)
        } catch {
            throw Failure(error, archive: source.path, folder: source.path)
        }
        let isDocument = Documents.contains(name.bytes, sniff)
        if isDocument, !options.documents, sniff.format != nil { return payload }
        guard let format = sniff.format, options.policy.formats.contains(format) else {
            return isDocument && sniff.format != nil ? payload : try pass(payload, name, sniff, context.work.notes)
        }
        return try unpack(source, format, name, context).inPlace(of: payload)
    }

    var isQuick: Bool { true }

    /// What is no archive passes.
    func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? {
        do throws(ArchiveError) {
            let sniff = try ArchiveSniff.look(at: content.bytes, of: content.descriptor)
            guard !options.require, sniff.format == nil, MissedArchive(job.drop.name.bytes, sniff) == nil else {
                return nil
            }
            return payload
        } catch {
            return nil
        }
    }

    /// What is not unpacked passes as it is, if it may; whoever waits for an archive's contents is told.
    private func pass(
        _ payload: Payload, _ name: FileName, _ sniff: ArchiveSniff, _ notes: StageNotes
    ) throws(Failure) -> Payload {
        let isDocument = !options.documents && Documents.contains(name.bytes, sniff)
        let missed = isDocument ? nil : MissedArchive(name.bytes, sniff)
        guard !options.require else {
            let fact =
                sniff.format.map { "is \($0.name), which is not unpacked here" } ?? missed?.fact ?? "is not an archive"
            throw .file(
                "archive.none", "'\(name)' \(fact), and only archives are accepted here.",
                remedy: missed.map { Sentence($0.remedy) } ?? "Pack it (zip, tar, 7z, …) and drop it again.")
        }
        var payload = payload
        if let format = sniff.format {
            notes.add("not unpacked: \(format.name) is not among `formats`")
            // Whoever names formats wants others to pass.
            if !options.namesFormats { payload.facts["archive"] = "missed" }
        } else if let missed {
            notes.add("not unpacked: it \(missed.fact). \(missed.remedy)")
            payload.facts["archive"] = "missed"
        }
        return payload
    }

    private func unpack(
        _ source: borrowing OpenFile, _ format: ArchiveFormat, _ name: FileName, _ context: StageContext
    ) throws(Failure) -> Payload {
        guard let program else { throw UnpackProgram.missing }
        let status = try Failure.onIOError { () throws(IOError) in try source.status() }
        let folder = try context.makeScratch()
        let root = try Failure.onIOError { () throws(IOError) in try context.open(folder) }
        let limit = context.work.timeLimit.map { Int64($0.seconds.rounded(.up)) }
        let seconds = limit ?? Self.seconds + Self.secondsPerGiB * (Int64(status.st_size) >> 30)
        let policy = try policy(for: format, in: root.file, context)
        let request = UnpackRequest(
            format: format,
            alone: Unpacking.LoneFile(
                name: name.bytes, modified: (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))),
            policy: policy, requiresSandbox: options.requiresSandbox, cpuSeconds: seconds * Int64(policy.workers))
        let task = UnpackHelpers.Task(
            request: request,
            // The pipeline's own `timeout` comes as a call to stop.
            seconds: limit == nil ? seconds : .max / 4000,
            secondsPerGiB: limit == nil ? Self.secondsPerGiBOut : 0,
            monitor: UnpackMonitor(
                report: { [progress = context.work.progress] in progress.add(bytes: $0, entries: $1) },
                isStopped: { [cancellation = context.work.cancellation] in cancellation.isCancelled }),
            begun: { [notes = context.work.notes] in program.noteConfinement($0, notes) })
        do throws(HelperFailure) {
            let report = try program.helpers.unpack(task, archive: source.descriptor, folder: root.file.descriptor)
            note(report, context.work.notes)
            var payload = report.isLoneFile ? try loneFile(in: root) : Payload(folder: folder)
            payload.facts["archive"] = "unpacked"
            payload.facts["integrity"] = report.integrity == .verified ? "verified" : "unverifiable"
            return payload
        } catch {
            let isLate = error == .cancelled && context.work.cancellation.reason == .timeout
            if isLate, let limit, !Self.keepsUp(context.work.progress, seconds: limit) {
                throw .overTime(name, "\(limit) seconds")
            }
            throw Failure(error, archive: source.path, name: name, folder: folder)
        }
    }

    /// Whether as much came out as does where only the disk is slow: then another attempt may find it faster. An
    /// archive that takes its time without that would take it each time.
    static func keepsUp(_ progress: StageProgress, seconds: Int64) -> Bool {
        // A name costs a disk about as much as a block.
        let done = Double(progress.bytes) + 4096 * Double(progress.entries)
        return done * Double(secondsPerGiBOut) >= Double(seconds) * Double(1 << 30)
    }

    /// What is configured, and what the machine and the disk allow now.
    private func policy(
        for format: ArchiveFormat, in folder: borrowing OpenFile, _ context: StageContext
    ) throws(Failure) -> UnpackPolicy {
        var policy = options.policy
        policy.workers = min(Self.mostThreads, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        policy.isSyncedSoon = context.disk.durability == .full
        // A helper that needs no passwords is told none.
        let mayNeedThem = format == .container(.zip) || policy.nested > 0
        if mayNeedThem, let file = options.passwordsFile { policy.passwords = try PasswordsFile.read(file) }
        // What cannot be asked shows itself when it is used.
        guard let room = DiskRoom.left(of: folder.descriptor, reserve: context.disk.reserve.bytes) else {
            return policy
        }
        guard room.bytes > 0, room.files > 0 else {
            throw Failure(
                .environment, code: ArchiveError.Code.diskFull.rawValue,
                summary: "The file system of '\(folder.path.text)' has no space left to unpack.",
                remedy: room.bytes > 0
                    ? "Delete files there, of any size; processing resumes by itself."
                    : "Free space there, or set a lower `min_free`; processing resumes by itself.")
        }
        policy.limits.space = room.bytes
        policy.limits.files = room.files
        policy.limits.reserve = context.disk.reserve.bytes
        return policy
    }

    private func note(_ report: Unpacking.Report, _ notes: StageNotes) {
        if report.skippedLinks > 0 { notes.add("\(report.skippedLinks) links skipped") }
        if report.nested > 0 { notes.add("\(report.nested) nested archives unpacked") }
    }

    /// The one file that a compressed file became; what it is called is known to who made it.
    private func loneFile(in folder: borrowing Folder) throws(HelperFailure) -> Payload {
        do throws(IOError) {
            let names = try folder.names()
            if names.count == 1 {
                let kind = try folder.kind(of: FilePath().appending(names[0]))
                if kind == .folder { return Payload(folder: folder.path) }
                if kind == .regular { return Payload(file: names[0], in: folder.path) }
            }
        } catch {
            throw .archive(.system(action: "list", entry: nil, errno: error.errno))
        }
        throw .confused
    }
}
