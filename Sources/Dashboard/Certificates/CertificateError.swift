/// Why a certificate or its key cannot be used: a sentence, with its remedy.
package struct CertificateError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
