import ArgumentParser
import Dashboard
import Dispatch
import Files
import Glibc
import Logging
import PipelineConfig
import PipelineKit
import SystemPackage

/// `dropmill serve`: the page and its API, in a process of their own.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the page that shows everything, and its API.",
        discussion: """
            A process of its own: it asks the daemon through its socket, and opens no inbox, no journal and no file of \
            a pipeline. It may be started before the daemon, and outlives it. Its user has to be a member of the \
            daemon's control_group, with control_group_may: change where something is to be changed here.

            On a Unix socket, which is the default, whoever may open it may do everything; elsewhere a token is needed \
            ('dropmill token').

            Example: look at the daemon of this host in a browser:

              dropmill serve --listen 127.0.0.1:8866

            Example: be reached from elsewhere by TLS:

              dropmill serve --listen 10.2.0.14:443 --tls-certificate chain.pem --tls-key key.pem
            """)

    @OptionGroup var state: StateFolderOption
    @OptionGroup var place: TokenFolderOption

    @Option(
        help: ArgumentHelp(
            "Where to listen: an address with its port, or the path of a Unix socket.", valueName: "address"))
    var listen: ListenAddress = .unix("/run/dropmill/web.sock")

    @Option(
        help: ArgumentHelp(
            "A file with one token that may do everything, which only its owner may read.", valueName: "file"),
        completion: .file(), transform: RawArguments.path)
    var tokenFile: FilePath?

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp("What it may be called besides its address; may be repeated.", valueName: "name"))
    var hosts: [String] = []

    @OptionGroup var certificate: CertificateOptions

    @Option(
        help: ArgumentHelp(
            "Listen where others can reach it: a reverse proxy on this name ends TLS before it.", valueName: "host"))
    var tlsBehindProxy: String?

    @Option(help: ArgumentHelp("The header in which a proxy names who has signed in with it.", valueName: "header"))
    var trustHeader: String?

    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp("The address of a proxy that is believed; may be repeated.", valueName: "address"))
    var proxies: [String] = []

    @Flag(help: "Let everybody have /metrics, /healthz and /readyz.")
    var publicMetrics = false

    func validate() throws {
        // Another socket that systemd hands over is looked at when it is there.
        if Environment.variables["LISTEN_FDS"] == nil, let refusal = rules.refusal(at: listen) {
            throw ValidationError(refusal.description)
        }
        if trustHeader != nil, !listen.isUnix, proxies.isEmpty {
            throw ValidationError("--trust-header needs --proxy: anybody else could send that header, too")
        }
        for proxy in proxies where !ListenAddress.isAddress(proxy) {
            throw ValidationError("'\(EscapedText.of(proxy))' is no address; write one in numbers, such as 10.2.0.14")
        }
    }

    private var rules: ListenRules {
        ListenRules(
            isTLS: certificate.files != nil, isBehindProxy: tlsBehindProxy != nil, isNamed: !hosts.isEmpty)
    }

    func run() throws {
        var configuration = DashboardConfiguration(
            daemon: state.folder.path, address: listen, tokens: TokenFile(in: place.folder),
            version: BuildVersion.number)
        configuration.hosts = Set((hosts + [tlsBehindProxy].compactMap { $0 }).map { $0.lowercased() })
        (configuration.trustedHeader, configuration.proxies) = (trustHeader, Set(proxies))
        (configuration.rules, configuration.isPublic) = (rules, publicMetrics)
        do throws(CertificateError) {
            if let files = certificate.files {
                configuration.certificate = try CertificateKeeper(files) { StandardError.print("warning: \($0)") }
            }
        } catch {
            StandardError.print("error: \(error)")
            throw ExitStatus.configuration
        }
        var link = ""
        do throws(TokenError) {
            if let tokenFile {
                configuration.named = try Token(inFile: tokenFile)
            } else if !listen.isUnix, !configuration.tokens.isThere {
                let (token, secret) = try Token.make("first", .operate, at: .now())
                try configuration.tokens.change { tokens throws(TokenError) in tokens.append(token) }
                link = "/login#token=\(secret)"
            }
        } catch {
            StandardError.print("error: \(error)")
            throw ExitStatus.configuration
        }
        try serve(configuration, link)
    }

    private func serve(_ configuration: DashboardConfiguration, _ link: String) throws {
        var log = Logger(label: "dropmill.serve") { StreamLogHandler.standardError(label: $0) }
        log.logLevel = .warning
        let server = DashboardServer(configuration, log: log)
        let outcome = ServeOutcome()
        let signals = StopSignals()
        let keeper = configuration.certificate
        // A certificate is of a name, not of an address.
        let name = keeper == nil ? nil : hosts.first
        let task = Task {
            do {
                try await server.run(environment: Environment.variables) { address in
                    let origin = address.origin(name: name, isTLS: keeper != nil)
                    let place = origin.map { $0 + (link.isEmpty ? "/" : link) } ?? "\(address)"
                    print("serving at \(place)")
                    if link.isEmpty, !address.isUnix {
                        print("sign in with a token; 'dropmill token add NAME --role operate' gives one out")
                    }
                    fflush(nil)
                }
                outcome.end(nil)
            } catch is CancellationError {
                outcome.end(nil)
            } catch {
                outcome.end("\(error)")
            }
        }
        signals.listen(stop: { task.cancel() }, reload: { keeper?.lookSoon() }, answer: {})
        if let problem = outcome.wait() {
            StandardError.print("error: \(problem)")
            throw ExitStatus.busy
        }
    }
}
