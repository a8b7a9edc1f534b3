import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

/// Which files the machine's processes have open for writing, or mapped so, and which folders they are in, as proc(5)
/// shows it: one walk through `/proc/*/fd`, `/proc/*/cwd` and, if asked for, `/proc/*/maps`.
///
/// It takes some 6 system calls for each process and 1 or 2 for each of its descriptors, and as much time again where
/// mappings are asked for: about 10 ms for 130 processes with 800 descriptors.
struct ProcessScan: Sendable {
    private var processes: [FileIdentity: Int32] = [:]
    /// Folders that a process has open or as its current folder: it can create names in them, whatever their path.
    private var visited: [FileIdentity: Int32] = [:]
    /// Whether the descriptors of every process could be seen: only then does not being found mean anything.
    private(set) var isComplete = ProcessScan.seesAllProcesses()
    /// When it began: what was opened later is not in it.
    let begun = MonotonicTime.now()
    /// Processor time that it took.
    private(set) var cost = Duration.zero
    let hasMappings: Bool

    /// Looks at all processes but this one.
    init(mappings: Bool = true) {
        hasMappings = mappings
        let before = MonotonicTime.spentByThread()
        do throws(IOError) {
            let own = getpid()
            try Folder.forEachEntry(of: "/proc") { (name, _) throws(IOError) in
                guard name.bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
                if let process = Int32(name.text), process != own { inspect(process) }
            }
        } catch {
            isComplete = false
        }
        cost = MonotonicTime.spentByThread() - before
    }

    /// The process that has the file open for writing; one of them, where there are several.
    func writer(of file: FileIdentity) -> Waiting.Writer? {
        processes[file].map { Waiting.Writer(process: $0, program: Self.program(of: $0)) }
    }

    /// A visible process that has one of the folders open or as its current folder.
    func visitor(of folders: Set<FileIdentity>) -> Waiting.Writer? {
        folders.lazy.compactMap { visited[$0] }.first.map {
            Waiting.Writer(process: $0, program: Self.program(of: $0), isInFolder: true)
        }
    }

    private mutating func inspect(_ process: Int32) {
        do throws(IOError) {
            let folder = try OpenFile.open(FilePath("/proc/\(process)/fd"), O_RDONLY | O_DIRECTORY)
            try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in
                switch Self.opened(name, folder.descriptor) {
                case .written(let file): processes[file] = process
                case .folder(let folder): visited[folder] = process
                case nil: break
                }
            }
            if let folder = FileIdentity.of(FilePath("/proc/\(process)/cwd"), followingLinks: true) {
                visited[folder] = process
            }
        } catch {
            // A process that ended meanwhile writes nothing any more.
            if error.errno != .noSuchFileOrDirectory, error.errno != .noSuchProcess { isComplete = false }
        }
        guard hasMappings else { return }
        do throws(IOError) {
            for file in try Self.mappedFiles(of: process) { processes[file] = process }
        } catch {
            // A process whose mappings cannot be read (mostly pid 1) is assumed not to write through them.
        }
    }

    private enum Opened {
        case written(FileIdentity)
        case folder(FileIdentity)
    }

    /// What of interest is behind a descriptor: a folder, or a regular file that can be written to, since the link's
    /// own mode says how it was opened.
    private static func opened(_ name: FileName, _ folder: Int32) -> Opened? {
        name.withCString { name in
            var status = stat()
            guard fstatat(folder, name, &status, 0) == 0 else { return nil }
            let identity = FileIdentity(status)
            switch FileKind(mode: status.st_mode) {
            case .folder: return .folder(identity)
            case .regular:
                let isWritten =
                    fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IWUSR != 0
                return isWritten ? .written(identity) : nil
            default: return nil
            }
        }
    }

    /// Files that are mapped shared and for writing: `7f…-7f… rw-s 00000000 fe:01 4711 /srv/in/a`.
    private static func mappedFiles(of process: Int32) throws(IOError) -> [FileIdentity] {
        let text = try SmallFile.read(FilePath("/proc/\(process)/maps"), atMost: 16 << 20)
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // Hardly one of thousands of lines matters, so they are filtered before they are parsed.
            guard let space = line.firstIndex(of: UInt8(ascii: " ")), line.endIndex - space > 5,
                line[space + 2] == UInt8(ascii: "w"), line[space + 4] == UInt8(ascii: "s")
            else { return nil }
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4, let inode = UInt64(String(decoding: fields[4], as: UTF8.self)), inode != 0 else {
                return nil
            }
            let numbers = fields[3].split(separator: UInt8(ascii: ":")).compactMap {
                UInt64(String(decoding: $0, as: UTF8.self), radix: 16)
            }
            guard numbers.count == 2 else { return nil }
            return FileIdentity(device: device(numbers[0], numbers[1]), inode: inode)
        }
    }

    /// makedev(3), which is a macro.
    static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
        (major & 0xFFFF_F000) << 32 | (major & 0xFFF) << 8 | (minor & 0xFFFF_FF00) << 12 | minor & 0xFF
    }

    static func program(of process: Int32) -> String? {
        do throws(IOError) {
            let name = try SmallFile.read(FilePath("/proc/\(process)/comm"), atMost: 64)
            return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        } catch {
            return nil
        }
    }

    /// The name of the user that a process runs as, or the number; nil where it is gone.
    static func user(of process: Int32) -> String? {
        guard let status = FileStatus.of(FilePath("/proc/\(process)")) else { return nil }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(status.st_uid, &entry, base, buffer.count, &found) == 0, let name = found?.pointee.pw_name
            else { return "\(status.st_uid)" }
            return String(cString: name)
        }
    }

    /// Whether `/proc` shows the processes of the whole machine: in a container's own process namespace it does not,
    /// and a process outside may write to a folder that is mounted in. The first namespace has a fixed number
    /// (PROC_PID_INIT_INO of the kernel's proc_ns.h). Nor does it where it was mounted to hide the processes of others
    /// (`hidepid=2` of proc(5), `ProtectProc=` of systemd.exec(5)): then the first process is not there.
    private static func seesAllProcesses() -> Bool {
        guard Folder.kind(of: "/proc/1") == .folder else { return false }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            == "pid:[4026531836]"
    }
}
