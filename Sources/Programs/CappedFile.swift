import Glibc
import SystemPackage

/// A file that takes what a program writes, however much that is: it keeps the end. Used by one thread at a time.
final class CappedFile {
    private let descriptor: Int32
    private let most: Int
    private var size = 0
    /// How much came in all.
    private(set) var count = 0
    /// Why it takes no more, such as a full disk.
    private(set) var failure: Errno?

    /// Makes the file, or empties it. It never holds more than `most` bytes, and at least half of that once as much
    /// came.
    init(_ path: FilePath, most: Int) throws(Errno) {
        descriptor = path.withPlatformString {
            open($0, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        self.most = most
    }

    deinit { close(descriptor) }

    func add(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        guard failure == nil else { return }
        do throws(Errno) {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.suffix(most / 2))
            if size + bytes.count > most { try keep(last: most / 2) }
            try write(bytes, at: size)
            size += bytes.count
        } catch {
            failure = error
        }
    }

    func tail(_ length: Int) -> [UInt8] {
        let length = min(length, size)
        var failure: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(Errno) { count = try read(UnsafeMutableRawBufferPointer(buffer), at: size - length) } catch {
                failure = error
            }
        }
        if let failure { self.failure = failure }
        return bytes
    }

    /// Moves the end to the beginning.
    private func keep(last length: Int) throws(Errno) {
        let end = tail(min(length, size))
        if let failure { throw failure }
        var failed: Errno?
        end.withUnsafeBytes { bytes in do throws(Errno) { try write(bytes, at: 0) } catch { failed = error } }
        if let failed { throw failed }
        guard ftruncate(descriptor, off_t(end.count)) == 0 else { throw Errno(rawValue: errno) }
        size = end.count
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count > 0 { done += count } else if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw Errno(rawValue: errno) }
        }
        return done
    }
}
