import ArgumentParser
import Dashboard
import SystemPackage

/// `--tls-certificate FILE --tls-key FILE` of what speaks TLS.
struct CertificateOptions: ParsableArguments {
    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp(
            "Speak TLS, at any address: the server's certificate and those that signed it, in PEM. It is read again "
                + "when it has changed, which is looked for once a minute and at SIGHUP.", valueName: "file"),
        completion: .file(), transform: RawArguments.path)
    var chain: FilePath?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The certificate's key in PEM, which only its owner may read.", valueName: "file"),
        completion: .file(), transform: RawArguments.path)
    var key: FilePath?

    func validate() throws {
        guard (chain == nil) == (key == nil) else {
            throw ValidationError(
                "\(key == nil ? "--tls-certificate" : "--tls-key") goes with "
                    + "\(key == nil ? "--tls-key" : "--tls-certificate"): a certificate is of use with its key only")
        }
    }

    /// What they name; nil where TLS is not spoken.
    var files: CertificateFiles? {
        guard let chain, let key else { return nil }
        return CertificateFiles(chain: chain, key: key)
    }
}
