package import Files

extension OptionNode {
    /// The text of a scalar. Refuses one that names a secret, which would be visible here.
    package func string() throws(OptionProblem) -> String {
        let text = try text()
        guard !SecretText.isIn(text) else {
            throw OptionProblem("a secret could be seen here", at: position, isOfSecret: true)
        }
        return text
    }

    /// The text of a scalar, secrets included.
    func text() throws(OptionProblem) -> String {
        guard case .scalar(let text, _) = content else { throw problem("expected a string, found \(kind)") }
        return text
    }

    /// A boolean: `true` or `false`.
    package func bool() throws(OptionProblem) -> Bool {
        if case .scalar(let text, quoted: false) = content {
            switch text {
            case "true", "True", "TRUE": return true
            case "false", "False", "FALSE": return false
            case "yes", "on", "Yes", "On":
                throw problem("expected true or false, found '\(text)'; did you mean 'true'?")
            case "no", "off", "No", "Off":
                throw problem("expected true or false, found '\(text)'; did you mean 'false'?")
            default: break
            }
        }
        throw problem("expected true or false, found \(kind)")
    }

    /// A whole number in a range.
    package func integer(in range: ClosedRange<Int>) throws(OptionProblem) -> Int {
        guard case .scalar(let text, quoted: false) = content, let number = Int(text) else {
            throw problem("expected a whole number, found \(kind)")
        }
        guard range.contains(number) else {
            let bound = number < range.lowerBound ? "at least \(range.lowerBound)" : "at most \(range.upperBound)"
            throw problem("expected \(bound), found \(number)")
        }
        return number
    }

    /// A size such as `10MiB`.
    package func size() throws(OptionProblem) -> ByteSize {
        let text = try string()
        guard let size = ByteSize(text) else {
            throw problem("'\(text)' is not a size; write a number and a unit, such as 512KiB, 10MiB or 2GB")
        }
        return size
    }

    /// A duration such as `250ms`.
    package func duration() throws(OptionProblem) -> Duration {
        let text = try string()
        guard let duration = Duration(configured: text) else {
            throw problem("'\(text)' is not a duration; write a number and a unit, such as 250ms, 1s, 15m or 24h")
        }
        return duration
    }

    /// One of some words.
    package func choice<Value: CaseIterable & RawRepresentable<String>>(
        of type: Value.Type
    ) throws(OptionProblem) -> Value {
        let text = try string()
        if let value = Value(rawValue: text) { return value }
        let known = Value.allCases.map(\.rawValue)
        let hint = Suggestion.nearest(to: text, among: known).map { "; did you mean '\($0)'?" }
        throw problem("'\(text)' is not one of \(known.joined(separator: ", "))\(hint ?? "")")
    }

    /// A glob on names.
    package func glob() throws(OptionProblem) -> Glob {
        let text = try string()
        guard let glob = Glob(text) else {
            throw problem("'\(text)' is not a valid pattern; close its braces, and keep it below 1000 alternatives")
        }
        guard !glob.hasOpenClass else {
            throw problem("'\(text)' has a '[' without ']', which stands for itself; close it, or write '[[]'")
        }
        return glob
    }

    /// A template, which may use the facts of earlier stages.
    package func template(
        for use: Template.Use, in context: OptionContext? = nil
    ) throws(OptionProblem) -> Template {
        let text = try string()
        do {
            return try Template(text, use: use, facts: context?.facts ?? [])
        } catch {
            if let (fact, kind) = context?.forgotten.first(where: { text.contains("{\($0.key)}") }) {
                throw problem(
                    "'{\(fact)}' is determined from files that '\(kind)' replaces; determine it after '\(kind)'")
            }
            throw problem(error.message)
        }
    }

    /// The members of a list; a single value counts as a list of one, null as an empty list.
    package var members: [OptionNode] {
        switch content {
        case .list(let members): members
        case .null: []
        default: [self]
        }
    }
}
