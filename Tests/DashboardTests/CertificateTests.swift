import Files
import Glibc
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import Dashboard

/// Certificates and their keys, as files.
@Suite(.enabled(if: TestCertificate.isPossible, TestCertificate.need)) struct CertificateTests {
    private let scratch: ScratchFolder
    private let first: TestCertificate

    /// What a keeper says.
    private final class Said: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    init() throws {
        scratch = try ScratchFolder()
        first = try TestCertificate("first", in: scratch)
    }

    private func keeper(_ said: Said, at now: Timestamp = .now()) throws -> CertificateKeeper {
        try CertificateKeeper(first.files, at: now) { said.add($0) }
    }

    @Test("A renewed one is taken, and nothing is said")
    func renewal() throws {
        let said = Said()
        let keeper = try keeper(said)
        let old = keeper.context
        keeper.look(at: .now())
        #expect(keeper.context === old)
        try first.replace(by: try TestCertificate("second", in: scratch))
        keeper.look(at: .now())
        #expect(keeper.context !== old)
        #expect(said.all.isEmpty)
    }

    @Test("One that cannot be used keeps the last one, is told once, and the next one is taken")
    func badRenewal() throws {
        let said = Said()
        let keeper = try keeper(said)
        let old = keeper.context
        let second = try TestCertificate("second", in: scratch)
        // Between the two renames.
        try first.copy(second.chain, to: first.chain)
        for _ in 0..<3 { keeper.look(at: .now()) }
        #expect(said.all.count == 1)
        #expect(said.all.last?.contains("is not the key of the certificate in") == true)
        try scratch.write("nonsense", to: "first.pem")
        for _ in 0..<3 { keeper.look(at: .now()) }
        #expect(said.all.count == 2 && said.all.last?.contains("is no chain of certificates in PEM") == true)
        #expect(unlink(first.chain.string) == 0)
        for _ in 0..<3 { keeper.look(at: .now()) }
        #expect(said.all.count == 3 && said.all.last?.contains("No such file or directory") == true)
        try first.replace(by: second)
        #expect(chmod(first.key.string, 0o644) == 0)
        for _ in 0..<3 { keeper.look(at: .now()) }
        #expect(said.all.count == 4 && said.all.last?.contains("others can, too") == true)
        #expect(said.all.allSatisfy { $0.hasSuffix("; until then the certificate that was read before is used") })
        #expect(keeper.context === old)
        #expect(chmod(first.key.string, 0o600) == 0)
        keeper.look(at: .now())
        #expect(keeper.context !== old && said.all.count == 4)
    }

    @Test("One that is out of date is told once, at the start or later, and again of the next one")
    func expiry() throws {
        let later = Timestamp(nanoseconds: Timestamp.now().nanoseconds + Duration.seconds(31 * 86_400).nanoseconds)
        let (said, others) = (Said(), Said())
        let keeper = try keeper(said, at: later)
        #expect(said.all.count == 1 && said.all[0].contains("has been out of date since"), "\(said.all)")
        keeper.look(at: later)
        #expect(said.all.count == 1)
        let other = try self.keeper(others)
        #expect(others.all.isEmpty)
        for _ in 0..<2 { other.look(at: later) }
        #expect(others.all.count == 1)
        try first.replace(by: try TestCertificate("second", in: scratch))
        keeper.look(at: later)
        #expect(said.all.count == 2)
    }

    @Test("What cannot be used is refused with what is wrong")
    func refusals() throws {
        func refusal(_ chain: FilePath, _ key: FilePath) -> String {
            let files = CertificateFiles(chain: chain, key: key)
            let error = #expect(throws: CertificateError.self) { try CertificateKeeper(files) { _ in } }
            return error?.description ?? ""
        }
        let other = try TestCertificate("other", in: scratch)
        #expect(refusal(first.chain, other.key).contains("is not the key of the certificate"))
        #expect(refusal(first.key, first.key).contains("is no chain of certificates"))
        #expect(refusal(scratch.path("none"), first.key).contains("No such file"))
        #expect(refusal(first.chain, scratch.path("none")).contains("No such file"))
        #expect(refusal(scratch.path(""), first.key).contains("cannot be had"))
        try scratch.write(String(repeating: "a", count: 2 << 20), to: "large")
        #expect(refusal(scratch.path("large"), first.key).contains("too large"))
        let locked = scratch.path("locked").string
        try TestCertificate.openssl(
            ["pkey", "-in", first.key.string, "-out", locked, "-aes256", "-passout", "pass:a passphrase"])
        #expect(chmod(locked, 0o600) == 0)
        #expect(refusal(first.chain, FilePath(locked)).contains("without a passphrase"))
        for mode: mode_t in [0o604, 0o640, 0o620, 0o602, 0o644] {
            #expect(chmod(first.key.string, mode) == 0)
            #expect(refusal(first.chain, first.key).contains("others can, too"))
        }
    }

    @Test("Keys of the kinds that there are do", arguments: [["RSA"], ["ED25519"], TestCertificate.elliptic])
    func kinds(_ kind: [String]) throws {
        let certificate = try TestCertificate("kind", in: scratch, kind: kind)
        _ = try CertificateKeeper(certificate.files) { _ in }
    }
}
