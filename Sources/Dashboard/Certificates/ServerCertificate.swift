import Files
import NIOCore
import NIOSSL

/// A certificate with its key, ready for connections.
struct ServerCertificate: Sendable {
    /// How long the other end's word that it closes, too, is waited for.
    private static let parting = TimeAmount.seconds(1)

    let context: NIOSSLContext
    /// When browsers refuse it.
    let expiry: Timestamp

    init(_ contents: CertificateFiles.Contents, of files: CertificateFiles) throws(CertificateError) {
        let chain = try Self.read("chain of certificates", files.chain.text, "; the server's own comes first") {
            try NIOSSLCertificate.fromPEMBytes(contents.chain)
        }
        let key = try Self.read("key", files.key.text, ", without a passphrase: 'openssl pkey -in FILE' takes it off") {
            try NIOSSLPrivateKey(bytes: contents.key, format: .pem)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        // Of version 1.2; those of 1.3 are all good.
        configuration.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = Self.parting
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw CertificateError(
                "'\(files.key.text)' is not the key of the certificate in '\(files.chain.text)', or is of no kind that "
                    + "browsers take; name two that were made together")
        }
        expiry = Timestamp(seconds: chain.first.map { Int($0.notValidAfter) } ?? 0, nanoseconds: 0)
    }

    private static func read<Value>(
        _ what: String, _ path: String, _ how: String, _ body: () throws -> Value
    ) throws(CertificateError) -> Value {
        do {
            return try body()
        } catch {
            throw CertificateError("'\(path)' is no \(what) in PEM; write one\(how)")
        }
    }
}
