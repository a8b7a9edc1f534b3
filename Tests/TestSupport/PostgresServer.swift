import Files
import Glibc
import Synchronization
package import SystemPackage
import TestTools

/// A server of PostgreSQL in a folder of its own, as an ordinary user on a Unix socket there. It ends with this
/// process.
package final class PostgresServer: Sendable {
    /// For all tests that need not stop it.
    package static let shared = Result { try PostgresServer() }

    package static var isPossible: Bool { programs != nil }

    /// Where its programs are: the newest that is installed.
    private static let programs: FilePath? = {
        let above = FilePath("/usr/lib/postgresql")
        let versions = ((try? Folder.names(in: above)) ?? []).map(\.text).sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        let folders = versions.map { above.appending($0).appending("bin") }
        if let found = folders.first(where: { Folder.kind(of: $0.appending("postgres")) == .regular }) { return found }
        return Tool.find("postgres")?.path.removingLastComponent()
    }()

    struct Trouble: Error { let text: String }

    /// With the socket, the data and the log.
    package let folder: FilePath
    private let programs: FilePath
    private let schemas = Mutex(0)

    package init() throws {
        guard let programs = Self.programs else { throw Trouble(text: "there is no PostgreSQL") }
        self.programs = programs
        let above = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(above)/postgres.XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } != nil }
        guard made else { throw IOError("create a folder in", FilePath(above), .last) }
        folder = FilePath(String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        if geteuid() == 0 { try shell("chown nobody:nogroup \(folder)") }
        try shell(
            "\(own("initdb")) -D \(folder)/data -U tests -A trust -E UTF8 --locale=C --no-sync && \(start)")
        // Nobody writes to it: it ends with this process.
        let end = "cat >/dev/null; \(own("pg_ctl")) -D \(folder)/data -m immediate stop; rm -rf \(folder)"
        guard popen("{ \(end); } >/dev/null 2>&1", "we") != nil else { throw IOError("start", "sh", .last) }
    }

    private var start: String {
        let options = "-k \(folder) -c listen_addresses= -c max_connections=200 -c fsync=off"
        return "\(own("pg_ctl")) -D \(folder)/data -l \(folder)/log -w -o '\(options)' start >/dev/null"
    }

    /// As a user who is not root, which it refuses to be.
    private func own(_ program: String) -> String {
        (geteuid() == 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups " : "") + "\(programs)/\(program)"
    }

    private func shell(_ command: String) throws {
        let output = try Tool("/bin/sh").run(["-c", "cd / && \(command)"])
        guard output.status == 0 else { throw Trouble(text: "\(command): \(output.text)") }
    }

    /// Ends it as a crash would.
    package func stop() throws { try shell("\(own("pg_ctl")) -D \(folder)/data -m immediate -w stop") }

    package func begin() throws { try shell(start) }

    /// A new schema, as what libpq takes for its place.
    package func schema() throws -> String {
        let name = schemas.withLock { count in
            count += 1
            return "test\(count)"
        }
        let server = "host=\(folder) user=tests dbname=postgres"
        _ = try ask("CREATE SCHEMA \(name)", in: server)
        return "\(server) options=-csearch_path=\(name)"
    }

    /// The same in a database of its own, where nobody else is heard.
    package func database() throws -> String {
        let place = try schema()
        let name = "of_\(place.split(separator: "=").last ?? "")"
        _ = try ask("CREATE DATABASE \(name)", in: place)
        return "host=\(folder) user=tests dbname=\(name)"
    }

    /// Ends the lease of nodes without their knowledge, as a long sleep would; the server runs long enough by then.
    package func endLease(where condition: String, in place: String) throws {
        let past = "lease_until = clock_timestamp() - interval '1s', lease = '0'"
        _ = try ask("UPDATE nodes SET \(past) WHERE \(condition)", in: place)
    }

    /// What the server answers, a line a row.
    package func ask(_ sql: String, in place: String) throws -> [String] {
        let output = try Tool(programs.appending("psql")).run(["-XqAtv", "ON_ERROR_STOP=1", "-d", place, "-c", sql])
        guard output.status == 0 else { throw Trouble(text: output.text) }
        return output.text.split(separator: "\n").map(String.init)
    }
}
