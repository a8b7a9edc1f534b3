import PipelineKit

/// Puts the environment's values in place of `${VAR}` and `${VAR:-default}`. A `$` without a brace stays as it is;
/// values are not expanded again.
struct EnvironmentExpansion {
    let environment: [String: String]
    private(set) var problems: [OptionProblem] = []

    init(_ environment: [String: String]) { self.environment = environment }

    /// The tree with every text (keys are none) expanded.
    mutating func expand(_ node: OptionNode) -> OptionNode {
        switch node.content {
        case .null: return node
        case .scalar(let text, let quoted):
            guard text.contains("${") else { return node }
            let expanded = expand(text, at: node.position)
            return OptionNode(
                quoted ? .scalar(expanded, quoted: true) : OptionNode.Content(plain: expanded), at: node.position)
        case .list(let members):
            return OptionNode(.list(members.map { expand($0) }), at: node.position)
        case .map(let entries):
            let expanded = entries.map { OptionNode.Entry(key: $0.key, position: $0.position, value: expand($0.value)) }
            return OptionNode(.map(expanded), at: node.position)
        }
    }

    private mutating func expand(_ text: String, at position: SourcePosition) -> String {
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            guard rest.hasPrefix("${") else {
                result += "$"
                rest = rest.dropFirst()
                continue
            }
            guard let close = Self.end(of: rest) else {
                problems.append(OptionProblem("'${' without '}'; write ${VAR} or ${VAR:-default}", at: position))
                return text
            }
            result += value(of: rest[..<close].dropFirst(2), at: position)
            rest = rest[close...].dropFirst()
        }
        return result + rest
    }

    /// The brace that ends a reference; in the path of a secret's file there may be another one.
    private static func end(of reference: Substring) -> Substring.Index? {
        guard let first = reference.firstIndex(of: "}") else { return nil }
        guard reference.hasPrefix("${file:"), reference[..<first].dropFirst(2).contains("$") else { return first }
        return reference[first...].dropFirst().firstIndex(of: "}")
    }

    private mutating func value(of reference: Substring, at position: SourcePosition) -> String {
        // Secrets are read by the stages that take them; a file's path may come from a variable.
        if reference.hasPrefix("env:") { return "${\(reference)}" }
        if reference.hasPrefix("file:") { return "${file:\(expand(String(reference.dropFirst(5)), at: position))}" }
        let name = String(reference.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        let rest = reference.dropFirst(name.count)
        guard !name.isEmpty, name.first?.isNumber == false, rest.isEmpty || rest.hasPrefix(":-") else {
            // What follows the name may be a value: of ${VAR-default}, or a password with these signs.
            let isUsual = name.first?.isNumber == false && name.allSatisfy { !$0.isLowercase }
            let shown = isUsual ? "\(name)…" : reference.isEmpty ? "" : "…"
            problems.append(
                OptionProblem("'${\(shown)}' is not a variable; write ${VAR} or ${VAR:-default}", at: position))
            return ""
        }
        // As in the shell: with ':-' the default also stands in for an empty value.
        if !rest.isEmpty { return environment[name].flatMap { $0.isEmpty ? nil : $0 } ?? String(rest.dropFirst(2)) }
        if let value = environment[name] { return value }
        problems.append(
            OptionProblem(
                "the environment variable '\(name)' is not set; set it or write ${\(name):-default}", at: position))
        return ""
    }
}
