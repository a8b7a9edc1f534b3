/// An answer, or why there is none: one line of JSON. A stream is several of them.
package struct ControlReply<Answer: Codable>: Codable {
    package var version: Int? = ControlLine.version
    package var id: UInt64?
    package var answer: Answer?
    /// A sentence. Only this is for sure the same in all versions.
    package var problem: String?
    /// Whether the daemon has read nothing, so that all can be sent again; nil where it has.
    package var again: Bool?
    /// Whether it is not for who asks; nil where it is.
    package var forbidden: Bool?

    package init(_ id: UInt64, _ answer: Answer) {
        self.id = id
        self.answer = answer
    }

    package init(_ id: UInt64?, _ problem: ControlProblem) {
        self.id = id
        self.problem = problem.message
        forbidden = problem.isForbidden ? true : nil
    }

    /// What those are told who are too many.
    package static var crowded: ControlReply {
        var reply = ControlReply(nil, ControlProblem("too many connections at once; try again"))
        reply.again = true
        return reply
    }
}
