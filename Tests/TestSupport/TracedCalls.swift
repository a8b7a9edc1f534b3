/// What strace saw of a process that confined itself.
package enum TracedCalls {
    /// The lines of its calls, from the one on that took it into seccomp; nil where no process did.
    package static func confined(in trace: String) -> [Substring]? {
        let lines = trace.split(separator: "\n")
        guard let confined = lines.firstIndex(where: { $0.contains("PR_SET_SECCOMP") }) else { return nil }
        let process = lines[confined].prefix { $0 != " " }
        return lines[(confined + 1)...].filter { $0.prefix { $0 != " " } == process }
            .map { $0.drop { $0 != " " }.drop { $0 == " " } }.filter { $0.first?.isLetter == true }
    }

    /// The call's name.
    package static func name(_ line: Substring) -> String { String(line.prefix { $0 != "(" }) }
}
