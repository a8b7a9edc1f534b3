package import SystemPackage

/// Where messages go, and by which way.
package struct NotifyTarget: Sendable, Equatable {
    /// The ways there are.
    package enum Way: String, Sendable, CaseIterable {
        /// A topic of an ntfy server.
        case ntfy
        /// The API of an Apprise server.
        case apprise
        /// Any URL, with a text of one's own.
        case webhook
        /// `sendmail -t`.
        case mail
        /// A program, with the message as JSON at its standard input.
        case run

        /// Whether libcurl is needed.
        package var isWeb: Bool { self != .mail && self != .run }
    }

    /// A line of a request's head.
    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: SecretText

        package init(name: String, value: SecretText) { (self.name, self.value) = (name, value) }
    }

    package let way: Way
    /// Where a message goes over HTTP; nil for the other ways.
    package var url: SecretText?
    package var headers: [Header] = []
    /// What a webhook is sent; nil: all of the message as JSON.
    package var body: NotifyTemplate?
    /// A file of certificates to trust instead of the system's.
    package var authorities: FilePath?
    /// Whether secrets may go to another host unencrypted.
    package var insecure = false
    /// Whom mail is for, and whom it is from; nil: what sendmail puts there.
    package var recipients: [String] = []
    package var sender: String?
    /// The program to run, and its arguments.
    package var command: [String] = []

    package init(_ way: Way) { self.way = way }

    /// `ntfy https://ntfy.example/…`: nothing of it is a secret.
    package var shown: String {
        switch way {
        case .ntfy, .apprise, .webhook: "\(way.rawValue) \(Self.shown(url?.source ?? ""))"
        case .mail: "mail \(recipients.joined(separator: ", "))"
        case .run: "run \(command.first ?? "")"
        }
    }

    /// What tells it from others of its way: of a URL without who signs in, and without its query.
    var place: String {
        switch way {
        case .ntfy, .apprise, .webhook: String(Concealed.urls(in: url?.source ?? "").prefix { !"?#".contains($0) })
        case .mail: recipients.joined(separator: "\n")
        case .run: command.joined(separator: "\n")
        }
    }

    /// Topics and keys are in paths. What stands for a secret, as `${env:HOST}`, is none.
    package static func shown(_ url: String) -> String {
        let shown = Concealed.urls(in: url)
        // The same with as many other signs for it.
        var (plain, isWithin) = ([Character](), false)
        for (index, sign) in zip(shown.indices, shown) {
            isWithin = isWithin || shown[index...].hasPrefix("${")
            plain.append(isWithin ? "_" : sign)
            if sign == "}" { isWithin = false }
        }
        let text = String(plain)
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        guard SecretText.isIn(shown) || start > text.startIndex,
            let path = text[start...].firstIndex(where: { "/?#".contains($0) })
        else { return shown }
        let length = text.distance(from: text.startIndex, to: path) + 1
        return length == text.count ? shown : shown.prefix(length) + "…"
    }
}
