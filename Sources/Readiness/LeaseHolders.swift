package import Files
package import FolderWatch
import PipelineKit
import SystemPackage

/// Who has a lease on a file, as `/proc/locks` shows it: `7: LEASE  ACTIVE    WRITE 4121 fe:01:4711 0 EOF` (proc(5)).
package enum LeaseHolders {
    /// The holder of a lease on the file; without a process if that is unknown.
    package static func holder(of file: FileIdentity) -> Waiting.Writer {
        let process = process(with: file, in: text)
        return Waiting.Writer(process: process, program: process.flatMap(ProcessScan.program), holdsLease: true)
    }

    private static var text: [UInt8] {
        do throws(IOError) {
            return try SmallFile.read("/proc/locks", atMost: 4 << 20)
        } catch {
            return []
        }
    }

    /// The process of the lease, of another namespace's no number.
    package static func process(with file: FileIdentity, in text: [UInt8]) -> Int32? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            // One that waits for another's has an arrow in between.
            guard fields.count >= 6, fields[1].elementsEqual("LEASE".utf8) else { continue }
            let place = fields[5].split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
            guard place.count == 3, let major = UInt64(place[0], radix: 16), let minor = UInt64(place[1], radix: 16),
                UInt64(place[2]) == file.inode, ProcessScan.device(major, minor) == file.device
            else { continue }
            return Int32(String(decoding: fields[4], as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }
}
