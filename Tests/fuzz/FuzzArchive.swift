import Files
import Glibc
import SystemPackage

@testable import Archive

/// What libFuzzer calls with bytes of its own making: everything that a helper does with an archive, in this process. A
/// crash, a hang or a file outside is a find.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let archive = Fuzz.archive
    guard ftruncate(archive, 0) == 0, pwrite(archive, bytes, count, 0) == count else { return -1 }
    do throws(any Error) {
        guard let format = try ArchiveSniff.look(at: archive).format else { return -1 }
        try Folder.makeClean(Fuzz.folder, mode: 0o755)
        let root = try OpenFile.openFolder(Fuzz.folder)
        _ = try Unpacking.run(
            archive, format: format, to: root.descriptor,
            alone: Unpacking.LoneFile(name: Array("lone.gz".utf8), modified: (1, 0)), policy: Fuzz.policy)
    } catch {
        // Most of what a fuzzer makes is refused.
    }
    guard Fuzz.isUntouched() else { abort() }
    return 0
}

private enum Fuzz {
    /// The archive, in memory.
    static let archive: Int32 = {
        let path = above.appending("archive").string
        return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }()

    static let above: FilePath = {
        var template = Array("/dev/shm/dropmill-fuzz.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { abort() }
        return FilePath(platformString: made)
    }()

    static let folder = above.appending("out")

    static let policy: UnpackPolicy = {
        var policy = UnpackPolicy()
        policy.limits.bytes = 4 << 20
        policy.limits.entries = 300
        policy.nested = 2
        policy.workers = 2
        policy.uniqueNames = .strict
        policy.tarEnd = .optional
        policy.duplicates = .last
        policy.nameEncoding = .cp437
        policy.passwords = [Array("p".utf8)]
        return policy
    }()

    /// Whether nothing lies beside the folder but the archive.
    static func isUntouched() -> Bool {
        do throws(IOError) {
            return try Set(Folder.names(in: above).map(\.text)).isSubset(of: ["archive", "out"])
        } catch {
            return false
        }
    }
}

/// libFuzzer's own main, by another name: SwiftPM starts a program at a function that it names after the target.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// Where the program starts.
@_cdecl("fuzz_archive_main")
public func start(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, fuzzOne)
}
