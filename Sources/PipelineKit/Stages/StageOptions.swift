/// The options of one stage of one pipeline, each read and checked by its declaration.
public struct StageOptions: Sendable {
    private let values: [String: any Sendable]
    private let position: SourcePosition
    /// What the program made for stages to share.
    public let services: StageServices

    /// Reads a map of options. Every problem is reported, not only the first; values are there only if there is none.
    package static func read(
        _ entries: [OptionNode.Entry], of descriptor: StageDescriptor, at position: SourcePosition,
        in context: OptionContext
    ) -> (options: StageOptions?, problems: [OptionProblem]) {
        var values: [String: any Sendable] = [:]
        var problems: [OptionProblem] = []
        // A slip in the name of one that must be given is told once.
        var meant: Set<String> = []
        for entry in entries {
            guard let option = descriptor.options.first(where: { $0.name == entry.key }) else {
                let known = descriptor.options.map(\.name) + StageDescriptor.commonOptions
                let nearest = Suggestion.nearest(to: entry.key, among: known)
                if let nearest { meant.insert(nearest) }
                let hint = nearest.map { "did you mean '\($0)'?" }
                let list = "it has " + known.joined(separator: ", ")
                let fact =
                    nearest == nil && entry.name == nil ? "an option that it does not know" : "no option '\(entry.key)'"
                problems.append(entry.problem("stage '\(descriptor.kind)' has \(fact); \(hint ?? list)"))
                continue
            }
            if entry.value.isNull, !option.isRequired { continue }
            do throws(OptionProblem) {
                values[option.name] = try option.decode(entry.value, context)
            } catch {
                let problem = option.takesSecrets ? error.concealing(entry.value) : error
                problems.append(problem.within(entry.key))
            }
        }
        let given = meant.union(entries.map(\.key))
        for option in descriptor.options where option.isRequired && !given.contains(option.name) {
            problems.append(
                OptionProblem(
                    "stage '\(descriptor.kind)' needs the option '\(option.name)': \(option.summary)", at: position))
        }
        return (
            problems.isEmpty ? StageOptions(values: values, position: position, services: context.services) : nil,
            problems
        )
    }

    /// The option's value: as configured, else its default. Throws where one that must be given is not.
    public func value<Value>(_ option: StageOption<Value>) throws(OptionProblem) -> Value {
        if let value = values[option.name] as? Value { return value }
        if let fallback = option.fallback { return fallback }
        throw OptionProblem("the option '\(option.name)' must be given", at: position)
    }

    /// Whether the key was written.
    public func isGiven<Value>(_ option: StageOption<Value>) -> Bool { values[option.name] != nil }

    /// The options that are paths, by name: for checks of a whole pipeline, which know no kind.
    package var pathTemplates: [(option: String, template: PathTemplate)] {
        values.sorted { $0.key < $1.key }.flatMap { name, value in
            let templates = (value as? [PathTemplate]) ?? (value as? PathTemplate).map { [$0] } ?? []
            return templates.map { (name, $0) }
        }
    }

    /// The same by names of their own: the second of a list is `to.2`.
    package var namedTargets: [String: PathTemplate] {
        var named: [String: PathTemplate] = [:]
        for (option, template) in pathTemplates {
            var name = option
            var number = 2
            while named[name] != nil {
                name = "\(option).\(number)"
                number += 1
            }
            named[name] = template
        }
        return named
    }

    /// A problem of these options together, at the stage's own place.
    public func problem(_ message: String) -> OptionProblem { OptionProblem(message, at: position) }
}
