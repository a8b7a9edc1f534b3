import Files
import Glibc
package import PipelineKit
package import SystemPackage

extension HTTPStage {
    package func examine(in bench: FilePath?) -> [Finding] {
        var findings: [Finding] = []
        do throws(Failure) {
            for header in headers { _ = try header.value.reveal() }
        } catch {
            findings.append(Finding(.file, error))
        }
        guard let authorities else { return findings }
        do throws(IOError) {
            let text = String(
                decoding: try SmallFile.read(
                    try OpenFile.open(authorities, O_RDONLY | O_NONBLOCK), atMost: Self.mostOfAuthorities),
                as: UTF8.self)
            findings.append(
                text.contains("-----BEGIN CERTIFICATE-----") || text.contains("-----BEGIN TRUSTED CERTIFICATE-----")
                    ? .good(.file, "'\(authorities.text)' contains certificates")
                    : .problem(
                        .file, "'\(authorities.text)', the file of 'ca', contains no certificate",
                        "Put PEM certificates there"))
        } catch {
            findings.append(
                .problem(.file, "the file of 'ca' cannot be read: \(error)", "Put PEM certificates there"))
        }
        return findings
    }

    private static let mostOfAuthorities = 16 << 20
}
