import CLinux
@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage

/// What is being examined, noted where it outlives the process: if it crashes the process, the next
/// one knows.
///
/// A note is a store to memory that is mapped from a file, and so costs no call; it needs no sync either, since it is
/// not to outlive the machine.
// @unchecked: each is of one serial queue of an intake (inbox, proofs or copies), and begun and ended there only.
final class LookNote: @unchecked Sendable {
    enum Subject: Hashable {
        case drop(DropPath)
        /// A claimed drop, by the name of its job's folder.
        case job(JobID)

        /// A drop's path begins with no slash.
        var bytes: [UInt8] {
            switch self {
            case .drop(let path): path.bytes
            case .job(let id): Array("/\(id.text)".utf8)
            }
        }

        init?(_ bytes: some Collection<UInt8>) {
            if bytes.first == UInt8(ascii: "/") {
                guard let id = JobID(String(decoding: bytes.dropFirst(), as: UTF8.self)) else { return nil }
                self = .job(id)
            } else {
                let names = bytes.split(separator: UInt8(ascii: "/")).compactMap { FileName($0) }
                guard let name = names.last else { return nil }
                self = .drop(DropPath(name, in: InboxFolder(names.dropLast())))
            }
        }
    }

    /// What the previous process was examining when it died; nil for nothing.
    let left: Subject?
    private let file: OpenFile
    /// Nil where each note is written.
    private let map: UnsafeMutableRawBufferPointer?
    private var isEmpty = true
    private let queue: DispatchQueue?

    private static let size = 4096

    /// Opens a note in a folder of ours, which is made if missing. `queue`: where it is begun and ended.
    init(in folder: FilePath, named name: String = "now", on queue: DispatchQueue? = nil) throws(IOError) {
        self.queue = queue
        try Folder.make(folder, mode: 0o700)
        let path = folder.appending(name)
        file = try OpenFile.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let descriptor = file.descriptor
        let count = bytes.withUnsafeMutableBytes { buffer in
            retrying { pread(descriptor, buffer.baseAddress, buffer.count, 0) }
        }
        left = Self.subject(in: bytes.prefix(max(0, count)))
        // Allocates all of it on disk.
        bytes = [UInt8](repeating: 0, count: Self.size)
        try file.write(bytes)
        map = Self.isStoreSafe(path) ? Self.map(descriptor) : nil
    }

    deinit {
        if let map { munmap(map.baseAddress, map.count) }
    }

    /// What a process was examining that is dead, by its notes in that folder; empty for nothing.
    static func left(in folder: FilePath) -> [Subject] {
        func subject(_ name: String) -> Subject? {
            do throws(IOError) {
                return Self.subject(in: try SmallFile.read(folder.appending(name), atMost: size))
            } catch {
                return nil
            }
        }
        // Work on other queues takes longest, so it is the first suspect.
        let beside = ["proofs", "copies"].compactMap(subject)
        return beside.isEmpty ? ["now"].compactMap(subject) : beside
    }

    func begin(_ subject: Subject) {
        assertQueue()
        let bytes = subject.bytes
        guard bytes.count <= Self.size - 2 else { return end() }
        isEmpty = false
        if let map {
            // The length last: a note that is broken off is none.
            map.storeBytes(of: 0, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: map[2...]).copyBytes(from: bytes)
            map.storeBytes(of: UInt16(bytes.count), as: UInt16.self)
        } else {
            write(withUnsafeBytes(of: UInt16(bytes.count)) { Array($0) } + bytes)
        }
    }

    func end() {
        assertQueue()
        guard !isEmpty else { return }
        isEmpty = true
        if let map { map.storeBytes(of: 0, as: UInt16.self) } else { write([0, 0]) }
    }

    private func assertQueue() {
        if let queue { dispatchPrecondition(condition: .onQueue(queue)) }
    }

    /// A failed note must not prevent the examination.
    private func write(_ bytes: [UInt8]) {
        let descriptor = file.descriptor
        _ = bytes.withUnsafeBytes { buffer in retrying { pwrite(descriptor, buffer.baseAddress, buffer.count, 0) } }
    }

    private static func subject(in bytes: some Collection<UInt8>) -> Subject? {
        let head = bytes.prefix(2)
        guard head.count == 2 else { return nil }
        let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
        let rest = bytes.dropFirst(2)
        return length > 0 && length <= rest.count ? Subject(rest.prefix(length)) : nil
    }

    private static func map(_ descriptor: Int32) -> UnsafeMutableRawBufferPointer? {
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address, address != MAP_FAILED else { return nil }
        return UnsafeMutableRawBufferPointer(start: address, count: size)
    }

    /// Whether a store to a page that is on the disk needs no more room there: where it does, a full disk would end the
    /// process (SIGBUS). True of ext2 to ext4, xfs and tmpfs (linux/magic.h).
    private static func isStoreSafe(_ path: FilePath) -> Bool {
        [0xEF53, 0x5846_5342, 0x0102_1994].contains(path.withPlatformString { dm_file_system_type($0) })
    }
}
