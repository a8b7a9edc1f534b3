package import Files
import Glibc
package import SystemPackage

extension Transfer {
    /// Whether a file, link or folder holds what another holds, byte for byte. Stronger than comparing digests, and no
    /// dearer: both have to be read once either way. `moves` is called again and again.
    package static func isCopy(
        _ copy: FilePath, in other: borrowing Folder, of source: FilePath, in folder: borrowing Folder,
        moves: () -> Void = {}
    ) throws(IOError) -> Bool {
        guard let kind = try folder.kind(of: source), try other.kind(of: copy) == kind else { return false }
        switch kind {
        case .folder:
            let names = try folder.folder(source).names().sorted()
            guard try other.folder(copy).names().sorted() == names else { return false }
            for name in names {
                let (copy, source) = (copy.appending(name), source.appending(name))
                guard try isCopy(copy, in: other, of: source, in: folder, moves: moves) else { return false }
            }
            return true
        case .symbolicLink: return try other.target(ofLink: copy) == folder.target(ofLink: source)
        case .special: return true
        default:
            return try hasSameBytes(
                try other.open(copy, O_RDONLY | O_NONBLOCK), try folder.open(source, O_RDONLY | O_NONBLOCK),
                moves)
        }
    }

    private static func hasSameBytes(
        _ first: borrowing OpenFile, _ second: borrowing OpenFile, _ moves: () -> Void
    ) throws(IOError) -> Bool {
        let (one, other) = (try first.status(), try second.status())
        guard one.st_size == other.st_size else { return false }
        let hasHoles = [one, other].allSatisfy { off_t($0.st_blocks) < $0.st_size / 512 }
        var offset: off_t = 0
        let size = 256 << 10
        let buffers = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: 64)
        defer { buffers.deallocate() }
        let left = UnsafeMutableRawBufferPointer(rebasing: buffers[..<size])
        let right = UnsafeMutableRawBufferPointer(rebasing: buffers[size...])
        while true {
            moves()
            if hasHoles {
                offset = min(data(in: first, from: offset), data(in: second, from: offset))
                if offset >= one.st_size { return true }
                lseek(first.descriptor, offset, SEEK_SET)
                lseek(second.descriptor, offset, SEEK_SET)
            }
            let count = try fill(left, from: first)
            guard try fill(right, from: second) == count else { return false }
            if count == 0 { return true }
            guard let a = left.baseAddress, let b = right.baseAddress, memcmp(a, b, count) == 0 else { return false }
            offset += off_t(count)
        }
    }

    /// Where the next data of a file is, which may be a hole up to its end.
    private static func data(in file: borrowing OpenFile, from offset: off_t) -> off_t {
        let data = lseek(file.descriptor, offset, seekData)
        // Other errors: a file system that knows no holes.
        return data < 0 ? Errno.last == .noSuchAddressOrDevice ? .max : offset : max(data, offset)
    }

    /// Reads until the buffer is full or the file ends.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from file: borrowing OpenFile
    ) throws(IOError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
