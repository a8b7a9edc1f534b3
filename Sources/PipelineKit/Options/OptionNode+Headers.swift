extension OptionNode {
    /// Header lines of a request, whose values may hold secrets.
    package func requestHeaders(
        in context: OptionContext
    ) throws(OptionProblem) -> [(key: String, value: SecretText)] {
        guard case .map(let entries) = content else { throw problem("expected a map, found \(kindAlone)") }
        var headers: [(key: String, value: SecretText)] = []
        for entry in entries {
            // It is not quoted: who writes the whole line as a name has a secret in it.
            guard !entry.key.isEmpty, entry.key.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
            else { throw OptionProblem("not a header's name; write 'Name: value'", at: entry.position) }
            guard !["content-length", "transfer-encoding", "expect"].contains(entry.key.lowercased()) else {
                throw OptionProblem("'\(entry.key)' is set from the body; remove it", at: entry.position)
            }
            guard !headers.contains(where: { $0.key.lowercased() == entry.key.lowercased() }) else {
                throw OptionProblem("the same header appears twice; keep one", at: entry.position)
            }
            let value = try SecretText(entry.value, in: context)
            guard !value.source.contains(where: \.isNewline) else { throw entry.value.problem("write it in one line") }
            headers.append((entry.key, value))
        }
        return headers
    }
}
