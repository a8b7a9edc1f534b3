/// What the service manager is still to be told, in order.
struct ServiceBacklog {
    enum Message: Sendable, Equatable {
        /// A sign of life, which is worth nothing later.
        case sign(String)
        /// A step on the way from the start to the stop.
        case step(String)
        /// The step that begins a reload; the next one ends it.
        case reloading(String)
        /// The step behind which nothing else is of interest.
        case last(String)
        case status(String)

        var text: String {
            switch self {
            case .sign(let text), .step(let text), .reloading(let text), .last(let text), .status(let text): text
            }
        }
    }

    private(set) var messages: [Message] = []

    /// However long it is not delivered: of statuses the newest is kept, of reloads the last.
    mutating func add(_ message: Message) {
        switch message {
        case .sign, .step: break
        case .reloading:
            let isReloading = { (message: Message) in if case .reloading = message { true } else { false } }
            guard let begin = messages.firstIndex(where: isReloading) else { break }
            let rest = messages[begin...].filter { if case .status = $0 { true } else { false } }
            messages.replaceSubrange(begin..., with: rest)
        case .last: messages = []
        case .status: messages.removeAll { if case .status = $0 { true } else { false } }
        }
        messages.append(message)
    }

    mutating func removeFirst() { messages.removeFirst() }

    mutating func removeSigns() { messages.removeAll { if case .sign = $0 { true } else { false } } }
}
