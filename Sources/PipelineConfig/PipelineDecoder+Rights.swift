import Files
import Glibc
import PipelineKit

extension PipelineDecoder {
    /// `mode`, `owner` and `group`: what outputs get.
    mutating func rights(_ map: OptionMap) -> OutputRights {
        OutputRights(
            mode: map.read("mode", problems: &problems, Self.mode),
            owner: map.read("owner", problems: &problems) { node throws(OptionProblem) in
                try Self.number(node, "user") { name in getpwnam(name).map { $0.pointee.pw_uid } }
            },
            group: map.read("group", problems: &problems, Self.group))
    }

    /// A group of this machine, by its name or number.
    static func group(_ node: OptionNode) throws(OptionProblem) -> gid_t {
        try number(node, "group") { name in getgrnam(name).map { $0.pointee.gr_gid } }
    }

    /// A drop that still belongs to its sender is not changed: the change would look like the sender's.
    mutating func refuseRights(_ map: OptionMap) {
        for key in ["mode", "owner", "group"] {
            guard let entry = map.given(key) else { continue }
            problems.append(
                OptionProblem(
                    "'\(key)' cannot be set while drops belong to senders ('ownership: keep'); leave it out, or "
                        + "set 'ownership: take'", at: entry.position))
        }
    }

    /// Permission bits in octal: `0640`.
    private static func mode(_ node: OptionNode) throws(OptionProblem) -> mode_t {
        let text = try node.string()
        guard (3...4).contains(text.utf8.count), let mode = mode_t(text, radix: 8), mode <= 0o777 else {
            throw node.problem(
                "'\(EscapedText.of(text))' is not a mode; write permission bits in octal, such as '0640'")
        }
        guard mode & 0o600 == 0o600 else {
            throw node.problem("'\(text)' does not let the owner read and write an output; write at least '0600'")
        }
        return mode
    }

    private static func number(
        _ node: OptionNode, _ what: String, _ find: (String) -> UInt32?
    ) throws(OptionProblem) -> UInt32 {
        let text = try node.string()
        // The highest number means "leave it as it is" to chown(2).
        if let number = UInt32(text), number != .max { return number }
        guard let number = find(text) else {
            throw node.problem(
                "the \(what) '\(EscapedText.of(text))' does not exist on this machine; name one that does")
        }
        return number
    }
}
