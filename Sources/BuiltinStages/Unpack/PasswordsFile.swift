import Glibc
import PipelineKit
import SystemPackage

/// A file of passwords, one to a line.
enum PasswordsFile {
    private static let mostBytes = 64 << 10
    /// More would take long to try, and do not fit into what a helper is told.
    private static let mostPasswords = 4000

    /// Reads it; empty lines do not count.
    static func read(_ path: FilePath) throws(StageFailure) -> [[UInt8]] {
        let (bytes, mode) = try contents(of: path)
        guard mode & 0o077 == 0 else {
            throw environment(
                "The file of passwords '\(path.text)' can be read by others than its owner.",
                remedy: "Make it its owner's alone (chmod 600); work goes on by itself.")
        }
        guard bytes.count <= mostBytes else {
            throw environment(
                "The file of passwords '\(path.text)' has more than \(mostBytes) bytes.",
                remedy: "Shorten it; work goes on by itself.")
        }
        let lines = bytes.split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
        guard lines.count <= mostPasswords else {
            throw environment(
                "The file of passwords '\(path.text)' has more than \(mostPasswords) lines.",
                remedy: "Shorten it; work goes on by itself.")
        }
        return lines.filter { !$0.isEmpty }
    }

    /// As much of the file as shows whether it is too long, and its mode.
    private static func contents(of path: FilePath) throws(StageFailure) -> (bytes: [UInt8], mode: mode_t) {
        do throws(IOError) {
            let file = try OpenFile.open(path, O_RDONLY)
            var buffer = [UInt8](repeating: 0, count: mostBytes + 1)
            let descriptor = file.descriptor
            let count = retrying { Glibc.read(descriptor, &buffer, buffer.count) }
            guard count >= 0 else { throw IOError("read", path, .last) }
            return (Array(buffer[..<count]), try file.status().st_mode)
        } catch {
            // The drop is not at fault.
            throw environment(
                "The file of passwords cannot be used: \(error).", remedy: "Put it there; work goes on by itself.")
        }
    }

    private static func environment(_ summary: String, remedy: String) -> StageFailure {
        StageFailure(.environment, code: "unpack.passwords", summary: summary, remedy: remedy)
    }
}
