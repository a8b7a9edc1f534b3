import Files
import Glibc
import PipelineKit
package import SystemPackage

/// Where a certificate and its key are.
package struct CertificateFiles: Sendable, Equatable {
    /// What is in the two.
    struct Contents: Sendable, Equatable {
        var chain: [UInt8]
        var key: [UInt8]
    }

    /// The most bytes that are read of either.
    private static let largest = 1 << 20

    /// The server's certificate, and behind it those that signed it, in PEM.
    package let chain: FilePath
    package let key: FilePath

    package init(chain: FilePath, key: FilePath) { (self.chain, self.key) = (chain, key) }

    func read() throws(CertificateError) -> Contents {
        let bytes: [UInt8]
        do throws(IOError) {
            // A link is followed: whoever renews certificates moves it to the next one.
            bytes = try SmallFile.read(try OpenFile.open(chain, O_RDONLY | O_NONBLOCK), atMost: Self.largest)
        } catch {
            throw CertificateError(
                "the certificate cannot be had: \(error); name a file in PEM that \(Self.user) can read")
        }
        do throws(IOError) {
            return Contents(chain: bytes, key: try SecretFile.read(key, atMost: Self.largest))
        } catch {
            throw CertificateError(
                "the certificate's key cannot be had: \(error); give \(Self.user) a file that is its alone (chmod 600)")
        }
    }

    private static var user: String { CurrentUser.name }
}
