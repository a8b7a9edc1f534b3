/// An answer, or why there is none: one line of JSON. A stream is several of them.
struct ControlReply<Answer: Codable>: Codable {
    var version: Int? = ControlLine.version
    var id: UInt64?
    var answer: Answer?
    /// A sentence. Only this is for sure the same in all versions.
    var problem: String?
    /// Whether the daemon has read nothing, so that all can be sent again; nil where it has.
    var again: Bool?
    /// Whether it is not for who asks; nil where it is.
    var forbidden: Bool?

    init(_ id: UInt64, _ answer: Answer) {
        self.id = id
        self.answer = answer
    }

    init(_ id: UInt64?, _ problem: ControlProblem) {
        self.id = id
        self.problem = problem.message
        forbidden = problem.isForbidden ? true : nil
    }

    /// What those are told who are too many.
    static var crowded: ControlReply {
        var reply = ControlReply(nil, ControlProblem("too many connections at once; try again"))
        reply.again = true
        return reply
    }
}
