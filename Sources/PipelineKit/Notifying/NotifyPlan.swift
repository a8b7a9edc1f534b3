import Files

/// All notifications: `notify` in `dropmill.yaml`.
package struct NotifyPlan: Sendable, Equatable {
    package let rules: [NotifyRule]
    package let pings: [NotifyPing]

    /// Those that are alike in all get identities of their own.
    package init(rules: [NotifyRule] = [], pings: [NotifyPing] = []) {
        var seen: [String: Int] = [:]
        self.rules = rules.map { rule in
            var rule = rule
            let others = seen[rule.identity, default: 0]
            seen[rule.identity] = others + 1
            rule.follow(others)
            return rule
        }
        self.pings = pings
    }

    package var isEmpty: Bool { rules.isEmpty && pings.isEmpty }

    /// Patterns that are none of these pipelines', as a person should see to them.
    package func warnings(among pipelines: [String]) -> [String] {
        rules.flatMap { rule in
            rule.pipelines.filter { glob in !pipelines.contains { glob.matches(Array($0.utf8)) } }.map { glob in
                let pattern = EscapedText.of(glob.pattern)
                let hint = Suggestion.hint(for: glob.pattern, orListing: pipelines)
                return "notify[\(rule.number)].pipelines: no pipeline matches '\(pattern)'\(hint)"
            }
        }
    }
}
