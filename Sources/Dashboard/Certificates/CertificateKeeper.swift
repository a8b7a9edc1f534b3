@preconcurrency import Dispatch
package import Files
import NIOSSL
import Synchronization

/// The certificate in use: read at the start, and once more when its files have changed. One that cannot be used leaves
/// the last one in use.
package final class CertificateKeeper: Sendable {
    private typealias Found = Result<CertificateFiles.Contents, CertificateError>

    private struct Looks {
        /// What was found last, good or bad: nothing is said of it twice.
        var last: Found
        var isExpiryTold = false
    }

    /// Whoever renews a certificate does so days before it is needed.
    private static let pause = Duration.seconds(60)

    private let files: CertificateFiles
    private let say: @Sendable (String) -> Void
    /// One look after the other, on a queue of its own: a disk may not answer.
    private let queue = DispatchQueue(label: "dropmill.dashboard.certificate")
    private let looks: Mutex<Looks>
    private let current: Mutex<ServerCertificate>

    /// Throws where it cannot be used. `say` is told what is wrong from then on.
    package init(
        _ files: CertificateFiles, at now: Timestamp = .now(), _ say: @escaping @Sendable (String) -> Void
    ) throws(CertificateError) {
        (self.files, self.say) = (files, say)
        let contents = try files.read()
        current = Mutex(try ServerCertificate(contents, of: files))
        looks = Mutex(Looks(last: .success(contents)))
        look(at: now)
    }

    /// For a new connection.
    var context: NIOSSLContext { current.withLock { $0.context } }

    /// Has the files looked at now.
    package func lookSoon() { queue.async { [self] in look(at: .now()) } }

    /// Looks again and again, until what it gives is cancelled.
    func watch() -> any DispatchSourceTimer {
        queue.every(Self.pause, leeway: .seconds(1)) { @Sendable [weak self] in self?.look(at: .now()) }
    }

    func look(at now: Timestamp) {
        looks.withLock { looks in
            // By their content: times and numbers do not tell all files apart.
            let found = Found { () throws(CertificateError) in try files.read() }
            if found != looks.last {
                looks.last = found
                do throws(CertificateError) {
                    let renewed = try ServerCertificate(try found.get(), of: files)
                    current.withLock { $0 = renewed }
                    looks.isExpiryTold = false
                } catch {
                    say("\(error); until then the certificate that was read before is used")
                }
            }
            let expiry = current.withLock { $0.expiry }
            guard expiry <= now, !looks.isExpiryTold else { return }
            looks.isExpiryTold = true
            say(
                "the certificate in '\(files.chain.text)' has been out of date since \(expiry.iso8601), and browsers "
                    + "refuse it; renew it: that is seen within a minute")
        }
    }
}
