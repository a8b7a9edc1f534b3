import Archive
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What tests of the process that unpacks need: a folder to unpack to, real helpers, and others.
protocol UnpackHelperTesting {
    var scratch: ScratchFolder { get }
    var folder: FilePath { get }
}

extension UnpackHelperTesting {
    /// Helpers of this program. `patience`: the milliseconds that its server may take.
    func helpers(_ program: FilePath, _ arguments: [String], patience: Int32 = 10_000) -> UnpackHelpers {
        UnpackHelpers(program: program, arguments: arguments, patience: patience)
    }

    var real: UnpackHelpers { helpers(DropmillProcess.binary, ["unpack-worker"]) }

    /// Helpers that are another program, with descriptor 3 as their way to say something.
    func fakes(_ command: String...) -> UnpackHelpers { helpers(DropmillProcess.built("served"), command) }

    /// What a shell does to wait for the request and to say that it begins, as the real one does: 5 bytes of text after
    /// their number, and a number.
    static var begun: String {
        #"head -c1 <&3 >/dev/null; printf '\005\0\0\0\0\0\0\0begun\007\0\0\0\0\0\0\0' >&3; "#
    }

    /// The same to say that a GiB came out since it said so last: 8 bytes of text and two numbers.
    static var aGiBIsOut: String {
        #"printf '\010\0\0\0\0\0\0\0progress\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0' >&3; "#
    }

    /// The same to wait for the request and to say that all is done.
    static var done: String { "head -c1 <&3 >/dev/null; " + end }

    /// The same to say that all is done: 4 bytes of text, two flags, and four numbers.
    static var end: String {
        let numbers = String(repeating: #"\001\0\0\0\0\0\0\0"#, count: 4)
        return #"printf '\004\0\0\0\0\0\0\0done\0\001"# + numbers + "' >&3"
    }

    func unpack(
        _ helpers: UnpackHelpers, _ archive: FilePath, seconds: Int64 = 60, secondsPerGiB: Int64 = 0, workers: Int = 2,
        monitor: UnpackMonitor = UnpackMonitor(), begun: @escaping @Sendable (Int64) -> Void = { _ in },
        change: (inout UnpackRequest) -> Void = { _ in }
    ) throws -> Unpacking.Report {
        let source = try OpenFile.open(archive, O_RDONLY)
        let root = try OpenFile.openFolder(folder)
        let format = try #require(try ArchiveSniff.look(at: source.descriptor).format)
        var policy = UnpackPolicy()
        policy.workers = workers
        var request = UnpackRequest(
            format: format, alone: Unpacking.LoneFile(name: Array("lone.gz".utf8), modified: (1, 0)), policy: policy,
            cpuSeconds: seconds)
        change(&request)
        let task = UnpackHelpers.Task(
            request: request, seconds: seconds, secondsPerGiB: secondsPerGiB, monitor: monitor, begun: begun)
        return try helpers.unpack(task, archive: source.descriptor, folder: root.descriptor)
    }

    func failure(_ body: () throws -> Unpacking.Report) throws -> HelperFailure {
        do {
            let report = try body()
            Issue.record("it went well: \(report)")
            throw HelperFailure.confused
        } catch let failure as HelperFailure {
            return failure
        }
    }

    func zip(_ count: Int = 3, size: Int = 2000) throws -> FilePath {
        var zip = ZipBuilder()
        for index in 0..<count { zip.add("d/f\(index)", content: String(repeating: "x", count: size)) }
        return try scratch.write(zip.finished, to: scratch.path("archive"))
    }
}
