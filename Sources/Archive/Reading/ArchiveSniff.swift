import Glibc
import SystemPackage

/// What a look at a file's first bytes tells.
package struct ArchiveSniff: Sendable {
    /// The format; nil where the file is not an archive.
    package let format: ArchiveFormat?
    /// The name of the first entry, for the formats that begin with it (zip, ar): it tells documents from archives.
    package let firstName: [UInt8]?
    /// What else it is; nil where it is an archive.
    let hidden: HiddenArchive?

    /// The bytes that are looked at: more than the 4 KiB of many small files, so that one read sees that there is no
    /// more.
    private static let headLength = 8 << 10
    /// Where an ISO 9660 file system has its mark (ECMA-119, 8.1.2: in sector 16, after one byte).
    private static let isoMark = (offset: 32769, bytes: Array("CD001".utf8))

    private init(format: ArchiveFormat?, firstName: [UInt8]? = nil, hidden: HiddenArchive? = nil) {
        self.format = format
        self.firstName = firstName
        self.hidden = hidden
    }

    /// What a file of that format begins with.
    init(format: ArchiveFormat, head: UnsafeRawBufferPointer) {
        self.init(format: format, firstName: Self.firstName(format, head))
    }

    /// Looks at an open file, whose offset stays where it is: one read, or two for files large enough to be a disc's
    /// image.
    package static func look(at descriptor: Int32) throws(ArchiveError) -> ArchiveSniff {
        var failure: Errno?
        let sniff: ArchiveSniff? = withUnsafeTemporaryAllocation(byteCount: headLength, alignment: 16) { buffer in
            do throws(Errno) {
                let count = try read(descriptor, into: buffer, at: 0)
                return try of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), descriptor)
            } catch {
                failure = error
                return nil
            }
        }
        guard let sniff else { throw .system(action: "read", entry: nil, errno: failure ?? .ioError) }
        return sniff
    }

    /// The same for one that is open and was read whole.
    package static func look(
        at bytes: UnsafeRawBufferPointer, of descriptor: Int32
    ) throws(ArchiveError) -> ArchiveSniff {
        do throws(Errno) {
            return try of(UnsafeRawBufferPointer(rebasing: bytes.prefix(headLength)), descriptor)
        } catch {
            throw .system(action: "read", entry: nil, errno: error)
        }
    }

    /// `head`: its first bytes, all of them where there are fewer than `headLength`.
    private static func of(_ head: UnsafeRawBufferPointer, _ descriptor: Int32) throws(Errno) -> ArchiveSniff {
        if let format = ArchiveFormat.of(head: head) { return ArchiveSniff(format: format, head: head) }
        if head.count == headLength, try isDisc(descriptor) { return ArchiveSniff(format: .container(.iso)) }
        let hidden = try HiddenArchive(head, isWhole: head.count < headLength, of: descriptor)
        return ArchiveSniff(format: nil, hidden: hidden)
    }

    private static func isDisc(_ descriptor: Int32) throws(Errno) -> Bool {
        var mark: UInt64 = 0
        return try withUnsafeMutableBytes(of: &mark) { (buffer) throws(Errno) in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<isoMark.bytes.count])
            return try read(descriptor, into: bytes, at: isoMark.offset) == bytes.count
                && bytes.elementsEqual(isoMark.bytes)
        }
    }

    private static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            if count >= 0 { return count }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }

    /// From the local header of a zip (APPNOTE 4.3.7) or the header of an ar member (ar(5)).
    private static func firstName(_ format: ArchiveFormat, _ head: UnsafeRawBufferPointer) -> [UInt8]? {
        switch format {
        case .container(.zip):
            // Behind the mark of an archive that was to be split.
            let start = head.starts(with: ArchiveFormat.zipEntryMark) ? 0 : 4
            guard head.count >= start + 30 else { return nil }
            let length = head.loadUnaligned(fromByteOffset: start + 26, as: UInt16.self).littleEndian
            let name = head[(start + 30)...].prefix(Int(length))
            return name.count == Int(length) ? Array(name) : nil
        case .container(.ar):
            guard head.count >= 24 else { return nil }
            return Array(head[8..<24].prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "/") })
        default: return nil
        }
    }
}
