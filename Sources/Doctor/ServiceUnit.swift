/// What a unit of systemd and its drop-ins set for a service (systemd.exec(5)): the lines of `systemctl cat`, which
/// come in the order in which they hold.
package struct ServiceUnit: Sendable {
    /// A line `KEY=VALUE` in the section [Service], or one word of it.
    struct Setting: Sendable, Equatable {
        let key: String
        let value: String
        /// `/etc/systemd/system/dropmill.service.d/folders.conf:3`
        let place: String

        var text: String { "\(key)=\(value), \(place)" }
    }

    private var lines: [Setting] = []

    /// The text of `systemctl cat`: each file begins with its path as a comment.
    package init(_ text: String) {
        var (file, number, isService) = ("", 0, false)
        var (begun, isBelowBlank) = ("", true)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            defer { isBelowBlank = line.isEmpty }
            if isBelowBlank, line.hasPrefix("# /"), line.hasSuffix(".service") || line.hasSuffix(".conf") {
                (file, number, isService, begun) = (String(line.dropFirst(2)), 0, false, "")
                continue
            }
            number += 1
            let isComment = line.hasPrefix("#") || line.hasPrefix(";")
            guard !isComment else { continue }
            guard !line.hasSuffix("\\") else {
                begun += line.dropLast() + " "
                continue
            }
            let whole = Self.trimmed(begun + line)
            begun = ""
            if whole.hasPrefix("[") { isService = whole == "[Service]" }
            guard isService, let sign = whole.firstIndex(of: "=") else { continue }
            let (key, value) = (Self.trimmed(whole[..<sign]), Self.trimmed(whole[whole.index(after: sign)...]))
            lines.append(Setting(key: key, value: value, place: "\(file):\(number)"))
        }
    }

    var isEmpty: Bool { lines.isEmpty }

    /// The line that holds; nil where none does, or it says nothing.
    subscript(_ key: String) -> Setting? {
        lines.last { $0.key == key }.flatMap { $0.value.isEmpty ? nil : $0 }
    }

    /// The same, where it says yes.
    func isOn(_ key: String) -> Setting? {
        self[key].flatMap { ["yes", "true", "on", "1"].contains($0.value.lowercased()) ? $0 : nil }
    }

    /// The words of all lines; one without any takes back those before it.
    func words(_ key: String) -> [Setting] {
        lines.filter { $0.key == key }.reduce(into: []) { words, line in
            if line.value.isEmpty {
                words = []
                return
            }
            // `~` is about all words of its line.
            let isDenial = line.value.hasPrefix("~")
            for word in line.value.split(whereSeparator: \.isWhitespace) {
                let text = isDenial && !word.hasPrefix("~") ? "~\(word)" : String(word)
                words.append(Setting(key: key, value: text, place: line.place))
            }
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let tail = text.drop(while: \.isWhitespace)
        let end = tail.lastIndex { !$0.isWhitespace }
        return end.map { String(tail[...$0]) } ?? ""
    }
}
