import Files
import PipelineKit
import SystemPackage

extension NotifyTarget {
    /// What `to` of a rule says; nil where it is wrong, which is reported.
    init?(_ rule: OptionMap, _ entry: OptionNode, _ context: OptionContext, _ problems: inout [OptionProblem]) {
        let ways = Way.allCases.map(\.rawValue)
        guard let given = rule.given("to") else {
            if !rule.isMisspelt("to") {
                let words = ways.joined(separator: ", ")
                problems.append(
                    entry.problem("'\(rule.name)' needs 'to', where its messages go: one of \(words)"))
            }
            return nil
        }
        let name = rule.path(to: "to")
        let map = OptionMap(
            given.value, name: name, keys: NotifyDecoder.target.map(\.name), isSecret: true, problems: &problems)
        guard case .map = given.value.content else { return nil }
        // As they stand there.
        let found = Way.allCases.compactMap { way in map.given(way.rawValue).map { (way: way, entry: $0) } }
            .sorted {
                ($0.entry.position.line, $0.entry.position.column) < ($1.entry.position.line, $1.entry.position.column)
            }
        guard let way = found.first?.way else {
            if !ways.contains(where: map.isMisspelt) {
                problems.append(
                    OptionProblem(
                        "'\(name)' says no way; give one of \(ways.joined(separator: ", "))", at: given.position))
            }
            return nil
        }
        if let other = found.dropFirst().first {
            problems.append(
                OptionProblem(
                    "'\(name)' has both '\(way.rawValue)' and '\(other.way.rawValue)'; make a rule of its own of each",
                    at: other.entry.position))
        }
        self.init(way)
        let before = problems.count
        refuse(["headers", "ca", "insecure"], unless: way.isWeb, "a way over HTTP", map, &problems)
        refuse(["body"], unless: way == .webhook, "'webhook'", map, &problems)
        refuse(["from"], unless: way == .mail, "'mail'", map, &problems)
        switch way {
        case .ntfy, .apprise, .webhook: readWeb(map, context, &problems)
        case .mail:
            recipients = map.read(way.rawValue, problems: &problems, Self.addresses) ?? []
            sender = map.read("from", problems: &problems, Self.address)
        case .run: command = map.read(way.rawValue, problems: &problems, Self.command) ?? []
        }
        if problems.count > before { return nil }
    }

    private func refuse(
        _ keys: [String], unless isMeant: Bool, _ owner: String, _ map: OptionMap, _ problems: inout [OptionProblem]
    ) {
        for key in keys where !isMeant {
            guard let entry = map.given(key) else { continue }
            problems.append(
                OptionProblem("'\(map.path(to: key))' is for \(owner) only; leave it out", at: entry.position))
        }
    }

    private mutating func readWeb(_ map: OptionMap, _ context: OptionContext, _ problems: inout [OptionProblem]) {
        insecure =
            map.read("insecure", problems: &problems) { node throws(OptionProblem) in try node.bool() } ?? false
        headers =
            map.read("headers", problems: &problems) { node throws(OptionProblem) in
                do throws(OptionProblem) { return try Self.headers(node, context) } catch {
                    throw error.concealing(node)
                }
            } ?? []
        body = map.read("body", problems: &problems) { node throws(OptionProblem) in try NotifyTemplate(node) }
        authorities = map.read("ca", problems: &problems) { node throws(OptionProblem) in
            context.base.pushing(FilePath(try node.string())).lexicallyNormalized()
        }
        let (isInsecure, headers) = (insecure, headers)
        url = map.read(way.rawValue, problems: &problems) { node throws(OptionProblem) in
            do throws(OptionProblem) {
                return try NotifyURL(node, in: context, insecure: isInsecure, headers: headers).text
            } catch {
                throw error.concealing(node)
            }
        }
    }

    private static func headers(_ node: OptionNode, _ context: OptionContext) throws(OptionProblem) -> [Header] {
        var headers: [Header] = []
        for (name, value) in try node.requestHeaders(in: context) {
            do throws(Failure) { _ = try value.reveal() } catch { throw node.problem(error.fact) }
            headers.append(Header(name: name, value: value))
        }
        return headers
    }

    private static func addresses(_ node: OptionNode) throws(OptionProblem) -> [String] {
        var addresses: [String] = []
        for member in node.members { addresses.append(try address(member)) }
        guard !addresses.isEmpty else { throw node.problem("name whom mail is for") }
        return addresses
    }

    /// One that ends its line or adds another address would write the mail's head.
    private static func address(_ node: OptionNode) throws(OptionProblem) -> String {
        let text = try node.string()
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
        guard isPlain, !text.isEmpty, !text.hasPrefix("-"), !text.contains(where: { ",;:<>()\"\\".contains($0) }) else {
            throw node.problem(
                "'\(EscapedText.of(text))' is not an address; write a plain one, such as ops@example.org, and a list "
                    + "for several")
        }
        return text
    }

    private static func command(_ node: OptionNode) throws(OptionProblem) -> [String] {
        var words: [String] = []
        for member in node.members { words.append(try member.string()) }
        guard let first = words.first, !first.isEmpty else { throw node.problem("name the program first") }
        if case .scalar = node.content, first.contains(" ") {
            let list = first.split(separator: " ").joined(separator: ", ")
            throw node.problem("no shell runs it; write a list, such as [\(EscapedText.of(list))]")
        }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw node.problem("a NUL cannot be given to a program")
        }
        return words
    }
}
