import Files
import Glibc
import SystemPackage
import TestTools
import Testing

@testable import Dashboard

/// A certificate that signs itself, for `mill.example`, made for a test.
struct TestCertificate {
    static let isPossible = Tool.find("openssl") != nil
    static let need: Comment = "\(Tool.skip("openssl"))"

    let chain: FilePath
    let key: FilePath

    var files: CertificateFiles { CertificateFiles(chain: chain, key: key) }

    /// `kind`: what `openssl genpkey` makes its key of.
    init(_ name: String, in scratch: ScratchFolder, kind: [String] = Self.elliptic) throws {
        (chain, key) = (scratch.path("\(name).pem"), scratch.path("\(name).key"))
        try Self.openssl(["genpkey", "-algorithm"] + kind + ["-out", key.string])
        try Self.openssl(
            ["req", "-x509", "-key", key.string, "-out", chain.string, "-days", "30", "-subj", "/CN=mill.example"]
                + ["-addext", "subjectAltName=DNS:mill.example"])
        #expect(chmod(key.string, 0o600) == 0)
    }

    static let elliptic = ["EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"]

    static func openssl(_ arguments: [String]) throws {
        let output = try #require(Tool.find("openssl")).run(arguments)
        try #require(output.status == 0, "\(output.text)")
    }

    /// Puts another one in the place of this one, as certbot does: first the chain, then the key.
    func replace(by other: TestCertificate) throws {
        try copy(other.chain, to: chain)
        try copy(other.key, to: key)
    }

    func copy(_ source: FilePath, to target: FilePath) throws {
        let draft = FilePath(target.string + ".new")
        let file = try OpenFile.open(draft, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try file.write(try ScratchFolder.read(source))
        #expect(rename(draft.string, target.string) == 0)
    }
}
